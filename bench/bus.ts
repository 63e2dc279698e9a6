// `npm run bench -- bus [--sessions 200] [--seconds 6] [--frame-ms 50] [--rounds 3] [--profile FOLDER] [--json]`: what it costs
// that a session and its connection to the provider are on two nodes. The same sessions, with their legs in the same process and
// in another with NATS between, in turns.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as after } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { freePorts } from '../test/fakes/free-ports.ts';
import type { UpstreamNodeReport } from '../test/fakes/processes/upstream-node.ts';
import type { EdgeOptions, EdgeOrder, EdgeReport } from './bus/edge.ts';
import { percentiles } from './failover/figures.ts';
import { median } from './median.ts';

const { values: options } = parseArgs({
  args: process.argv.slice(2),
  options: {
    sessions: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '6' },
    'frame-ms': { type: 'string', default: '50' },
    rounds: { type: 'string', default: '3' },
    profile: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
const sessions = Number(options.sessions);
const seconds = Number(options.seconds);
const frameMs = Number(options['frame-ms']);
/** Until everything is compiled and every session has its leg. */
const WARM_MS = 4_000;
/** Of the processor times in /proc. */
const TICK_MS = 10;
const PREFIX = 'bench';

interface Round {
  lateMs: number[];
  /** Milliseconds of processor time for a session's second of audio. */
  edge: number;
  upstream: number;
  nats: number;
  /** NATS messages, in both directions, for a session's second of audio. */
  messages: number;
  errors: number;
}

const [port = 0] = await freePorts(1);
const nats = spawn('nats-server', ['-a', '127.0.0.1', '-p', String(port)], {
  stdio: ['ignore', 'ignore', 'pipe'],
  env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/usr/local/sbin` },
});
const rounds: Record<'near' | 'far', Round[]> = { near: [], far: [] };
try {
  await natsIsReady();
  for (let round = 0; round < Number(options.rounds); round++) {
    rounds.near.push(await run(undefined));
    rounds.far.push(await run(`nats://127.0.0.1:${port}`));
  }
} finally {
  nats.kill('SIGKILL');
}
print();

async function run(url: string | undefined): Promise<Round> {
  const children: ChildProcess[] = [];
  const start = (file: string, given: object): ChildProcess => {
    const profile = options.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${options.profile}`];
    const execArgv = ['--import', 'tsx', ...profile];
    const child = fork(new URL(file, import.meta.url), [JSON.stringify(given)], { execArgv });
    children.push(child);
    return child;
  };
  try {
    const upstream =
      url === undefined
        ? undefined
        : start('../test/fakes/processes/upstream-node.ts', { url, prefix: PREFIX, node: 'up0001' });
    if (upstream !== undefined) await once(upstream, 'message');
    const given: EdgeOptions = { ...(url === undefined ? {} : { url }), prefix: PREFIX, sessions, frameMs };
    const edge = start('./bus/edge.ts', given);
    await once(edge, 'message');
    await after(WARM_MS);
    const before = { upstream: await cpuOf(upstream), nats: natsCpuMs() };
    edge.send('begin' satisfies EdgeOrder);
    await after(seconds * 1000);
    const used = { upstream: (await cpuOf(upstream)) - before.upstream, nats: natsCpuMs() - before.nats };
    edge.send('end' satisfies EdgeOrder);
    const [report] = (await once(edge, 'message')) as [EdgeReport];
    const ofSecond = (all: number) => all / report.audioSeconds;
    return {
      lateMs: report.lateMs,
      edge: ofSecond(report.cpuMs),
      upstream: ofSecond(used.upstream),
      nats: ofSecond(used.nats),
      messages: ofSecond(report.natsMessages),
      errors: report.errors,
    };
  } finally {
    await Promise.all(children.map(ended));
  }
}

/** They end with whoever started them, and write their profile. */
async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  if (child.connected) child.disconnect();
  await exited;
}

async function cpuOf(upstream: ChildProcess | undefined): Promise<number> {
  if (upstream === undefined) return 0;
  upstream.send('tell');
  const [report] = (await once(upstream, 'message')) as [Extract<UpstreamNodeReport, { cpuMs: number }>];
  return report.cpuMs;
}

function natsCpuMs(): number {
  const fields = readFileSync(`/proc/${nats.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

async function natsIsReady(): Promise<void> {
  let log = '';
  for await (const piece of nats.stderr) {
    log += piece;
    if (log.includes('Server is ready')) break;
  }
  if (!log.includes('Server is ready')) throw new Error(`nats-server did not start: ${log}`);
}

function figuresOf(all: Round[]) {
  const spread = (of: (round: Round) => number) => {
    const values = all.map(of);
    return { median: rounded(median(values)), min: rounded(Math.min(...values)), max: rounded(Math.max(...values)) };
  };
  return {
    cpu_ms_per_session_second: {
      nodes: spread(({ edge, upstream }) => edge + upstream),
      edge: spread(({ edge }) => edge),
      upstream: spread(({ upstream }) => upstream),
      nats_server: spread((round) => round.nats),
    },
    nats_messages_per_session_second: spread(({ messages }) => messages),
    final_late_ms: percentiles(all.flatMap(({ lateMs }) => lateMs)),
    finals: all.reduce((count, { lateMs }) => count + lateMs.length, 0),
    errors: all.reduce((count, { errors }) => count + errors, 0),
  };
}

function print(): void {
  const [near, far] = [figuresOf(rounds.near), figuresOf(rounds.far)];
  const [one, two] = [near.cpu_ms_per_session_second, far.cpu_ms_per_session_second];
  const ofPairs = rounds.far.map((round, index) => {
    const beside = rounds.near[index] as Round;
    return (round.edge + round.upstream) / beside.edge;
  });
  const ratios = {
    far_vs_near_cpu: rounded(median(ofPairs)),
    far_vs_near_cpu_spread: [rounded(Math.min(...ofPairs)), rounded(Math.max(...ofPairs))],
    far_with_nats_server_vs_near_cpu: rounded((two.nodes.median + two.nats_server.median) / one.nodes.median),
  };
  if (!options.json) {
    const row = (name: string, ...cells: unknown[]) =>
      console.log(name.padEnd(42), ...cells.map((cell) => String(cell).padStart(22)));
    const range = ({ median: middle, min, max }: { median: number; min: number; max: number }) =>
      `${middle} [${min}..${max}]`;
    console.log(`${sessions} sessions at ${frameMs} ms, ${options.rounds} rounds of ${seconds} s each`);
    row('CPU ms for a session’s second', 'near', 'far');
    row('  both nodes', range(one.nodes), range(two.nodes));
    row('  the session’s', range(one.edge), range(two.edge));
    row('  the leg’s', '', range(two.upstream));
    row('  nats-server', '', range(two.nats_server));
    row('NATS messages for it', '', range(far.nats_messages_per_session_second));
    row('final after its last audio, p50 / p99 ms', ...[near, far].map(lateness));
    row('far : near, nodes', '', `${ratios.far_vs_near_cpu} [${ratios.far_vs_near_cpu_spread.join('..')}]`);
    row('far : near, with nats-server', '', ratios.far_with_nats_server_vs_near_cpu);
  }
  console.log(JSON.stringify({ ratios, sessions, seconds, frame_ms: frameMs, rounds: rounds.far.length, near, far }));
}

function lateness({ final_late_ms: { p50, p99 } }: ReturnType<typeof figuresOf>): string {
  return `${p50} / ${p99}`;
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
