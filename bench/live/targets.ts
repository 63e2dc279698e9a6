// What the live bench puts between its clients and its provider, each a process on a core of its own.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Figures, Question } from '../process-under-load.ts';

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

const TARGET_CORE = '0';
const tsx = ['--import', 'tsx'];

export const TARGETS = {
  gateway: (asked: Asked) => startGateway(asked, 'auto'),
  'gateway-node': (asked: Asked) => startGateway(asked, 'node'),
  handwritten: ({ upstreamPort }: Asked) => startRelay(new URL('./handwritten.ts', import.meta.url), upstreamPort),
  floor: ({ upstreamPort }: Asked) => startRelay(new URL('./floor.ts', import.meta.url), upstreamPort),
  nginx: ({ upstreamPort }: Asked) => startNginx(upstreamPort),
} satisfies Readonly<Record<string, (asked: Asked) => Promise<Target>>>;

export type TargetName = keyof typeof TARGETS;

/** A target that tells what it holds. */
export interface GatewayTarget extends Target {
  reset(): void;
  figures(): Promise<Figures>;
}

export async function startGateway({ upstreamPort, query }: Asked, door: string): Promise<GatewayTarget> {
  const child = forked(new URL('../process-under-load.ts', import.meta.url), [], {
    BENCH_PROVIDERS: 'deepgram',
    BENCH_DOOR: door,
    BENCH_SETTINGS: JSON.stringify({
      DEEPGRAM_API_KEY: 'bench',
      VOXGATE_DEEPGRAM_URL: `http://127.0.0.1:${upstreamPort}`,
      ...(JSON.parse(process.env.BENCH_SETTINGS ?? '{}') as object),
    }),
  });
  const { url, key } = await told<{ url: string; key: string }>(child);
  const asked = new URLSearchParams({ model: 'deepgram/nova-3', sample_rate: '16000', encoding: 'linear16', ...query });
  return {
    port: Number(new URL(url).port),
    path: `/v1/listen?${asked}`,
    headers: `Authorization: Bearer ${key}\r\n`,
    pid: child.pid as number,
    reset: () => void child.send({ ask: 'reset' } satisfies Question),
    figures: () => {
      child.send({ ask: 'figures' } satisfies Question);
      return told<Figures>(child);
    },
    stop: () => {
      child.send({ ask: 'stop' } satisfies Question);
      return ended(child);
    },
  };
}

async function startRelay(program: URL, upstreamPort: number): Promise<Target> {
  const child = forked(program, [`ws://127.0.0.1:${upstreamPort}/v1/listen`], {});
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
  const child = spawn('taskset', ['-c', TARGET_CORE, 'nginx', '-e', 'stderr', '-p', home, '-c', 'nginx.conf'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await listening(port);
  const stop = async () => {
    child.kill();
    await ended(child);
    rmSync(home, { recursive: true, force: true });
  };
  return { port, path: '/v1/listen', headers: '', pid: child.pid as number, stop };
}

/** A module on the first core; what is measured of it is far behind what its start cost. */
function forked(module: URL, args: string[], env: Record<string, string>): ChildProcess {
  const flags = (process.env.BENCH_NODE_FLAGS ?? '').split(' ').filter(Boolean);
  return fork(module, args, {
    execPath: '/usr/bin/env',
    execArgv: ['taskset', '-c', TARGET_CORE, process.execPath, ...tsx, '--expose-gc', ...flags],
    env: { ...process.env, ...env },
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
