// The command line as its users call it: its commands in a process beside the tests, or the whole program in one of its own.
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';

export const PROGRAM = fileURLToPath(new URL('../../../bin/voxgate.js', import.meta.url));

const COMMAND_MS_MAX = 20_000;

export interface Outcome {
  code: number | null;
  output: string;
  errors: string;
}

/**
 * What every gateway under test is started with. A machine that runs many tests is late all the time; no test is refused for that
 * unless it says so.
 */
export const UNDER_TEST = { VOXGATE_LAG_MS_MAX: '60000', VOXGATE_LOOPBACK: 'on' };

/** The key that a start without a terminal has left in its directory, where it made the database. */
export function firstKeyIn(directory: string): string | undefined {
  const path = join(directory, 'first-key');
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : undefined;
}

/** The environment without what the test's own process was given for the gateway. */
function environment(env: Record<string, string>): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('VOXGATE_'));
  return { ...Object.fromEntries(inherited), ...UNDER_TEST, ...env };
}

/**
 * Starts a command; the caller waits for what it wants of it.
 *
 * @param program the path of `voxgate.js`
 */
export function startVoxgate(
  args: readonly string[],
  env: Record<string, string> = {},
  program = PROGRAM,
): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [program, ...args], { env: environment(env) });
}

const ONE_AFTER_THE_OTHER = `
  import { runCommand } from '${new URL('../../../dist/src/cli/index.js', import.meta.url).href}';
  process.on('message', async ({ args, env }) => {
    const outcome = { code: null, output: '', errors: '' };
    process.stdout.write = (text) => (outcome.output += text);
    process.stderr.write = (text) => (outcome.errors += text);
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, env);
    outcome.code = await runCommand(args);
    process.send(outcome);
  });
`;

let runner: ChildProcess | undefined;
let last: Promise<unknown> = Promise.resolve();
afterAll(() => runner?.disconnect());

/**
 * Runs a command to its end. The commands of a file run one after the other in one process: its start would be most of their time.
 * What serves, waits for signals or may break the process is for `voxgateProcess`.
 */
export function voxgate(args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> {
  const outcome = last.then(async () => {
    runner ??= spawn(process.execPath, ['--input-type=module', '-e', ONE_AFTER_THE_OTHER], {
      env: environment({}),
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const used = runner;
    used.send({ args, env: environment(env) });
    try {
      const [message] = await once(used, 'message', { signal: AbortSignal.timeout(COMMAND_MS_MAX) });
      return message as Outcome;
    } catch (error) {
      // An answer that still comes is not that of the next command.
      used.kill('SIGKILL');
      runner = undefined;
      throw error;
    }
  });
  last = outcome.catch(() => {});
  return outcome;
}

/** Runs the program to its end. */
export function voxgateProcess(
  args: readonly string[],
  env: Record<string, string> = {},
  program = PROGRAM,
): Promise<Outcome> {
  const child = startVoxgate(args, env, program);
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output, errors }));
  });
}
