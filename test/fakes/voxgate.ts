// The command line as its users call it: the real program in a process of its own.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../bin/voxgate.js', import.meta.url));

export interface Outcome {
  code: number | null;
  output: string;
  errors: string;
}

/** The environment without what the test's own process was given for the gateway. */
function environment(env: Record<string, string>): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('VOXGATE_'));
  return { ...Object.fromEntries(inherited), ...env };
}

/** Starts a command; the caller waits for what it wants of it. */
export function startVoxgate(
  args: readonly string[],
  env: Record<string, string> = {},
): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [PROGRAM, ...args], { env: environment(env) });
}

/** Runs a command to its end. */
export function voxgate(args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> {
  const child = startVoxgate(args, env);
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
