// The gateway that the batch bench compares with, of the npm registry: fetched once at this version, which is no part of what the
// project is made of, and run as it comes.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

export const PEER = '@portkey-ai/gateway@1.15.2';

const READY = /Ready for connections/;

/** Starts it on a free port, installing it where it is not there yet. */
export async function startPeer(root: string): Promise<{ url: string; process: ChildProcess }> {
  const home = join(root, '.cache', 'bench-peer');
  const program = join(home, 'node_modules', '@portkey-ai', 'gateway', 'build', 'start-server.js');
  if (!existsSync(program)) {
    mkdirSync(home, { recursive: true });
    const options = ['--no-save', '--ignore-scripts', '--loglevel=error', '--prefix', home];
    execFileSync('npm', ['install', ...options, PEER], { stdio: ['ignore', 'ignore', 'inherit'] });
  }
  const port = await freePort();
  const child = spawn(process.execPath, [program, `--port=${port}`, '--headless'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (text: Buffer) => READY.test(text.toString()) && resolve());
    child.once('exit', (code) => reject(new Error(`The peer ended with ${code}.`)));
  });
  return { url: `http://127.0.0.1:${port}`, process: child };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
