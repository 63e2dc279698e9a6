// The gateway as users run it, for benches: the built program in a separate process, on the core of what is measured.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { CORES, endWithBench } from './processes.ts';

const PROGRAM = fileURLToPath(new URL('../bin/voxgate.js', import.meta.url));
/** Limits that a bench would reach, and that are not what it measures. */
const SETTINGS = {
  VOXGATE_PORT: '0',
  VOXGATE_SESSIONS_PER_KEY_MAX: '100000',
  VOXGATE_SESSIONS_PER_ORGANISATION_MAX: '100000',
  VOXGATE_REQUESTS_PER_MINUTE_PER_KEY_MAX: '1000000',
  VOXGATE_LOG_LEVEL: 'silent',
};

export interface GatewayProgram {
  url: string;
  /** Its first key. */
  key: string;
  pid: number;
  directory: string;
  stop(): Promise<void>;
}

/** `BENCH_SETTINGS`, a JSON object, adds settings, and `BENCH_NODE_FLAGS` flags for Node. */
export async function startGatewayProgram(settings: Readonly<Record<string, string>>): Promise<GatewayProgram> {
  const directory = mkdtempSync(join(tmpdir(), 'voxgate-bench-'));
  const pinned = availableParallelism() < 2 ? [] : ['taskset', '-c', CORES.measured];
  const flags = (process.env.BENCH_NODE_FLAGS ?? '').split(' ').filter(Boolean);
  const [command = '', ...args] = [...pinned, process.execPath, ...flags, PROGRAM, 'serve'];
  const child = spawn(command, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      ...foreignVariables(),
      ...SETTINGS,
      VOXGATE_DATA_DIRECTORY: directory,
      ...settings,
      ...(JSON.parse(process.env.BENCH_SETTINGS ?? '{}') as Record<string, string>),
    },
  });
  endWithBench(child);
  const stop = async () => {
    await killed(child);
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    const url = await addressOf(child);
    const key = readFileSync(join(directory, 'first-key'), 'utf8').trim();
    return { url, key, pid: child.pid as number, directory, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Settings and keys of the person who runs the bench are not part of it. */
function foreignVariables(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^VOXGATE_|_API_KEY$/.test(name)));
}

type Program = ChildProcessByStdio<null, null, Readable>;

/** From what it prints. */
function addressOf(child: Program): Promise<string> {
  return new Promise((resolve, reject) => {
    let printed = '';
    child.stderr.on('data', (chunk) => {
      printed += chunk;
      const url = /listens on (http:\/\/\S+:\d+)\s/.exec(printed)?.[1];
      if (url !== undefined) resolve(url);
    });
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`The gateway did not start: ${printed}`)));
  });
}

/** Its sessions are gone with their clients, so there is nothing to wait for. */
async function killed(child: Program): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}
