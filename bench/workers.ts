// `npm run bench -- workers [sessions] [seconds]`: so many live sessions for each of one, two and four processes of one gateway,
// and what a session costs the machine each time: workers, the process that looks after them, and the NATS between them.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ensureBuilt } from '../bin/build.js';

const sessionsEach = Number(process.argv[2] ?? 100);
const seconds = Number(process.argv[3] ?? 20);
const PROCESSES = [1, 2, 4];
/** Of the clock that /proc counts in. */
const TICK_MS = 10;
const IDLE_MS = 5_000;
const PROGRAM = fileURLToPath(new URL('../dist/src/main.js', import.meta.url));

interface Row {
  processes: number;
  sessions: number;
  finals: string;
  closed_in_order: number;
  final_delay_ms: { p50: number; p99: number };
  /** Thousandths of a core for each session. */
  millicores_per_session: { workers: number; nats: number; parent: number; all: number };
  /** Of all processes together, without any session. */
  idle_millicores: number;
  /** Of all, against one process. */
  against_one: number;
}

interface Running {
  child: ChildProcess;
  url: string;
  key: string;
  directory: string;
}

await ensureBuilt(fileURLToPath(new URL('../', import.meta.url)));
const rows: Row[] = [];
for (const processes of PROCESSES) rows.push(await measure(processes));
console.log(JSON.stringify({ sessions_per_process: sessionsEach, seconds, rows }));

async function measure(processes: number): Promise<Row> {
  const sessions = sessionsEach * processes;
  const gateway = await start(processes);
  try {
    // One short round warms the code, so that what is compared afterwards is sessions and not compilation.
    await load(gateway, Math.min(sessions, 50 * processes), 4, () => {});
    const idleBefore = sum(cpuMs(gateway));
    await delay(IDLE_MS);
    const idle = (1000 * (sum(cpuMs(gateway)) - idleBefore)) / IDLE_MS;
    let before = new Map<string, number>();
    let used = new Map<string, number>();
    const result = await load(gateway, sessions, seconds, (phase) => {
      if (phase === 'open') before = cpuMs(gateway);
      else used = new Map([...cpuMs(gateway)].map(([name, ms]) => [name, ms - (before.get(name) ?? 0)]));
    });
    // Sessions begin one after the other within a turn of 2 s, and are all there for the rest.
    const per = (name: string) => Math.round((100 * (used.get(name) ?? 0)) / seconds / sessions) / 100;
    const cost = { workers: per('workers'), nats: per('nats'), parent: per('parent') };
    const all = Math.round((cost.workers + cost.nats + cost.parent) * 100) / 100;
    const row: Row = {
      processes,
      sessions: result.sessions,
      finals: `${result.finals} of ${result.finalsExpected}`,
      closed_in_order: result.closedInOrder,
      final_delay_ms: result.finalDelayMs,
      millicores_per_session: { ...cost, all },
      idle_millicores: Math.round(idle),
      against_one: Math.round((all / (rows[0]?.millicores_per_session.all ?? all)) * 1000) / 1000,
    };
    console.log(JSON.stringify(row, null, 2));
    return row;
  } finally {
    const gone = once(gateway.child, 'exit');
    gateway.child.kill('SIGTERM');
    await gone;
    rmSync(gateway.directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

async function start(processes: number): Promise<Running> {
  const directory = mkdtempSync(join(tmpdir(), 'voxgate-bench-'));
  const child = spawn(process.execPath, [PROGRAM, 'serve', '--workers', String(processes)], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      ...process.env,
      VOXGATE_PORT: '0',
      VOXGATE_LOOPBACK: 'on',
      VOXGATE_DATA_DIRECTORY: directory,
      VOXGATE_SESSIONS_PER_KEY_MAX: '100000',
      VOXGATE_SESSIONS_PER_ORGANISATION_MAX: '100000',
      VOXGATE_REQUESTS_PER_MINUTE_PER_KEY_MAX: '1000000',
      VOXGATE_LOG_LEVEL: 'silent',
    },
  });
  let said = '';
  for await (const line of createInterface({ input: child.stderr })) {
    said += `${line}\n`;
    const [url] = /http:\/\/\S+:\d+/.exec(said) ?? [];
    if (url === undefined) continue;
    const key = readFileSync(join(directory, 'first-key'), 'utf8').trim();
    child.stderr.resume();
    return { child, url, key, directory };
  }
  throw new Error(`The gateway ended before it listened: ${said}`);
}

interface LoadResult {
  sessions: number;
  finals: number;
  finalsExpected: number;
  closedInOrder: number;
  finalDelayMs: { p50: number; p99: number };
}

function load(
  { url, key }: Running,
  count: number,
  forSeconds: number,
  onPhase: (phase: string) => unknown,
): Promise<LoadResult> {
  const options = JSON.stringify({ url, key, sessions: count, seconds: forSeconds, frameMs: 20 });
  const child = fork(new URL('./live-load.ts', import.meta.url), [options], {
    execArgv: ['--import', 'tsx'],
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  child.on('message', (phase) => onPhase(String(phase)));
  return new Promise((resolve, reject) => {
    let output = '';
    child.stdout?.on('data', (chunk) => {
      output += chunk;
    });
    child.on('exit', (code) =>
      code === 0 ? resolve(JSON.parse(output) as LoadResult) : reject(new Error(`The load ended with ${code}.`)),
    );
  });
}

function sum(times: ReadonlyMap<string, number>): number {
  return [...times.values()].reduce((ms, each) => ms + each, 0);
}

/** Processor time so far, of the gateway's processes by what they are. */
function cpuMs({ child, directory }: Running): Map<string, number> {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => statOf(pid) ?? []);
  const workers = all.filter(({ parent, program }) => parent === child.pid && program !== 'sh');
  const parent = all.filter(({ pid }) => pid === child.pid);
  const natsPid = pidOfNats(directory);
  const timeOf = (of: typeof all) => of.reduce((ms, { cpu }) => ms + cpu, 0);
  return new Map([
    // One process serves by itself.
    ['workers', timeOf(natsPid === undefined ? parent : workers)],
    ['parent', natsPid === undefined ? 0 : timeOf(parent)],
    ['nats', timeOf(all.filter(({ pid }) => pid === natsPid))],
  ]);
}

function pidOfNats(directory: string): number | undefined {
  try {
    return Number(readFileSync(join(directory, 'nats', 'nats-server.pid'), 'utf8'));
  } catch {
    return undefined;
  }
}

/** Undefined when the process has gone meanwhile. The name before the fields may hold anything, also spaces and parentheses. */
function statOf(pid: string): { pid: number; parent: number; program: string; cpu: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const program = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
    const cpu = (Number(fields[11]) + Number(fields[12])) * TICK_MS;
    return { pid: Number(pid), parent: Number(fields[1]), program, cpu };
  } catch {
    return undefined;
  }
}
