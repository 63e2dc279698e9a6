// Messages that travel together: their form, when they leave, in which order, and their bounds.
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Address, BusBody } from '../../../src/cluster/bus/bus.ts';
import { AddressPairs } from '../../../src/cluster/bus/nats/address-pairs.ts';
import {
  BATCH_BYTES_MAX,
  BATCH_MESSAGES_MAX,
  Batch,
  type Entry,
  OutgoingBatches,
  readEntries,
} from '../../../src/cluster/bus/nats/batches.ts';
import { Subjects } from '../../../src/cluster/bus/nats/subjects.ts';

const ME: Address = 'abcdef/ses_me';
const pairs = new AddressPairs(new Subjects('test'), 'abcdef');
const pairTo = (to: Address) => pairs.of(ME, to) ?? expect.fail(`${to} is no address`);
const count = (n: number) => ({ type: 'count', n }) as BusBody;

function entriesOf(plain: Uint8Array, offset = 0): { entries: Entry[]; unreadable: number } {
  const within = Buffer.alloc(plain.length + 2 * offset, 0xee);
  within.set(plain, offset);
  const entries: Entry[] = [];
  const unreadable = readEntries(within.subarray(offset, offset + plain.length), (entry) => entries.push(entry));
  return { entries, unreadable };
}

describe('a batch', () => {
  const body = fc
    .dictionary(
      fc.string({ unit: 'binary' }).filter((name) => name !== '__proto__'),
      fc.oneof(fc.maxSafeNat(), fc.jsonValue()),
    )
    .map((rest) => ({ ...rest, type: 'any.type' }) as BusBody);
  const bytes = fc.option(fc.uint8Array({ minLength: 1, maxLength: 5_000 }), { nil: undefined });
  const message = fc.record({ to: fc.constantFrom<Address>('ghijkl/leg.1', 'ghijkl/leg.2'), body, bytes });

  it('comes out as it went in, in its order, wherever its bytes lie', () => {
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 12 }), fc.nat(7), (messages, offset) => {
        const batch = new Batch('ghijkl');
        for (const { to, body: said, bytes: sent } of messages) expect(batch.add(pairTo(to), said, sent)).toBe(true);
        const { entries, unreadable } = entriesOf(batch.take().plain, offset);
        expect(unreadable).toBe(0);
        expect(entries.map((entry) => ({ ...entry, bytes: entry.bytes && [...entry.bytes] }))).toEqual(
          messages.map(({ to, body: said, bytes: sent }) => ({
            pair: pairTo(to).id,
            to: to.slice('ghijkl/'.length),
            from: 'ses_me',
            body: JSON.parse(JSON.stringify(said)),
            bytes: sent && [...sent],
          })),
        );
        expect(batch.isEmpty).toBe(true);
      }),
      { seed: 7 },
    );
  });

  it('parses as far as it is valid, and never throws', () => {
    const batch = new Batch('ghijkl');
    for (let n = 0; n < 5; n++) batch.add(pairTo('ghijkl/leg.1'), count(n), new Uint8Array([n]));
    const plain = Buffer.from(batch.take().plain);
    for (let end = 0; end <= plain.length; end++) {
      const { entries, unreadable } = entriesOf(plain.subarray(0, end));
      expect(entries.map(({ body: said }) => said)).toEqual([0, 1, 2, 3, 4].slice(0, entries.length).map(count));
      expect(entries.length === 5 || end === 0 || unreadable === 1 || end % (plain.length / 5) === 0).toBe(true);
    }
    fc.assert(
      fc.property(fc.nat(plain.length - 1), fc.nat(255), (at, value) => {
        const altered = Buffer.from(plain);
        altered[at] = value;
        entriesOf(altered);
      }),
      { seed: 7, numRuns: 500 },
    );
  });

  it('skips entries of an unknown form, and reads the rest', () => {
    const batch = new Batch('ghijkl');
    for (let n = 0; n < 3; n++) batch.add(pairTo('ghijkl/leg.1'), count(n), undefined);
    const plain = Buffer.from(batch.take().plain);
    plain[plain.length / 3 + 4] = 99;
    const { entries, unreadable } = entriesOf(plain);
    expect([entries.map(({ body: said }) => said), unreadable]).toEqual([[count(0), count(2)], 1]);
  });
});

describe('messages to a node that takes batches', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function rig(options: { fits?: (bytes: number) => boolean; posts?: () => boolean } = {}) {
    const posts: { node: string; said: unknown[] }[] = [];
    const dropped: string[] = [];
    const batches = new OutgoingBatches({
      post: (node, _, plain) => {
        if (options.posts?.() === false) return false;
        const { entries } = entriesOf(plain);
        posts.push({ node, said: entries.map(({ body }) => (body as { n?: number }).n) });
        return true;
      },
      fits: options.fits ?? (() => true),
      dropped: ({ pair, type }) => dropped.push(`${pair.to} ${type}`),
    });
    batches.begin('ghijkl');
    const say = (n: number, to: Address = 'ghijkl/leg.1', bytes?: Uint8Array) =>
      batches.add(pairTo(to), count(n), bytes);
    return { batches, posts, dropped, say };
  }

  it('leave together at the end of the turn, those of each node in their order', () => {
    const { batches, posts, say } = rig();
    batches.begin('mnopqr');
    for (const n of [1, 2, 3]) say(n);
    say(4, 'mnopqr/leg.1');
    say(5, 'ghijkl/leg.2');
    expect(posts).toEqual([]);
    vi.advanceTimersByTime(0);
    expect(posts).toEqual([
      { node: 'ghijkl', said: [1, 2, 3, 5] },
      { node: 'mnopqr', said: [4] },
    ]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('wait a moment where a batch has just left, and not where none has', () => {
    const { posts, say } = rig();
    say(1);
    vi.advanceTimersByTime(0);
    say(2);
    vi.advanceTimersByTime(1);
    say(3);
    expect(posts).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(posts.map(({ said }) => said)).toEqual([[1], [2, 3]]);
    vi.advanceTimersByTime(50);
    say(4);
    vi.advanceTimersByTime(0);
    expect(posts).toHaveLength(3);
  });

  it('stay within a batch’s number and bytes; a larger one leaves alone, after the others', () => {
    const { posts, say } = rig();
    for (let n = 0; n <= BATCH_MESSAGES_MAX; n++) say(n);
    expect(posts.map(({ said }) => said.length)).toEqual([BATCH_MESSAGES_MAX]);
    const large = new Uint8Array(BATCH_BYTES_MAX / 2);
    for (const n of [1, 2]) expect(say(n, 'ghijkl/leg.1', large)).toBeUndefined();
    expect(posts.map(({ said }) => said.length)).toEqual([BATCH_MESSAGES_MAX, 2]);
    expect(say(3, 'ghijkl/leg.1', new Uint8Array(BATCH_BYTES_MAX))).toBe('alone');
    expect(posts.at(-1)?.said).toEqual([2]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('fail when too much is in flight, including what waits', () => {
    const { say } = rig({ fits: (bytes) => bytes <= 10_000 });
    const outcomes = Array.from({ length: 12 }, (_, n) => say(n, 'ghijkl/leg.1', new Uint8Array(1_000)));
    expect(outcomes.slice(0, 9).every((outcome) => outcome === undefined)).toBe(true);
    expect(outcomes.slice(-2)).toEqual(['overflow', 'overflow']);
  });

  it('leave alone to every other node', () => {
    const { say } = rig();
    expect(say(1, 'mnopqr/leg.1')).toBe('alone');
  });

  it('get reported when the connection is lost before they leave, or sending fails', () => {
    const { batches, dropped, say, posts } = rig({ posts: () => false });
    say(1);
    say(2, 'ghijkl/leg.2');
    batches.drop();
    vi.runAllTimers();
    say(3);
    vi.runAllTimers();
    expect(dropped).toEqual(['ghijkl/leg.1 count', 'ghijkl/leg.2 count', 'ghijkl/leg.1 count']);
    expect(posts).toEqual([]);
  });

  it('stay in memory for a while, once', () => {
    const { batches, say } = rig();
    for (let n = 1; n <= 600; n++) {
      say(n);
      batches.send();
    }
    expect(batches.sent(600).map(({ type }) => type)).toEqual(['count']);
    expect([batches.sent(600), batches.sent(1)]).toEqual([[], []]);
  });
});
