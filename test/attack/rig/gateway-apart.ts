// A gateway in a process of its own, so that an attack slows nobody but it; and a process that floods it.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll } from 'vitest';
import { openSqliteStore } from '../../../src/node/store/sqlite-store.ts';
import type { Store } from '../../../src/node/store/store.ts';
import { startVoxgate } from '../../fakes/processes/voxgate.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';
import { type Customer, createCustomer } from './customers.ts';
import type { FloodOptions, FloodReport } from './flooder.ts';
import type { AttackedOptions } from './rig.ts';

const children: ChildProcess[] = [];
const stores: Store[] = [];
// Registered on import, before the directories are: they are there until then.
afterAll(async () => {
  for (const store of stores.splice(0)) await store.close();
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});

export interface AttackedApart {
  url: string;
  /** Everything logged so far, one line each. */
  log: string[];
  customer(creditMicroUsd: bigint): Promise<Customer>;
}

/** Starts `voxgate serve`; it is killed after the tests of the file. */
export async function startAttackedApart({ prices = {}, env = {} }: AttackedOptions = {}): Promise<AttackedApart> {
  const directory = temporaryDirectory();
  const file = join(directory, 'prices.json');
  writeFileSync(file, JSON.stringify(prices));
  const child = startVoxgate(['serve'], {
    VOXGATE_PORT: '0',
    VOXGATE_HOST: '127.0.0.1',
    VOXGATE_DATA_DIRECTORY: directory,
    VOXGATE_PRICES_FILE: file,
    ...(process.env.VOXGATE_DOOR === undefined ? {} : { VOXGATE_DOOR: process.env.VOXGATE_DOOR }),
    ...env,
  });
  children.push(child);
  const log: string[] = [];
  child.stderr.on('data', (chunk) => log.push(String(chunk)));
  const port = await new Promise<number>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`The gateway did not start: ${log.join('\n')}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      log.push(line);
      if (line.includes('"listening"')) resolve((JSON.parse(line) as { port: number }).port);
    });
  });
  const store = await openSqliteStore({ directory });
  stores.push(store);
  const url = `http://127.0.0.1:${port}`;
  return { url, log, customer: (creditMicroUsd) => createCustomer({ url, store }, creditMicroUsd) };
}

export interface Flood {
  /** Stops, and says what came of it. */
  stop(): Promise<FloodReport>;
}

/** Floods from a process of its own; resolves when it is well under way. */
export async function startFlood(options: FloodOptions): Promise<Flood> {
  const child = fork(new URL('./flooder.ts', import.meta.url), [], {
    execArgv: ['--import', 'tsx'],
  });
  children.push(child);
  child.send(options);
  const report = new Promise<FloodReport>((resolve, reject) => {
    child.on('message', (message: { report?: FloodReport }) => {
      if (message.report !== undefined) resolve(message.report);
    });
    child.once('exit', (code) => reject(new Error(`The flooder ended with ${code}.`)));
  });
  report.catch(() => {});
  await once(child, 'message');
  return {
    stop: () => {
      if (child.connected) child.send('stop', () => {});
      return report;
    },
  };
}
