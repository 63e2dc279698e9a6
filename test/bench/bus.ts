// `npm run bench -- bus [sessions] [seconds] [--json]`: what it costs that a session and its connection to the provider are on
// two nodes. The same sessions, once with their legs in the same process and once in another with NATS between, in turns.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';
import type { UpstreamNodeReport } from '../fakes/processes/upstream-node.ts';
import type { EdgeOptions, EdgeOrder, EdgeReport } from './bus-edge.ts';
import { difference, percentiles } from './failover/figures.ts';

const [sessions = 200, seconds = 10] = process.argv
  .slice(2)
  .filter((text) => !text.startsWith('-'))
  .map(Number);
const ROUNDS = 2;
/** Until everything is compiled and every session has its leg. */
const WARM_MS = 3_000;
/** Of the processor times in /proc. */
const TICKS_PER_SECOND = 100;
const PREFIX = 'bench';

interface Round {
  lateMs: number[];
  /** Of a second: session, leg and NATS. */
  cores: { edge: number; upstream: number; nats: number };
  errors: number;
}

const port = await freePort();
const nats = spawn('nats-server', ['-a', '127.0.0.1', '-p', String(port)], {
  stdio: ['ignore', 'ignore', 'pipe'],
  env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/usr/local/sbin` },
});
const rounds: Record<'local' | 'remote', Round[]> = { local: [], remote: [] };
try {
  await natsIsReady();
  for (let round = 0; round < ROUNDS; round++) {
    rounds.local.push(await run(undefined));
    rounds.remote.push(await run(`nats://127.0.0.1:${port}`));
  }
} finally {
  nats.kill('SIGKILL');
}
print();

async function run(url: string | undefined): Promise<Round> {
  const children: ChildProcess[] = [];
  const start = (file: string, options: object): ChildProcess => {
    const child = fork(new URL(file, import.meta.url), [JSON.stringify(options)], { execArgv: ['--import', 'tsx'] });
    children.push(child);
    return child;
  };
  try {
    const upstream =
      url === undefined
        ? undefined
        : start('../fakes/processes/upstream-node.ts', { url, prefix: PREFIX, node: 'up0001' });
    if (upstream !== undefined) await once(upstream, 'message');
    const options: EdgeOptions = { ...(url === undefined ? {} : { url }), prefix: PREFIX, sessions };
    const edge = start('./bus-edge.ts', options);
    await once(edge, 'message');
    await after(WARM_MS);
    const before = { upstream: await cpuOf(upstream), nats: natsCpuMs() };
    edge.send('begin' satisfies EdgeOrder);
    await after(seconds * 1000);
    const used = { upstream: (await cpuOf(upstream)) - before.upstream, nats: natsCpuMs() - before.nats };
    edge.send('end' satisfies EdgeOrder);
    const [report] = (await once(edge, 'message')) as [EdgeReport];
    const ofSecond = (cpuMs: number) => cpuMs / 1000 / report.seconds;
    return {
      lateMs: report.lateMs,
      cores: { edge: ofSecond(report.cpuMs), upstream: ofSecond(used.upstream), nats: ofSecond(used.nats) },
      errors: report.errors,
    };
  } finally {
    for (const child of children) child.kill('SIGKILL');
  }
}

async function cpuOf(upstream: ChildProcess | undefined): Promise<number> {
  if (upstream === undefined) return 0;
  upstream.send('tell');
  const [report] = (await once(upstream, 'message')) as [Extract<UpstreamNodeReport, { cpuMs: number }>];
  return report.cpuMs;
}

function natsCpuMs(): number {
  const fields = readFileSync(`/proc/${nats.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
}

async function natsIsReady(): Promise<void> {
  let log = '';
  for await (const piece of nats.stderr) {
    log += piece;
    if (log.includes('Server is ready')) break;
  }
  if (!log.includes('Server is ready')) throw new Error(`nats-server did not start: ${log}`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: found } = server.address() as { port: number };
  server.close();
  return found;
}

function figuresOf(all: Round[]) {
  const { p50, p99, max } = percentiles(all.flatMap(({ lateMs }) => lateMs));
  const mean = (of: (round: Round) => number) =>
    Math.round((all.reduce((sum, round) => sum + of(round), 0) / all.length / sessions) * 1_000 * 1_000) / 1_000;
  const cores = {
    session: mean(({ cores: { edge } }) => edge),
    leg: mean(({ cores: { upstream } }) => upstream),
    nats: mean(({ cores: { nats: server } }) => server),
  };
  const sum = Math.round((cores.session + cores.leg + cores.nats) * 1_000) / 1_000;
  return {
    finals: all.reduce((count, { lateMs }) => count + lateMs.length, 0),
    final_late_ms: { p50, p99, max },
    cores_per_1000_sessions: { ...cores, sum },
    errors: all.reduce((count, { errors }) => count + errors, 0),
  };
}

function print(): void {
  const [local, remote] = [figuresOf(rounds.local), figuresOf(rounds.remote)];
  const added = {
    ms: difference(remote.final_late_ms, local.final_late_ms),
    cores_per_1000_sessions:
      Math.round((remote.cores_per_1000_sessions.sum - local.cores_per_1000_sessions.sum) * 1_000) / 1_000,
  };
  if (!process.argv.includes('--json')) {
    const row = (name: string, ...cells: unknown[]) =>
      console.log(name.padEnd(34), ...cells.map((cell) => String(cell).padStart(9)));
    console.log(`${sessions} sessions, ${ROUNDS} rounds of ${seconds} s each`);
    row('', 'local', 'remote', 'added');
    row('final after its last audio, p50 ms', local.final_late_ms.p50, remote.final_late_ms.p50, added.ms.p50);
    row('final after its last audio, p99 ms', local.final_late_ms.p99, remote.final_late_ms.p99, added.ms.p99);
    const [near, far] = [local.cores_per_1000_sessions, remote.cores_per_1000_sessions];
    row('cores per 1,000 sessions', near.sum, far.sum, added.cores_per_1000_sessions);
    row('  of it sessions / legs / NATS', near.session, `${far.session} / ${far.leg} / ${far.nats}`);
  }
  console.log(JSON.stringify({ sessions, seconds, rounds: ROUNDS, local, remote, added }));
}
