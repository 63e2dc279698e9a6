// Three nats-servers that are one, for the bench beside it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { goProgram } from '../../scripts/install/go-programs.js';
import { freePorts } from '../../test/fakes/free-ports.ts';

const SERVERS = 3;

export interface NatsServers {
  urls: string[];
  pids: number[];
  stop(): Promise<void>;
}

/** Resolves when their clients can connect. `syncsAlways`: a message is on the disks of most before it is acknowledged. */
export async function startNatsServers(directory: string, syncsAlways: boolean): Promise<NatsServers> {
  const { path, isHere } = goProgram('nats-server');
  if (!isHere) throw new Error('The nats-server is not built: node scripts/install/go-programs.js nats-server');
  const ports = await freePorts(2 * SERVERS);
  const routePorts = ports.slice(SERVERS);
  const routes = routePorts.map((port) => `nats-route://127.0.0.1:${port}`).join(', ');
  const sync = syncsAlways ? ', sync_interval: always' : '';
  const children = routePorts.map((routePort, index) => {
    const file = join(directory, `nats-${index}.conf`);
    const store = JSON.stringify(join(directory, `nats-${index}`));
    const lines = [
      `host: 127.0.0.1, port: ${ports[index]}, server_name: nats-${index}`,
      `jetstream { store_dir: ${store}${sync} }`,
      `cluster { name: bench, listen: "127.0.0.1:${routePort}", routes: [${routes}] }`,
    ];
    writeFileSync(file, lines.join('\n'));
    return spawn(path, ['-c', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  });
  await Promise.all(children.map(ready));
  return {
    urls: ports.slice(0, SERVERS).map((port) => `nats://127.0.0.1:${port}`),
    pids: children.map(({ pid }) => pid as number),
    async stop() {
      const ended = children.map((child) => once(child, 'exit'));
      for (const child of children) child.kill('SIGKILL');
      await Promise.all(ended);
    },
  };
}

function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stderr as NodeJS.ReadableStream }).on('line', (line) => {
      if (line.includes('Server is ready')) resolve();
    });
    child.once('exit', () => reject(new Error('A nats-server ended at its start.')));
  });
}
