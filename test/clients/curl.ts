// The real curl as people type it: commands for a shell, with the gateway's address and a key in its environment.
import { execFileSync, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe } from 'vitest';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const COMMAND_MS_MAX = 20_000;
const FIGURES = '\\n%{http_code} %{time_total} %{size_upload} %{content_type}';

export interface Printed {
  /** Of curl itself. */
  exit: number | null;
  status: number;
  body: string;
  /** All of it. */
  output: string;
  /** Seconds from the first byte of the request to the last of the answer. */
  seconds: number;
  /** Bytes of the body that were sent. */
  uploaded: number;
  contentType: string;
  errors: string;
}

/** A suite that needs curl. It fails where everything must be there, and is left out with a word elsewhere. */
export function describeCurl(name: string, body: () => void): void {
  const isThere = hasCurl();
  if (!isThere) console.info(`There is no curl on this machine: "${name}" is not tried.`);
  // Where the build runs everything must be there; on somebody's own machine curl may be missing.
  describe.skipIf(!isThere && process.env.CI !== 'true')(name, body);
}

function hasCurl(): boolean {
  try {
    execFileSync('curl', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Runs a command of a shell with a `curl` in it, as it stands, in a directory: the project's own when absent. */
export function curl(command: string, env: Record<string, string>, cwd = ROOT): Promise<Printed> {
  const figured = `curl() { command curl -sS -w '${FIGURES}' "$@"; }\n${command}`;
  const shell = spawn('bash', ['-c', figured], {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, ...env },
    timeout: COMMAND_MS_MAX,
  });
  let output = '';
  let errors = '';
  shell.stdout.on('data', (chunk) => {
    output += chunk;
  });
  shell.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  return new Promise((resolve, reject) => {
    shell.on('error', reject);
    shell.on('close', (exit) => {
      const at = output.lastIndexOf('\n');
      const [status, seconds, uploaded, ...contentType] = output.slice(at + 1).split(' ');
      const body = output.slice(0, Math.max(at, 0));
      resolve({
        exit,
        status: Number(status),
        body,
        output,
        seconds: Number(seconds),
        uploaded: Number(uploaded),
        contentType: contentType.join(' '),
        errors,
      });
    });
  });
}
