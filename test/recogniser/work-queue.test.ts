// Whose piece of work a thread of the recogniser is given next.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import { OrganisationShares, WorkQueue } from '../../src/recogniser/workers/work-queue.ts';

/** Pieces are named after their stream and number: `a1.0` is the first of organisation a's stream 1. */
function rig(cpuMsPerMinuteMax?: number) {
  const clock = new SimulatedClock();
  const shares = new OrganisationShares({ clock, ...(cpuMsPerMinuteMax === undefined ? {} : { cpuMsPerMinuteMax }) });
  const queue = new WorkQueue<string>(shares);
  const ids = new Map<string, number>();
  const slowed: string[] = [];
  return {
    clock,
    shares,
    slowed,
    queue,
    /** Opens a stream; its first letter is its organisation. */
    open(stream: string) {
      ids.set(stream, ids.size);
      queue.open(ids.get(stream)!, shares.of(stream[0]), () => slowed.push(stream));
    },
    /** So many pieces of half a second at once. */
    send(stream: string, count: number, from = 0) {
      for (let piece = from; piece < from + count; piece++) {
        queue.put(ids.get(stream)!, `${stream}.${piece}`, 16_000, { seconds: 0.5, nowMs: clock.now() });
      }
    },
    hold: (stream: string, isHeld: boolean) => queue.hold(ids.get(stream)!, isHeld, clock.now()),
    drop: (stream: string) => queue.drop(ids.get(stream)!),
    take: (count: number) => Array.from({ length: count }, () => queue.next(clock.now())?.piece.request),
  };
}

const streamsOf = (taken: readonly (string | undefined)[]) => taken.map((name) => name?.split('.')[0]);

describe('the next piece', () => {
  test('rotates over organisations, and over the streams of each', () => {
    const { open, send, take } = rig();
    for (const stream of ['a1', 'a2', 'a3', 'b1']) {
      open(stream);
      send(stream, 3);
    }
    expect(streamsOf(take(6))).toEqual(['a1', 'b1', 'a2', 'b1', 'a3', 'b1']);
  });

  test('prefers live streams to those ahead of real time', () => {
    const { clock, open, send, take } = rig();
    open('a1');
    send('a1', 40);
    // What is not far ahead goes like anything else.
    expect(take(6)).toEqual(['a1.0', 'a1.1', 'a1.2', 'a1.3', 'a1.4', 'a1.5']);
    open('b1');
    send('b1', 5);
    expect(streamsOf(take(6))).toEqual(['b1', 'b1', 'b1', 'b1', 'b1', 'a1']);
    // It becomes due as time goes by.
    clock.increment(5_000);
    send('b1', 5, 5);
    expect(streamsOf(take(4))).toEqual(['b1', 'a1', 'b1', 'a1']);
  });

  test('serves streams ahead of real time once in eight, under any live load', () => {
    const { open, send, take } = rig();
    open('a1');
    send('a1', 400);
    take(5);
    const speakers = Array.from({ length: 20 }, (_, index) => `b${index}`);
    for (const speaker of speakers) {
      open(speaker);
      send(speaker, 4);
    }
    expect(take(32).filter((name) => name?.startsWith('a'))).toHaveLength(4);
  });

  test('gives one piece of a held stream in two seconds, and the rest once it is released', () => {
    const { clock, open, send, hold, take, queue } = rig();
    open('a1');
    send('a1', 10);
    hold('a1', true);
    open('b1');
    send('b1', 2);
    expect(take(3)).toEqual(['b1.0', 'b1.1', undefined]);
    expect(queue.heldMs).toBe(2_000);
    clock.increment(2_000);
    expect(take(2)).toEqual(['a1.0', undefined]);
    clock.increment(1_999);
    expect(take(1)).toEqual([undefined]);
    clock.increment(1);
    expect(take(2)).toEqual(['a1.1', undefined]);
    hold('a1', false);
    expect(take(8).filter((name) => name !== undefined)).toHaveLength(8);
  });

  test('skips a dropped stream', () => {
    const { open, send, drop, take } = rig();
    open('a1');
    send('a1', 2);
    drop('a1');
    send('a1', 2, 2);
    expect(take(1)).toEqual([undefined]);
  });

  test('keeps the order of each stream, and loses nothing', () => {
    const sends = fc.array(fc.tuple(fc.constantFrom('a1', 'a2', 'b1', 'c1'), fc.nat(6), fc.nat(3_000), fc.nat(4)), {
      maxLength: 40,
    });
    fc.assert(
      fc.property(sends, (steps) => {
        const { clock, open, send, take } = rig();
        const sent = new Map<string, number>();
        const taken: string[] = [];
        for (const stream of ['a1', 'a2', 'b1', 'c1']) open(stream);
        for (const [stream, count, waitMs, takes] of steps) {
          send(stream, count, sent.get(stream) ?? 0);
          sent.set(stream, (sent.get(stream) ?? 0) + count);
          clock.increment(waitMs);
          taken.push(...take(takes).filter((name) => name !== undefined));
        }
        const total = [...sent.values()].reduce((sum, count) => sum + count, 0);
        taken.push(...take(total - taken.length).filter((name) => name !== undefined));
        expect(take(1)).toEqual([undefined]);
        for (const [stream, count] of sent) {
          expect(taken.filter((name) => name.startsWith(stream))).toEqual(
            Array.from({ length: count }, (_, piece) => `${stream}.${piece}`),
          );
        }
      }),
    );
  });
});

describe('an organisation that has used its time', () => {
  test('runs at real time, gets one warning, and takes nothing from others', () => {
    const { clock, shares, queue, slowed, open, send, take } = rig(6_000);
    for (const stream of ['a1', 'b1']) {
      open(stream);
      send(stream, 20);
    }
    shares.spend(shares.of('a'), 6_150);
    // Five pieces of each are not ahead by more than two seconds; what is paid for goes first.
    expect(streamsOf(take(5))).toEqual(['b1', 'b1', 'b1', 'b1', 'b1']);
    expect(streamsOf(take(20)).filter((stream) => stream === 'a1')).toHaveLength(5);
    expect(take(1)).toEqual([undefined]);
    expect([slowed, queue.heldMs]).toEqual([['a1'], 500]);
    // Asked for again, it says no more than that.
    expect(take(1)).toEqual([undefined]);
    clock.increment(500);
    expect(take(2)).toEqual(['a1.5', undefined]);
    clock.increment(500);
    expect(take(2)).toEqual(['a1.6', undefined]);
    // A tenth of a second of its time comes back with each second: what it owed is paid.
    clock.increment(501);
    expect(streamsOf(take(13))).toEqual(Array.from({ length: 13 }, () => 'a1'));
    expect(slowed).toEqual(['a1']);
  });

  test('recovers after a minute, and never owes more than a minute', () => {
    const { clock, shares } = rig(6_000);
    shares.spend(shares.of('a'), 1_000_000);
    expect(shares.waitMs(shares.of('a'))).toBe(60_000);
    clock.increment(60_001);
    expect(shares.waitMs(shares.of('a'))).toBe(0);
  });

  test('counts on while it has no stream', () => {
    const { shares } = rig(6_000);
    const share = shares.of('a');
    shares.spend(share, 9_000);
    shares.left(share);
    expect(shares.of('a')).not.toBe(share);
    expect(shares.waitMs(shares.of('a'))).toBe(30_000);
  });
});

test('leaves the process’s own streams unlimited', () => {
  const { shares } = rig(1);
  shares.spend(shares.of(undefined), 1_000_000);
  expect(shares.waitMs(shares.of(undefined))).toBe(0);
});
