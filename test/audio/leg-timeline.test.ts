// The clock of a leg that was not given all of each pause, against a list of every sample that it was given.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LegTimeline } from '../../src/audio/leg-timeline.ts';

interface Way {
  origin: number;
  /** What the leg was given, and what was left out behind it, in samples. */
  pieces: { given: number; skipped: number }[];
}

const ways: fc.Arbitrary<Way> = fc.record({
  origin: fc.integer({ min: 0, max: 50 }),
  pieces: fc.array(fc.record({ given: fc.integer({ min: 1, max: 12 }), skipped: fc.integer({ min: 1, max: 30 }) }), {
    maxLength: 12,
  }),
});

/** The timeline, and the session's sample of each sample that the leg was given. */
function walk({ origin, pieces }: Way): { timeline: LegTimeline; sessionOf: number[]; boundaries: Set<number> } {
  const timeline = new LegTimeline(origin);
  const sessionOf: number[] = [];
  const boundaries = new Set<number>();
  let position = origin;
  for (const { given, skipped } of pieces) {
    for (let sample = 0; sample < given; sample++) sessionOf.push(position++);
    timeline.leaveOut(position, position + skipped);
    boundaries.add(sessionOf.length);
    position += skipped;
  }
  for (let sample = 0; sample < 20; sample++) sessionOf.push(position++);
  return { timeline, sessionOf, boundaries };
}

test('maps every sample to its position, rising, with ends before a gap', () => {
  fc.assert(
    fc.property(ways, (way) => {
      const { timeline, sessionOf, boundaries } = walk(way);
      for (const [leg, session] of sessionOf.entries()) {
        expect([timeline.startOf(leg), timeline.legOf(session)]).toEqual([session, leg]);
        expect(timeline.endOf(leg)).toBe(boundaries.has(leg) ? (sessionOf[leg - 1] as number) + 1 : session);
      }
      for (let session = way.origin + 1; session < (sessionOf.at(-1) as number); session++) {
        expect(timeline.legOf(session)).toBeGreaterThanOrEqual(timeline.legOf(session - 1));
        expect(timeline.legOf(session)).toBe(sessionOf.filter((given) => given < session).length);
      }
    }),
  );
});

test('passes time between samples as in the session, and continues straight at both ends', () => {
  const { timeline } = walk({ origin: 100, pieces: [{ given: 10, skipped: 50 }] });
  expect([timeline.startOf(-5), timeline.startOf(4.5), timeline.endOf(10.5)]).toEqual([95, 104.5, 160.5]);
  expect(timeline.startOf(1_000)).toBe(1_150);
  expect([timeline.startOf(Number.NaN), timeline.endOf(Number.POSITIVE_INFINITY)]).toEqual([
    Number.NaN,
    Number.POSITIVE_INFINITY,
  ]);
});

test('forgets what finals cover, without a change for later audio', () => {
  fc.assert(
    fc.property(ways, fc.double({ min: 0, max: 1, noNaN: true }), (way, share) => {
      const { timeline, sessionOf } = walk(way);
      const from = Math.floor(share * (sessionOf.length - 1));
      timeline.forget(sessionOf[from] as number);
      for (let leg = from; leg < sessionOf.length; leg++) {
        expect([timeline.startOf(leg), timeline.legOf(sessionOf[leg] as number)]).toEqual([sessionOf[leg], leg]);
      }
      // And what is said of earlier times all the same lies before.
      for (let leg = 0; leg < from; leg++) expect(timeline.startOf(leg)).toBeLessThan(sessionOf[from] as number);
    }),
  );
});

test('puts a word into the piece that holds most of it, never longer than transcribed', () => {
  const times = fc.integer({ min: 0, max: 60 });
  fc.assert(
    fc.property(ways, times, fc.integer({ min: 0, max: 20 }), (way, start, length) => {
      const { timeline, sessionOf } = walk(way);
      const word = timeline.wordOf(start, start + length);
      expect(word.start).toBeGreaterThanOrEqual(timeline.startOf(start));
      expect(word.end).toBeLessThanOrEqual(timeline.startOf(start + length));
      expect(word.end - word.start).toBeLessThanOrEqual(length);
      expect(word.end).toBeGreaterThanOrEqual(word.start);
      const given = new Set(sessionOf);
      for (let sample = word.start; sample < Math.min(word.end, sessionOf.at(-1) as number); sample++)
        expect(given.has(sample)).toBe(true);
    }),
  );
  const { timeline } = walk({ origin: 0, pieces: [{ given: 10, skipped: 100 }] });
  expect([timeline.wordOf(4, 12), timeline.wordOf(8, 20)]).toEqual([
    { start: 4, end: 10 },
    { start: 110, end: 120 },
  ]);
});

test('merges omissions at one position, and bounds their number', () => {
  const timeline = new LegTimeline();
  for (let times = 0; times < 3; times++) timeline.leaveOut(10 + times * 5, 15 + times * 5);
  expect([timeline.skips, timeline.startOf(10), timeline.endOf(10)]).toEqual([1, 25, 10]);
  let position = 25;
  while (!timeline.isFull) {
    timeline.leaveOut(position + 1, position + 2);
    position += 2;
  }
  expect(timeline.skips).toBe(256);
  timeline.forget(position);
  expect([timeline.skips, timeline.isFull]).toEqual([0, false]);
});
