// The bounds of what the bus on NATS remembers, its backoff, and the form of its messages, each by itself.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Address, BusBody } from '../../../src/cluster/bus/bus.ts';
import { AddressPairs } from '../../../src/cluster/bus/nats/address-pairs.ts';
import { ReconnectBackoff } from '../../../src/cluster/bus/nats/connector.ts';
import { decodeFrame, encodeFrame } from '../../../src/cluster/bus/nats/frames.ts';
import { checkNatsOptions } from '../../../src/cluster/bus/nats/options.ts';
import { InFlightWindow } from '../../../src/cluster/bus/nats/outbound.ts';
import { PendingRequests } from '../../../src/cluster/bus/nats/pending-requests.ts';
import { Subjects } from '../../../src/cluster/bus/nats/subjects.ts';

describe('a message', () => {
  it('comes out as it went in, wherever its bytes lie', () => {
    const body = fc
      .dictionary(
        fc.string().filter((name) => name !== '__proto__'),
        fc.jsonValue(),
      )
      .map((rest) => ({ ...rest, type: 'any.type' }) as BusBody);
    const bytes = fc.option(fc.uint8Array({ minLength: 1, maxLength: 500 }), { nil: undefined });
    fc.assert(
      fc.property(body, bytes, fc.nat(7), (said, sent, offset) => {
        const encoded = encodeFrame('abcdef/me', said, sent) as Uint8Array;
        const within = new Uint8Array(encoded.length + 2 * offset).fill(0xee);
        within.set(encoded, offset);
        const decoded = decodeFrame(within.subarray(offset, offset + encoded.length));
        expect(decoded?.from).toBe('abcdef/me');
        expect(decoded?.body).toEqual(JSON.parse(JSON.stringify(said)));
        expect(decoded?.bytes && [...decoded.bytes]).toEqual(sent && [...sent]);
      }),
      { seed: 1 },
    );
  });

  it('keeps no hold of the sender’s bytes', () => {
    const bytes = new Uint8Array([1, 2, 3]);
    const encoded = encodeFrame('abcdef/me', { type: 'audio' }, bytes) as Uint8Array;
    bytes.fill(9);
    expect([...(decodeFrame(encoded)?.bytes ?? [])]).toEqual([1, 2, 3]);
  });
});

describe('the unconfirmed messages', () => {
  const rig = (bytesMax: number) => {
    const trips: { done: () => void; failed: () => void }[] = [];
    const trip = () =>
      new Promise<void>((done, reject) => {
        trips.push({ done, failed: () => reject(new Error('lost')) });
      });
    return { trips, outbox: new InFlightWindow(trip, bytesMax) };
  };

  it('never exceeds its bound, and is confirmed by round trips in their order', async () => {
    const { outbox, trips } = rig(1_000_000);
    const fill = () => {
      let count = 0;
      for (; outbox.fits(9_872); count++) outbox.sent(9_872);
      return count;
    };
    expect(fill()).toBe(100);
    expect(outbox.bytes).toBe(1_000_000);
    expect(trips).toHaveLength(3);
    trips[0]?.done();
    await Promise.resolve();
    expect(outbox.bytes).toBe(730_000);
    expect(fill()).toBe(27);
  });

  it('starts empty on a new connection, and ignores late confirmations of the old one', async () => {
    const { outbox, trips } = rig(1_000_000);
    while (outbox.fits(9_872)) outbox.sent(9_872);
    outbox.reset();
    expect(outbox.bytes).toBe(0);
    outbox.sent(9_872);
    trips[0]?.done();
    trips[1]?.failed();
    await Promise.resolve();
    expect(outbox.bytes).toBe(10_000);
  });
});

describe('pairs of sender and receiver', () => {
  const peersOf = (max: number) => new AddressPairs(new Subjects('test'), 'abcdef', max);

  it('stay in memory up to a number, the newest', () => {
    const peers = peersOf(3);
    const made = [1, 2, 3, 4].map((n) => peers.of('abcdef/me', `ghijkl/actor${n}`));
    expect(peers.size).toBe(3);
    expect(made.map((peer) => peers.byId(peer?.id ?? 0) !== undefined)).toEqual([false, true, true, true]);
    expect(peers.of('abcdef/me', 'ghijkl/actor4')).toBe(made[3]);
    expect(peers.of('abcdef/me', 'ghijkl/actor1')?.id).toBe(5);
  });

  it('disappear with their sender, all of them', () => {
    const peers = peersOf(1_000);
    for (let n = 0; n < 5_000; n++) {
      const from: Address = `abcdef/ses${n}`;
      for (let leg = 0; leg < 3; leg++) peers.of(from, `ghijkl/leg.${n}.${leg}`);
      if (n % 2 === 0) peers.forget(from);
    }
    expect(peers.size).toBeLessThanOrEqual(1_000);
    for (let n = 0; n < 5_000; n++) peers.forget(`abcdef/ses${n}`);
    expect(peers.size).toBe(0);
  });
});

describe('questions', () => {
  const question = { what: 'It', subject: 'x', noResponders: 'unknown_actor', timeoutMs: 60_000 } as const;

  it('beyond their number are refused, and those that are answered make room', async () => {
    const asks = new PendingRequests(2);
    const ids: string[] = [];
    const send = (id: string) => {
      ids.push(id);
      return undefined;
    };
    const first = asks.add({ ...question, send });
    const second = asks.add({ ...question, send });
    await expect(asks.add({ ...question, send })).rejects.toMatchObject({ reason: 'overflow' });
    expect(asks.answer(ids[0] as string, { type: 'answered' })).toBe(true);
    expect(asks.answer(ids[0] as string, { type: 'again' })).toBe(false);
    expect(await first).toEqual({ type: 'answered' });
    expect(asks.size).toBe(1);
    asks.failAll('disconnected', 'gone');
    await expect(second).rejects.toThrow('It: gone.');
  });

  it('fail at once when forbidden, and others continue', async () => {
    const asks = new PendingRequests();
    const refused = asks.add({ ...question, send: () => undefined });
    const other = asks.add({ ...question, subject: 'y', send: () => undefined });
    asks.forbidden('x');
    await expect(refused).rejects.toMatchObject({ reason: 'unknown_actor' });
    expect(asks.size).toBe(1);
    asks.failAll('disconnected', 'gone');
    await expect(other).rejects.toMatchObject({ reason: 'disconnected' });
  });
});

describe('the backoff of connecting', () => {
  it('starts at once after a loss, then between 0.1 and 2 s, by a monotonic clock', () => {
    let nowMs = 0;
    let drawn = 1;
    const backoff = new ReconnectBackoff(
      () => nowMs,
      () => drawn,
    );
    const waits = Array.from({ length: 8 }, () => {
      expect(backoff.libraryWaitMs()).toBe(Number.NEGATIVE_INFINITY);
      const waitMs = backoff.libraryWaitMs();
      nowMs += waitMs;
      return waitMs;
    });
    expect(waits).toEqual([200, 400, 800, 1_600, 2_000, 2_000, 2_000, 2_000]);
    drawn = 0;
    expect(backoff.libraryWaitMs()).toBe(Number.NEGATIVE_INFINITY);
    expect(backoff.libraryWaitMs()).toBe(100);
    backoff.reset();
    expect(backoff.libraryWaitMs()).toBe(Number.NEGATIVE_INFINITY);
  });

  it('waits for nothing when it is given up', async () => {
    const given = new AbortController();
    const waited = new ReconnectBackoff(undefined, () => 1).wait(given.signal);
    given.abort();
    await waited;
    await new ReconnectBackoff().wait(given.signal);
    expect(given.signal.aborted).toBe(true);
  });
});

describe('options for NATS', () => {
  const user = { user: 'edge', password: 'secret-word' };
  const near = { servers: ['nats://127.0.0.1:4222'] };

  it.each([
    near,
    { servers: ['nats://localhost:4222', 'nats://[::1]:4222', 'nats://127.9.9.9'] },
    { servers: ['tls://nats.example.com:4222'], ...user },
    { servers: ['tls://nats.example.com'], credentialsFile: '/a.creds' },
    { servers: ['tls://10.0.0.1:4222'], certFile: '/a.pem', keyFile: '/a.key' },
  ])('pass: %j', (options) => {
    expect(checkNatsOptions(options)).toBeUndefined();
  });

  it.each<[Parameters<typeof checkNatsOptions>[0], string]>([
    [{ servers: [] }, 'No NATS server'],
    [{ servers: ['127.0.0.1:4222'] }, 'nats://host:port'],
    [{ servers: ['http://127.0.0.1:4222'] }, 'nats://host:port'],
    [{ servers: ['nats://edge:secret-word@127.0.0.1'] }, 'must not hold a user'],
    [{ ...near, user: 'edge' }, 'both or neither'],
    [{ ...near, password: 'secret-word' }, 'both or neither'],
    [{ ...near, certFile: '/a.pem' }, 'both or neither'],
    [{ servers: ['nats://nats.example.com:4222'], ...user }, 'begins with tls://'],
    [{ servers: ['nats://127.0.0.1:4222', 'nats://10.0.0.1:4222'], ...user }, 'begins with tls://'],
    [{ servers: ['nats://127.0.0.1.example.com:4222'], ...user }, 'begins with tls://'],
    [{ servers: ['nats://2130706433:4222'], ...user }, 'begins with tls://'],
    [{ servers: ['tls://nats.example.com:4222'] }, 'needs a user and password'],
  ])('fail: %j', (options, why) => {
    const refusal = checkNatsOptions(options);
    expect(refusal).toContain(why);
    expect(refusal).toMatch(/^[^.].*\.$/);
    expect(refusal).not.toContain('secret-word');
  });
});
