// What the live bench puts between its clients and its provider, each a process on a core of its own.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { startGatewayProgram } from '../gateway-program.ts';
import { CORES, endWithBench } from '../processes.ts';

/** A started target. */
export interface Target {
  port: number;
  path: string;
  /** Lines of its request's head, each with its end. */
  headers: string;
  pid: number;
  stop(): Promise<void>;
}

export interface Asked {
  upstreamPort: number;
  /** What a client asks for beside the model: query members of the gateway. */
  query: Readonly<Record<string, string>>;
}

export const TARGETS = {
  gateway: (asked: Asked) => startGateway(asked, 'auto'),
  'gateway-node': (asked: Asked) => startGateway(asked, 'node'),
  handwritten: ({ upstreamPort }: Asked) => startRelay(new URL('./handwritten.ts', import.meta.url), upstreamPort),
  floor: ({ upstreamPort }: Asked) => startRelay(new URL('./floor.ts', import.meta.url), upstreamPort),
  nginx: ({ upstreamPort }: Asked) => startNginx(upstreamPort),
} satisfies Readonly<Record<string, (asked: Asked) => Promise<Target>>>;

export type TargetName = keyof typeof TARGETS;

export async function startGateway({ upstreamPort, query }: Asked, adapter: string): Promise<Target> {
  const { url, key, pid, stop } = await startGatewayProgram({
    DEEPGRAM_API_KEY: 'bench',
    VOXGATE_DEEPGRAM_URL: `http://127.0.0.1:${upstreamPort}`,
    VOXGATE_DOOR: adapter,
  });
  const asked = new URLSearchParams({ model: 'deepgram/nova-3', sample_rate: '16000', encoding: 'linear16', ...query });
  const headers = `Authorization: Bearer ${key}\r\n`;
  return { port: Number(new URL(url).port), path: `/v1/listen?${asked}`, headers, pid, stop };
}

async function startRelay(source: URL, upstreamPort: number): Promise<Target> {
  const child = forked(await compiled(source), [`ws://127.0.0.1:${upstreamPort}/v1/listen`]);
  const { port } = await told<{ port: number }>(child);
  const stop = () => {
    child.disconnect();
    return ended(child);
  };
  return { port, path: '/', headers: '', pid: child.pid as number, stop };
}

async function startNginx(upstreamPort: number): Promise<Target> {
  const port = await freePort();
  const home = mkdtempSync(join(tmpdir(), 'voxgate-bench-nginx-'));
  writeFileSync(
    join(home, 'nginx.conf'),
    `daemon off; master_process off; pid ${home}/pid; error_log stderr;
    events { worker_connections 20000; }
    http {
      access_log off;
      map $http_upgrade $connection_upgrade { default upgrade; }
      server {
        listen 127.0.0.1:${port} backlog=4096;
        location / {
          proxy_pass http://127.0.0.1:${upstreamPort};
          proxy_http_version 1.1;
          proxy_set_header Upgrade $http_upgrade;
          proxy_set_header Connection $connection_upgrade;
          proxy_read_timeout 600s;
        }
      }
    }`,
  );
  const child = spawn('taskset', ['-c', CORES.measured, 'nginx', '-e', 'stderr', '-p', home, '-c', 'nginx.conf'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  endWithBench(child);
  await listening(port);
  const stop = async () => {
    child.kill();
    await ended(child);
    rmSync(home, { recursive: true, force: true });
  };
  return { port, path: '/v1/listen', headers: '', pid: child.pid as number, stop };
}

/** As JavaScript: a loader for TypeScript would be part of the memory that is measured. */
async function compiled(source: URL): Promise<string> {
  const file = fileURLToPath(source);
  const outfile = fileURLToPath(new URL(`../../.cache/bench/${basename(file, '.ts')}.js`, import.meta.url));
  await build({ entryPoints: [file], outfile, bundle: true, packages: 'external', platform: 'node', format: 'esm' });
  return outfile;
}

function forked(program: string, args: string[]): ChildProcess {
  return fork(program, args, {
    execPath: '/usr/bin/env',
    execArgv: ['taskset', '-c', CORES.measured, process.execPath],
    serialization: 'advanced',
  });
}

const told = <Message>(child: ChildProcess): Promise<Message> =>
  new Promise((resolve, reject) => {
    child.once('message', (message) => resolve(message as Message));
    child.once('exit', (code) => reject(new Error(`${child.spawnfile} ended with ${code}.`)));
  });

const ended = (child: ChildProcess): Promise<void> =>
  child.exitCode === null && child.signalCode === null
    ? new Promise((resolve) => child.once('exit', () => resolve()))
    : Promise.resolve();

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function listening(port: number): Promise<void> {
  for (;;) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      socket.once('close', () => resolve(false)).once('connect', () => socket.destroy());
    });
    if (isOpen) return;
  }
}
