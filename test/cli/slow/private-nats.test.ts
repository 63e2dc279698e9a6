// The nats-server that workers without one get: a real one, which is killed, frozen, doubled and orphaned.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { connect as connectTcp, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterEach, describe, expect, test } from 'vitest';
import type { Clock } from '../../../machines/clock.ts';
import { PrivateNats, type PrivateNatsOptions } from '../../../src/cli/serve/private-nats.ts';
import { systemClock } from '../../../src/runtime/telemetry/clock.ts';
import { createLogger } from '../../../src/runtime/telemetry/log.ts';
import { natsServerIsHere } from '../../fakes/network/nats-server.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const logger = createLogger('silent');
/** Waits for nothing but the start of the server. */
const hasty: Clock = { ...systemClock, setTimeout: (ring, ms) => systemClock.setTimeout(ring, ms > 10_000 ? ms : 0) };
const open: PrivateNats[] = [];
const connections: NatsConnection[] = [];
afterEach(async () => {
  await Promise.all(connections.splice(0).map((connection) => connection.close()));
  await Promise.all(open.splice(0).map((each) => each.stop()));
});

async function start(directory: string, options: Partial<PrivateNatsOptions> = {}): Promise<PrivateNats> {
  const nats = await PrivateNats.start({ directory, clock: systemClock, logger, onGivenUp: () => {}, ...options });
  open.push(nats);
  return nats;
}

async function client({ url, user, password }: Pick<PrivateNats, 'url' | 'user' | 'password'>) {
  const connection = await connect({
    servers: url,
    user,
    pass: password,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 20,
    reconnectJitter: 0,
  });
  connections.push(connection);
  return connection;
}

/** A connection that ends when the server does. */
async function watch(url: string): Promise<Socket> {
  const socket = connectTcp(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'data');
  socket.resume();
  return socket;
}

/** Of the program, which is not the process that was started. */
const pidOf = (directory: string): number => Number(readFileSync(join(directory, 'nats-server.pid'), 'utf8'));

const parentOf = (pid: number): number =>
  Number(spawnSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' }).stdout);

const source = (path: string): string => new URL(`../../../${path}`, import.meta.url).href;

async function reconnected(connection: NatsConnection): Promise<void> {
  for await (const { type } of connection.status()) if (String(type) === 'reconnect') return;
}

// The program is not on every machine; under CI it must be.
describe.skipIf(!natsServerIsHere)('a private nats-server', () => {
  test('admits its own user by password only, and leaves nothing', async () => {
    const directory = temporaryDirectory();
    const nats = await start(directory);
    expect(statSync(join(directory, 'nats-server.conf')).mode & 0o777).toBe(0o600);
    const connection = await client(nats);
    expect(await (await jetstreamManager(connection)).streams.list().next()).toEqual([]);
    for (const wrong of [{}, { user: nats.user, pass: 'no' }]) {
      await expect(connect({ servers: nats.url, reconnect: false, ...wrong })).rejects.toThrow(/authorization/i);
    }
    const closed = once(await watch(nats.url), 'close');
    await connection.close();
    await nats.stop();
    await closed;
    await expect(connect({ servers: nats.url, reconnect: false })).rejects.toThrow('connection refused');
  });

  test.each([['the server'], ['its shell']])(
    'comes back on its port with its files when %s is killed, and its clients with it',
    async (which) => {
      const directory = temporaryDirectory();
      const nats = await start(directory);
      const connection = await client(nats);
      const manager = await jetstreamManager(connection);
      await manager.streams.add({ name: 'kept', subjects: ['kept'] });
      for (let kill = 0; kill < 3; kill++) {
        await jetstream(connection).publish('kept', 'money');
        const again = reconnected(connection);
        const pid = pidOf(directory);
        process.kill(which === 'the server' ? pid : parentOf(pid), 'SIGKILL');
        await again;
      }
      expect((await manager.streams.info('kept')).state.messages).toBe(3);
    },
  );

  test('gives up when it dies for the sixth time in a minute', async () => {
    const directory = temporaryDirectory();
    let givenUp!: () => void;
    const end = new Promise<void>((resolve) => {
      givenUp = resolve;
    });
    const connection = await client(await start(directory, { clock: hasty, onGivenUp: () => givenUp() }));
    for (let death = 1; death <= 5; death++) {
      const again = reconnected(connection);
      process.kill(pidOf(directory), 'SIGKILL');
      await again;
    }
    process.kill(pidOf(directory), 'SIGKILL');
    await end;
  });

  test('ends also when it is frozen', async () => {
    const directory = temporaryDirectory();
    const nats = await start(directory, { clock: hasty });
    const closed = once(await watch(nats.url), 'close');
    process.kill(pidOf(directory), 'SIGSTOP');
    await nats.stop();
    await closed;
  });

  test('ends when the process that started it is killed, and the next one has its files', async () => {
    const directory = temporaryDirectory();
    const code = `
      import { PrivateNats } from '${source('src/cli/serve/private-nats.ts')}';
      import { systemClock } from '${source('src/runtime/telemetry/clock.ts')}';
      import { createLogger } from '${source('src/runtime/telemetry/log.ts')}';
      const options = { directory: ${JSON.stringify(directory)}, clock: systemClock, logger: createLogger('silent') };
      const { url } = await PrivateNats.start({ ...options, onGivenUp() {} });
      console.log(url);
    `;
    const starter = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(createInterface({ input: starter.stdout }), 'line');
    const closed = once(await watch(String(line)), 'close');
    starter.kill('SIGKILL');
    const [next] = await Promise.all([start(directory), closed]);
    expect((await client(next)).info?.jetstream).toBe(true);
  });

  test('does not start where another one has the files', async () => {
    const directory = temporaryDirectory();
    await start(directory);
    await expect(start(directory)).rejects.toThrow('nats-server did not start: another process uses these files.');
  });
});

test('reports a missing program in one sentence, with the code of a wrong setting', async () => {
  const options = { directory: temporaryDirectory(), clock: systemClock, logger, onGivenUp: () => {} };
  await expect(PrivateNats.start({ ...options, program: 'nats-server-that-is-not' })).rejects.toMatchObject({
    exitCode: 78,
    message: expect.stringMatching(/^more than one worker needs NATS, .*VOXGATE_NATS\.$/),
  });
});
