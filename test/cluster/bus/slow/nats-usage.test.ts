// The usage stream on a real nats-server: what was published is handed over until it is taken, whoever dies in between.
import { jetstreamManager } from '@nats-io/jetstream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BusBody, BusError } from '../../../../src/cluster/bus/bus.ts';
import { type NatsUsageOptions, natsUsage } from '../../../../src/cluster/bus/nats/jetstream/usage-stream.ts';
import type { UsageVerdict } from '../../../../src/cluster/bus/usage-stream.ts';
import { usageBody, usageKeys } from '../../../../src/money/ledger/usage-stream.ts';
import { LINES_MAX } from '../../../../src/money/store/checks.ts';
import { openLink } from '../../../fakes/network/nats-link.ts';
import { type NatsServer, natsServerIsHere, startNatsServer } from '../../../fakes/network/nats-server.ts';
import { endOf, headOf } from '../../../fakes/store/ledger.ts';

interface Usage extends BusBody {
  n: number;
}

let server: NatsServer;
let prefixes = 0;

const usage = (n: number): Usage => ({ type: 'usage', n });

/** Publishers and consumers of one gateway, each on a connection of its own. */
function gateway() {
  const prefix = `usage${++prefixes}`;
  const faults: string[] = [];
  const join = async (options: NatsUsageOptions = {}) => {
    const bus = await openLink(server.url, prefix);
    return { bus, stream: natsUsage(bus, { onFault: (sentence) => faults.push(sentence), againMs: 20, ...options }) };
  };
  return { prefix, faults, join };
}

/** A ledger that counts, and tells when it has as many different messages as were asked for. */
function counting(verdict: (n: number, times: number) => UsageVerdict | Promise<UsageVerdict> = () => 'done') {
  const times = new Map<number, number>();
  const waiting: { count: number; resolve: () => void }[] = [];
  const taken = new Set<number>();
  return {
    times,
    taken,
    handler: async (body: BusBody): Promise<UsageVerdict> => {
      const { n } = body as Usage;
      times.set(n, (times.get(n) ?? 0) + 1);
      const said = await verdict(n, times.get(n) as number);
      if (said === 'done') taken.add(n);
      for (const each of waiting) if (taken.size >= each.count) each.resolve();
      return said;
    },
    has: (count: number) =>
      new Promise<void>((resolve) => {
        if (taken.size >= count) resolve();
        else waiting.push({ count, resolve });
      }),
  };
}

/** Publishes until the stream says that it has it. */
async function insist({ bus, stream }: Awaited<ReturnType<ReturnType<typeof gateway>['join']>>, n: number) {
  for (;;) {
    try {
      return await stream.publish('0', `id ${n}`, usage(n));
    } catch (error) {
      expect(error).toBeInstanceOf(BusError);
      await bus.becomes(true);
    }
  }
}

const reasonOf = (work: Promise<unknown>) => work.then(String, (error: unknown) => (error as BusError).reason);

// Skipped without the program; under CI that fails.
describe.skipIf(!natsServerIsHere)('the usage stream on NATS', () => {
  beforeAll(async () => {
    server = await startNatsServer({ jetStream: true });
  });
  afterAll(() => server.stop());

  test('hands over what waited and what comes, each once, and to the consumer of its shard alone', async () => {
    const { join } = gateway();
    const [edge, owner] = await Promise.all([join(), join()]);
    for (let n = 0; n < 300; n++) await edge.stream.publish('0', `s${n}:end`, usage(n));
    await edge.stream.publish('1', 's0:end', usage(1000));
    expect(await owner.stream.waiting('0')).toBe(300);
    const ledger = counting();
    owner.stream.consume('0', ledger.handler);
    await ledger.has(300);
    await edge.stream.publish('0', 'late', usage(300));
    await ledger.has(301);
    expect(Math.max(...ledger.times.values())).toBe(1);
    expect(ledger.times.has(1000)).toBe(false);
    await owner.bus.link.connection.flush();
    expect(await edge.stream.waiting('0')).toBe(0);
    expect(await edge.stream.waiting('1')).toBe(1);
  });

  test('keeps a message that is published again under its id once', async () => {
    const { join } = gateway();
    const { stream } = await join();
    for (let times = 0; times < 3; times++) await stream.publish('0', 'an id\r\nwith "anything" ✓', usage(1));
    await stream.publish('1', 'an id\r\nwith "anything" ✓', usage(1));
    expect(await stream.waiting('0')).toBe(1);
    expect(await stream.waiting('1')).toBe(1);
  });

  test('hands over again what could not be taken, later each time, and what a handler threw at', async () => {
    const { join } = gateway();
    const { stream } = await join();
    const at: number[] = [];
    const ledger = counting((_, times) => {
      at.push(performance.now());
      if (times === 1) throw new Error('the disk is full');
      return times < 4 ? 'again' : 'done';
    });
    stream.consume('0', ledger.handler);
    await stream.publish('0', 'a', usage(1));
    await ledger.has(1);
    expect(ledger.times.get(1)).toBe(4);
    expect(at[3]! - at[2]!).toBeGreaterThan(70);
  });

  test('sets invalid and unprocessable messages aside, where they can be read', async () => {
    const { join, prefix, faults } = gateway();
    const { bus, stream } = await join();
    const ledger = counting((n) => (n === 1 ? 'never' : 'done'));
    await stream.publish('0', 'a', usage(1));
    for (const text of ['{', '[]', 'null', '{"type":1}']) bus.link.connection.publish(`${prefix}.v1.usage.0`, text);
    await stream.publish('0', 'b', usage(2));
    stream.consume('0', ledger.handler);
    await ledger.has(1);
    const manager = await jetstreamManager(bus.link.connection);
    while ((await stream.waiting('0')) !== 0) await bus.link.connection.flush();
    expect(stream.refused).toBe(5);
    expect(faults).toHaveLength(5);
    expect(faults[0]).toMatch(new RegExp(`kept in ${prefix}-usage-refused`));
    const kept = await manager.streams.getMessage(`${prefix}-usage-refused`, { seq: 1 });
    expect((await manager.streams.info(`${prefix}-usage-refused`)).state.messages).toBe(5);
    expect([kept?.subject, kept?.string()].join()).toContain(`${prefix}.v1.usage-refused.0`);
    expect(ledger.times.get(1)).toBe(1);
  });

  test('hands what was put aside over once more to each consumer that begins, and keeps what that does not take either', async () => {
    const { join } = gateway();
    const [wrong, right] = await Promise.all([join(), join()]);
    for (let n = 0; n < 6; n++) await wrong.stream.publish('0', `${n}`, usage(n));
    let last = () => {};
    const all = new Promise<void>((resolve) => {
      last = resolve;
    });
    let refusals = 0;
    const detach = wrong.stream.consume('0', async () => {
      if (++refusals === 6) last();
      return 'never';
    });
    await all;
    while ((await wrong.stream.putAside('0')) !== 6) await wrong.bus.link.connection.flush();
    detach();

    const putAside: boolean[] = [];
    let wasBusy = false;
    const ledger = counting((n) => {
      if (n === 2) return 'never';
      // One that cannot take it just now.
      if (n === 3 && !wasBusy) {
        wasBusy = true;
        return 'again';
      }
      return 'done';
    });
    right.stream.consume('0', (body, isPutAside) => {
      putAside.push(isPutAside);
      return ledger.handler(body);
    });
    await ledger.has(5);
    expect([new Set(putAside), [...ledger.taken].sort()]).toEqual([new Set([true]), [0, 1, 3, 4, 5]]);
    while ((await right.stream.putAside('0')) !== 1) await right.bus.link.connection.flush();
  });

  test('works on a bounded number of messages at a time', async () => {
    const { join } = gateway();
    const { stream } = await join();
    for (let n = 0; n < 200; n++) await stream.publish('0', `${n}`, usage(n));
    let atOnce = 0;
    let most = 0;
    const ledger = counting(async (): Promise<UsageVerdict> => {
      most = Math.max(most, ++atOnce);
      await new Promise((resolve) => setImmediate(resolve));
      atOnce--;
      return 'done';
    });
    stream.consume('0', ledger.handler);
    await ledger.has(200);
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(64);
  });

  test('hands nothing over after the detach; what was fetched is there for the next consumer at once', async () => {
    const { join } = gateway();
    const [old, next] = await Promise.all([join(), join()]);
    for (let n = 0; n < 400; n++) await old.stream.publish('0', `${n}`, usage(n));
    let detach = () => {};
    const before = counting(() => {
      detach();
      return 'done';
    });
    detach = old.stream.consume('0', before.handler);
    await before.has(1);
    const handed = before.times.size;
    const after = counting();
    const began = performance.now();
    next.stream.consume('0', after.handler);
    await after.has(400 - before.taken.size);
    expect(before.times.size).toBe(handed);
    expect(new Set([...before.taken, ...after.taken]).size).toBe(400);
    expect(performance.now() - began).toBeLessThan(5000);
  });

  test('redelivers messages that a killed consumer applied without confirmation', async () => {
    const { join } = gateway();
    const [edge, doomed, next] = await Promise.all([join(), join({ ackWaitMs: 1000 }), join({ ackWaitMs: 1000 })]);
    const first = counting(() => new Promise<never>(() => {}));
    doomed.stream.consume('0', first.handler);
    for (let n = 0; n < 20; n++) await edge.stream.publish('0', `${n}`, usage(n));
    await doomed.bus.close();
    const second = counting();
    next.stream.consume('0', second.handler);
    await second.has(20);
    expect(first.times.size).toBeGreaterThan(0);
  });

  test('fails at once while NATS is away', async () => {
    const { join } = gateway();
    const { bus, stream } = await join();
    await server.kill();
    await bus.becomes(false);
    expect(await reasonOf(stream.publish('0', 'a', usage(1)))).toBe('disconnected');
    expect(await stream.waiting('0')).toBeUndefined();
    await server.restart();
    await bus.becomes(true);
    await stream.publish('0', 'a', usage(1));
  });

  test('loses and doubles nothing while the server is killed 20 times', { timeout: 120_000 }, async () => {
    const { join } = gateway();
    const [edge, owner] = await Promise.all([join(), join({ ackWaitMs: 1000 })]);
    const ledger = counting();
    owner.stream.consume('0', ledger.handler);
    let n = 0;
    for (let kills = 0; kills < 20; kills++) {
      const some = Array.from({ length: 25 }, () => insist(edge, n++));
      await Promise.race(some);
      await server.restart();
      await Promise.all(some);
    }
    await ledger.has(n);
    expect([...ledger.taken].sort((one, other) => one - other)).toEqual(Array.from({ length: n }, (_, index) => index));
  });

  test('creates removed streams again', async () => {
    const { join, prefix } = gateway();
    const [edge, owner] = await Promise.all([join(), join()]);
    const ledger = counting();
    owner.stream.consume('0', ledger.handler);
    await insist(edge, 0);
    await ledger.has(1);
    const manager = await jetstreamManager(edge.bus.link.connection);
    await manager.streams.delete(`${prefix}-usage`);
    await insist(edge, 1);
    await ledger.has(2);
  });

  test('makes a removed stream again for a node that only publishes', async () => {
    const { join, prefix } = gateway();
    const { bus, stream } = await join();
    await stream.publish('0', 'a', usage(1));
    await (await jetstreamManager(bus.link.connection)).streams.delete(`${prefix}-usage`);
    expect(await reasonOf(stream.publish('0', 'b', usage(2)))).toBe('unknown_actor');
    await stream.publish('0', 'b', usage(2));
    expect(await stream.waiting('0')).toBe(1);
  });

  test('takes no more than it is made for, and throws nothing away for what comes', async () => {
    const { join } = gateway();
    const { stream } = await join({ waitingMax: 3 });
    for (let n = 0; n < 3; n++) await stream.publish('0', `${n}`, usage(n));
    expect(await reasonOf(stream.publish('0', '3', usage(3)))).toBe('overflow');
    expect(await stream.waiting('0')).toBe(3);
    const ledger = counting();
    stream.consume('0', ledger.handler);
    await ledger.has(3);
    expect([...ledger.taken].sort()).toEqual([0, 1, 2]);
  });

  test('takes the longest bill there may be, also where its streams are those of an earlier version', async () => {
    const { join, prefix } = gateway();
    const { bus, stream } = await join();
    await stream.waiting('0');
    const manager = await jetstreamManager(bus.link.connection);
    await manager.streams.update(`${prefix}-usage`, { max_msg_size: 69_632 });
    const later = await join();
    const price = { unit: 'minute', microUsd: 10n ** 12n, minimumMicroUsd: 10n ** 12n } as const;
    const lines = Array.from({ length: LINES_MAX }, (_, rate) => ({
      ...{
        model: 'provider/a-model-with-a-long-name',
        own: false,
        rate,
        audioMs: 10 ** 10,
        connectionMs: 10 ** 10,
        price,
      },
    }));
    const head = headOf({ organisationId: 'org_1', keyId: 'key_1' }, 'ses_1');
    await later.stream.publish('0', 'a', usageBody(usageKeys({ secret: Buffer.alloc(32) }), head, endOf(lines)));
    expect(await later.stream.waiting('0')).toBe(1);
  });

  test('refuses what is too long, and more at a time than it can carry', async () => {
    const { join } = gateway();
    const { stream } = await join();
    expect(await reasonOf(stream.publish('0', 'a', { type: 'x'.repeat(270_000) }))).toBe('overflow');
    const many = Array.from({ length: 1100 }, (_, n) => reasonOf(stream.publish('0', `${n}`, usage(n))));
    const reasons = await Promise.all(many);
    expect(reasons.filter((reason) => reason === 'overflow')).toHaveLength(76);
    expect(await stream.waiting('0')).toBe(1024);
  });
});
