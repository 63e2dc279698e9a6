// Leases on a real nats-server: one process has a name at a time, whoever stops renewing loses it, and revisions only grow.
import { jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BusError } from '../../../../src/cluster/bus/bus.ts';
import type { Lease, LeaseTaken } from '../../../../src/cluster/bus/leases.ts';
import { jetStreamOf, type LinkedBus } from '../../../../src/cluster/bus/nats/jetstream/common.ts';
import { type NatsLeases, natsLeases } from '../../../../src/cluster/bus/nats/jetstream/leases.ts';
import { KeyRing, sealEntry } from '../../../../src/cluster/bus/sealing/key-ring.ts';
import { thisProcess } from '../../../../src/runtime/process-identity.ts';
import { openLink } from '../../../fakes/network/nats-link.ts';
import { type NatsServer, natsServerIsHere, startNatsServer } from '../../../fakes/network/nats-server.ts';
import { SECRETS } from '../../../fakes/secrets.ts';

const LEASE_MS = 1500;

let server: NatsServer;
let prefixes = 0;

const isLease = (answer: Lease | LeaseTaken): answer is Lease => 'release' in answer;

/** As a node of the gateway writes it. */
const sealed = (name: string, entry: unknown) =>
  sealEntry(new KeyRing(SECRETS, 'leases'), name, Buffer.from(JSON.stringify(entry)));

/** Takes the name. Fails when somebody has it. */
async function take(leases: NatsLeases, name: string, value = {}, onLost = () => {}): Promise<Lease> {
  const answer = await leases.acquire(name, value, onLost);
  if (!isLease(answer)) throw new Error(`${name} is taken by ${JSON.stringify(answer.heldBy)}`);
  return answer;
}

/** Takes the name as soon as it is free. Resolves with the lease and how long that took. */
async function takeWhenFree(leases: NatsLeases, name: string): Promise<{ lease: Lease; afterMs: number }> {
  const began = performance.now();
  for (;;) {
    const answer = await leases.acquire(name, {}, () => {});
    if (isLease(answer)) return { lease: answer, afterMs: performance.now() - began };
  }
}

/** Two processes of one gateway. */
async function pair() {
  const prefix = `leases${++prefixes}`;
  const [one, other] = await Promise.all([openLink(server.url, prefix), openLink(server.url, prefix)]);
  const of = (bus: LinkedBus) => natsLeases(bus, { leaseMs: LEASE_MS });
  return { one, other, mine: of(one), theirs: of(other), of };
}

// Skipped without the program; under CI that fails.
describe.skipIf(!natsServerIsHere)('leases on NATS', () => {
  beforeAll(async () => {
    server = await startNatsServer({ jetStream: true });
  });
  afterAll(() => server.stop());

  test('give a name to one of several, and report its owner to the others', async () => {
    const { mine, theirs } = await pair();
    const answers = await Promise.all([
      mine.acquire('a', { by: 1 }, () => {}),
      theirs.acquire('a', { by: 2 }, () => {}),
    ]);
    const winner = answers.findIndex(isLease);
    expect(answers.filter(isLease)).toHaveLength(1);
    expect(answers[1 - winner]).toEqual({ heldBy: { by: winner + 1 } });
    expect((answers[winner] as Lease).isValid).toBe(true);
  });

  describe('a lease of a killed process', () => {
    const name = 'killed';
    const gone = { ...thisProcess(), startTicks: '1' };
    async function entryOf(process: unknown) {
      const { one, mine, theirs } = await pair();
      const old = await take(theirs, name);
      // Its bucket is there now. What it has written is what this one is in the place of.
      const stream = await jetStreamOf(one);
      const kv = await new Kvm(stream.client).open(`${one.link.prefix}-leases`);
      await kv.put(name, sealed(name, { claim: 'killed', process, value: { by: 'ghost' } }));
      return { mine, old };
    }

    test('pass at once to another process on this machine, with a higher revision', async () => {
      const { mine, old } = await entryOf(gone);
      const lease = await take(mine, name);
      expect(lease.isValid).toBe(true);
      expect(lease.revision).toBeGreaterThan(old.revision);
    });

    test.each([
      ['lives', thisProcess()],
      ['may be on another machine that is called alike', { ...gone, space: 'another start of another machine' }],
      ['is of a version that did not say', { pid: gone.pid, startTicks: '1', host: gone.host }],
      ['says that it is everybody', { ...gone, pid: -1 }],
      ['says nothing', undefined],
    ])('wait when it %s', async (_, process) => {
      const { mine } = await entryOf(process);
      expect(await mine.acquire(name, {}, () => {})).toEqual({ heldBy: { by: 'ghost' } });
    });
  });

  test('keeps a name through many times its life, under one revision, and with what was last written there', async () => {
    const { one, mine, theirs } = await pair();
    let lost = 0;
    const lease = await take(mine, 'node.a', { load: 0 }, () => lost++);
    lease.update({ load: 7 });
    await renewals(one, 7);
    const later = await take(theirs, 'other');
    expect(lease.isValid).toBe(true);
    expect(lost).toBe(0);
    expect(await theirs.list('node.')).toEqual([{ name: 'node.a', value: { load: 7 }, revision: lease.revision }]);
    expect(later.revision).toBeGreaterThan(lease.revision);
  });

  test('free a released name at once, for a higher revision', async () => {
    const { mine, theirs } = await pair();
    let lost = 0;
    const first = await take(mine, 'a', {}, () => lost++);
    await first.release();
    expect(first.isValid).toBe(false);
    const second = await take(theirs, 'a');
    expect(second.revision).toBeGreaterThan(first.revision);
    await first.release();
    expect(await mine.list('a')).toHaveLength(1);
    expect(lost).toBe(0);
  });

  test('take a dead process’s names within their lifetime, and not before', async () => {
    const { one, mine, theirs } = await pair();
    await take(mine, 'a');
    await one.close();
    const { afterMs } = await takeWhenFree(theirs, 'a');
    expect(afterMs).toBeGreaterThan(LEASE_MS / 2);
    expect(afterMs).toBeLessThan(LEASE_MS * 2);
  });

  test('notify an owner that cannot renew before another gets the name', async () => {
    const { one, other, theirs, of } = await pair();
    // Its renewals get no answer, as if the network had lost them all.
    let isDeaf = false;
    const half = of(deafWhen(one, () => isDeaf));
    const told: string[] = [];
    const lease = await take(half, 'a', {}, () => told.push('lost'));
    isDeaf = true;
    const { lease: next } = await takeWhenFree(theirs, 'a');
    told.push('taken');
    expect(told).toEqual(['lost', 'taken']);
    expect(lease.isValid).toBe(false);
    expect(next.revision).toBeGreaterThan(lease.revision);
    await lease.release();
    expect(next.isValid && other.isConnected).toBe(true);
  });

  test('lose a removed name with the next renewal', async () => {
    const { one, mine } = await pair();
    const lost = occasion();
    await take(mine, 'a', {}, lost.happens);
    const kv = await new Kvm(one.link.connection).open(`${one.link.prefix}-leases`);
    await kv.delete('a');
    await lost.happened;
    expect((await take(mine, 'a')).isValid).toBe(true);
  });

  test('fail at once while NATS is away, and work again afterwards with higher revisions', async () => {
    const { one, other, mine, theirs } = await pair();
    const lost = occasion();
    const first = await take(mine, 'a', {}, lost.happens);
    await server.kill();
    await Promise.all([one.becomes(false), other.becomes(false)]);
    const refusal = await theirs.acquire('b', {}, () => {}).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(BusError);
    expect((refusal as BusError).reason).toBe('disconnected');
    await lost.happened;
    expect(first.isValid).toBe(false);
    await server.restart();
    await Promise.all([one.becomes(true), other.becomes(true)]);
    const { lease } = await takeWhenFree(theirs, 'a');
    expect(lease.revision).toBeGreaterThan(first.revision);
  });

  test('survive a short outage', async () => {
    const { one, mine } = await pair();
    let lost = 0;
    const lease = await take(mine, 'a', {}, () => lost++);
    for (let outages = 0; outages < 5; outages++) {
      await server.restart();
      await one.becomes(true);
      await mine.list('');
    }
    await renewals(one, 4);
    expect([lost, lease.isValid]).toEqual([0, true]);
  });

  test('give higher revisions also in a new bucket with sequences from 1', async () => {
    const { one, mine, theirs } = await pair();
    const lost = occasion();
    const before = await take(mine, 'a', {}, lost.happens);
    const manager = await jetstreamManager(one.link.connection);
    await manager.streams.delete(`KV_${one.link.prefix}-leases`);
    await lost.happened;
    const { lease } = await takeWhenFree(theirs, 'a').catch(() => takeWhenFree(theirs, 'a'));
    expect(lease.revision).toBeGreaterThan(before.revision);
  });

  test('treat foreign entries as names that are taken, and read no further', async () => {
    const { one, mine } = await pair();
    await mine.list('');
    const kv = await new Kvm(one.link.connection).open(`${one.link.prefix}-leases`);
    const entry = { claim: 'x', value: { by: 'stranger' } };
    const forged = ['', '{', JSON.stringify(entry), sealed('another name', entry)];
    const unread = ['null', '[]', '{"claim":1}', '{"claim":"x","value":[]}'];
    const texts = [...forged, ...unread.map((text, index) => sealed(`h.${forged.length + index}`, JSON.parse(text)))];
    for (const [index, text] of texts.entries()) {
      await kv.put(`h.${index}`, text);
      expect(await mine.acquire(`h.${index}`, {}, () => {})).toEqual({ heldBy: {} });
    }
    expect(await mine.list('h.')).toEqual([]);
  });

  test('keep a name against foreign entries, and against old ones written again', async () => {
    const { one, mine, theirs } = await pair();
    let lost = 0;
    await mine.list('');
    const kv = await new Kvm(one.link.connection).open(`${one.link.prefix}-leases`);
    const bytes = async () => (await kv.get('a'))?.value as Uint8Array;
    const former = await take(theirs, 'a', { by: 'former' });
    const taking = await bytes();
    await renewals(one, 2);
    const renewal = await bytes();
    await former.release();
    const lease = await take(mine, 'a', { by: 'owner' }, () => lost++);
    const own = await bytes();
    for (const forged of [Buffer.from('{}'), taking, renewal, own]) {
      await kv.put('a', forged);
      await renewals(one, 2);
      expect(await theirs.list('a')).toEqual([{ name: 'a', value: { by: 'owner' }, revision: lease.revision }]);
    }
    expect([lost, lease.isValid]).toEqual([0, true]);
  });

  test.each(['', 'a b', 'a.>', '*', 'a..b', 'x'.repeat(65)])('refuse %j as a name', async (name) => {
    const { mine } = await pair();
    await expect(mine.acquire(name, {}, () => {})).rejects.toThrow('is no name');
  });

  test('close gives every name back', async () => {
    const { mine, theirs } = await pair();
    const [a, b] = await Promise.all([take(mine, 'a'), take(mine, 'b')]);
    await mine.close();
    expect([a.isValid, b.isValid]).toEqual([false, false]);
    expect(await theirs.list('')).toEqual([]);
    expect(isLease(await theirs.acquire('a', {}, () => {}))).toBe(true);
  });
});

/** Resolves when that many renewals were written: three are the life of a lease. */
function renewals({ link }: LinkedBus, count: number): Promise<void> {
  let seen = 0;
  return new Promise((resolve) => {
    const subscription = link.connection.subscribe(`$KV.${link.prefix}-leases.>`, {
      callback: () => {
        if (++seen < count) return;
        subscription.unsubscribe();
        resolve();
      },
    });
  });
}

/** Something that happens later. */
function occasion(): { happened: Promise<void>; happens: () => void } {
  let happens = () => {};
  const happened = new Promise<void>((resolve) => {
    happens = resolve;
  });
  return { happened, happens };
}

/** The same connection, whose writes go nowhere while that is so. */
function deafWhen(bus: LinkedBus, isDeaf: () => boolean): LinkedBus {
  const { connection } = bus.link;
  const request: typeof connection.request = (subject, ...rest) =>
    subject.startsWith('$KV.') && isDeaf() ? new Promise(() => {}) : connection.request(subject, ...rest);
  const deaf = new Proxy(connection, {
    get: (target, name) => {
      if (name === 'request') return request;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  return {
    node: bus.node,
    link: { connection: deaf, prefix: bus.link.prefix, secrets: bus.link.secrets },
    get isConnected() {
      return bus.isConnected;
    },
    onConnection: bus.onConnection,
  };
}
