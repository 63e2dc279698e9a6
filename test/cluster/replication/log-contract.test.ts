// The contract of the replicated log, over each of its implementations.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { natsReplicatedLog } from '../../../src/cluster/bus/nats/jetstream/replicated-log.ts';
import { hashOfEntry, LogConflict, type ReplicatedLog } from '../../../src/cluster/bus/replicated-log.ts';
import { bytesOfEntry } from '../../../src/cluster/replication/entry.ts';
import { openLink } from '../../fakes/network/nats-link.ts';
import { type NatsServer, natsServerIsHere, startNatsServer } from '../../fakes/network/nats-server.ts';
import { seeded } from '../../fakes/random.ts';
import { LogClient, LogServer } from './faulty-log.ts';
import { entryOf } from './model-store.ts';

const realClock = {
  now: () => performance.now(),
  setTimeout: (callback: () => void, delayMs: number) => setTimeout(callback, delayMs),
  clearTimeout: (handle: unknown) => clearTimeout(handle as NodeJS.Timeout),
};
const NO_FAULTS = { lostRequests: 0, lostAnswers: 0, delayMsMax: 1 };

const bytes = (number: number, text = '') => bytesOfEntry({ ...entryOf(number), node: `node${text}` });

/** Makes logs that share one log. */
type Make = (prefix: string) => Promise<() => Promise<ReplicatedLog>>;

function contract(name: string, make: Make): void {
  describe(`the log ${name}`, () => {
    test('accepts what follows its end, and nothing else', async () => {
      const open = await make('ends');
      const [one, two] = [await open(), await open()];
      expect((await one.end()).last).toBeUndefined();
      const first = bytes(1);
      expect(await one.append(first, hashOfEntry(first), { sequence: 0, id: undefined })).toBe(1);
      const rival = bytes(1, ' of a rival');
      await expect(two.append(rival, hashOfEntry(rival), { sequence: 0, id: undefined })).rejects.toThrow(LogConflict);
      const second = bytes(2);
      const follows = { sequence: 1, id: hashOfEntry(first) };
      expect(await two.append(second, hashOfEntry(second), follows)).toBe(2);
      const late = bytes(2, ' that is late');
      await expect(one.append(late, hashOfEntry(late), follows)).rejects.toThrow(LogConflict);
      await expect(one.append(late, hashOfEntry(late), { sequence: 2, id: hashOfEntry(first) })).rejects.toThrow(
        LogConflict,
      );
      expect((await one.end()).sequence).toBe(2);
      expect(Buffer.from((await one.end()).last?.bytes ?? [])).toEqual(second);
      expect(Buffer.from((await two.at(1))?.bytes ?? [])).toEqual(first);
      expect(await two.at(3)).toBeUndefined();
    });

    test('stores the same message once when it is sent again after a lost answer', async () => {
      const log = await (await make('again'))();
      const first = bytes(1);
      const append = () => log.append(first, hashOfEntry(first), { sequence: 0, id: undefined });
      expect(await append()).toBe(1);
      expect(await append()).toBe(1);
      expect((await log.end()).sequence).toBe(1);
    });

    test('delivers everything from a sequence on, in its order, until it is detached', async () => {
      const open = await make('reads');
      const [writer, reader] = [await open(), await open()];
      const seen: number[] = [];
      let follows = { sequence: 0, id: undefined as string | undefined };
      const write = async (number: number) => {
        const next = bytes(number);
        follows = { sequence: await writer.append(next, hashOfEntry(next), follows), id: hashOfEntry(next) };
      };
      for (const number of [1, 2, 3]) await write(number);
      await new Promise<void>((resolve, reject) => {
        const detach = reader.read(2, {
          async message({ sequence }) {
            seen.push(sequence);
            if (sequence === 3) await write(4);
            if (sequence < 4) return;
            detach();
            resolve();
          },
          removed: () => reject(new Error('nothing was removed')),
        });
      });
      expect(seen).toEqual([2, 3, 4]);
    });
  });
}

contract('in memory', async () => {
  const server = new LogServer();
  return async () => new LogClient(server, realClock, seeded(1), NO_FAULTS);
});

// Skipped without the program; under CI that fails.
describe.skipIf(!natsServerIsHere)('on NATS', () => {
  let server: NatsServer;
  beforeAll(async () => {
    server = await startNatsServer({ jetStream: true });
  });
  afterAll(() => server.stop());

  contract('on NATS', async (prefix) => {
    const open = async () => natsReplicatedLog(await openLink(server.url, prefix), { shard: '0', replicas: 1 });
    return open;
  });

  test('continues after the server was started again', async () => {
    const link = await openLink(server.url, 'restarted');
    const log = natsReplicatedLog(link, { shard: '0', replicas: 1 });
    const [first, second] = [bytes(1), bytes(2)];
    await log.append(first, hashOfEntry(first), { sequence: 0, id: undefined });
    await server.restart();
    await link.becomes(true);
    expect(await log.append(second, hashOfEntry(second), { sequence: 1, id: hashOfEntry(first) })).toBe(2);
  });

  test('reports what was removed before the sequence that a reader needs', async () => {
    const link = await openLink(server.url, 'removed');
    const log = natsReplicatedLog(link, { shard: '0', replicas: 1, bytesMax: 4_096 });
    let follows = { sequence: 0, id: undefined as string | undefined };
    for (let number = 1; number <= 30; number++) {
      const next = bytes(number);
      follows = { sequence: await log.append(next, hashOfEntry(next), follows), id: hashOfEntry(next) };
    }
    const first = await new Promise<number>((resolve, reject) => {
      log.read(1, { message: async () => reject(new Error('it begins too late')), removed: resolve });
    });
    expect(first).toBeGreaterThan(1);
  });

  test('has no bytes for a message that no node of the gateway wrote', async () => {
    const link = await openLink(server.url, 'foreign');
    const log = natsReplicatedLog(link, { shard: '0', replicas: 1 });
    await log.end();
    await link.link.connection.request('foreign.v1.accounts.0', new Uint8Array([1, 2, 3]));
    const { sequence, last } = await log.end();
    expect({ sequence, bytes: last?.bytes.byteLength }).toEqual({ sequence: 1, bytes: 0 });
  });
});
