// Where a long file is cut, for pauses and limits of every kind.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WAV_HEADER_BYTES } from '../../../src/audio/containers/wav.ts';
import {
  type CutRules,
  PART_SECONDS_MAX,
  PART_SECONDS_MIN,
  type Part,
  type Pause,
  partAt,
  partsOf,
  reachOf,
  rulesOf,
  startAfter,
} from '../../../src/files/long/plan.ts';
import { drawn } from '../../fakes/drawn.ts';

const RATE = 16_000;

/** All parts of a file, as the cutter makes them. */
function planOf(samples: number, pauses: readonly Pause[], rules: CutRules, known?: number): Part[] {
  const parts: Part[] = [];
  for (let start = 0; ; ) {
    const reach = reachOf(start, known, rules);
    if (samples <= reach) return [...parts, { start, end: samples, overlap: 0 }];
    const seen = pauses
      .filter((pause) => pause.start < reach)
      .map((pause) => ({ ...pause, end: Math.min(pause.end, reach) }));
    const part = partAt(start, reach, seen, rules);
    parts.push(part);
    start = startAfter(part);
  }
}

const RULES: CutRules = { longest: 1_000, search: 250, pause: 10, overlap: 50 };

const pausesIn = (samples: number) =>
  fc.array(fc.tuple(fc.nat(400), fc.nat(60)), { maxLength: 200 }).map((steps) => {
    const pauses: Pause[] = [];
    let at = 0;
    for (const [gap, length] of steps) {
      at += gap + 1;
      if (length >= RULES.pause) pauses.push({ start: at, end: at + length });
      at += length;
    }
    return pauses.filter(({ end }) => end <= samples);
  });

const files = fc
  .nat(20_000)
  .chain((samples) => fc.record({ samples: fc.constant(samples), pauses: pausesIn(samples) }));
const seeded = { numRuns: drawn(2_000), seed: 39 };

describe('the parts of a file', () => {
  it('have every sample once, or twice where they overlap by the stated length', () => {
    fc.assert(
      fc.property(files, fc.boolean(), ({ samples, pauses }, isKnown) => {
        const parts = planOf(samples, pauses, RULES, isKnown ? samples : undefined);
        expect(parts[0]?.start).toBe(0);
        expect(parts.at(-1)).toMatchObject({ end: samples, overlap: 0 });
        for (const [index, part] of parts.slice(1).entries()) {
          const before = parts[index] as Part;
          expect(before.end - part.start).toBe(before.overlap);
          expect([0, RULES.overlap]).toContain(before.overlap);
          expect(part.end).toBeGreaterThan(before.end);
        }
      }),
      seeded,
    );
  });

  it('are never longer than allowed, nor needlessly short', () => {
    fc.assert(
      fc.property(files, fc.boolean(), ({ samples, pauses }, isKnown) => {
        const parts = planOf(samples, pauses, RULES, isKnown ? samples : undefined);
        for (const [index, { start, end }] of parts.entries()) {
          expect(end - start).toBeLessThanOrEqual(RULES.longest);
          const isLast = index === parts.length - 1;
          const least = isKnown ? RULES.longest / 4 : RULES.longest - RULES.search;
          if (!isLast) expect(end - start).toBeGreaterThanOrEqual(least);
        }
        expect(parts.length).toBeLessThanOrEqual(2 + (2 * samples) / RULES.longest);
      }),
      seeded,
    );
  });

  it('end in a pause wherever one is within reach, and in the longest', () => {
    fc.assert(
      fc.property(files, ({ samples, pauses }) => {
        for (const { start, end, overlap } of planOf(samples, pauses, RULES).slice(0, -1)) {
          const reach = start + RULES.longest;
          const lengths = pauses.map(
            (pause) => Math.min(pause.end, reach) - Math.max(pause.start, reach - RULES.search),
          );
          const longest = Math.max(0, ...lengths);
          const own = pauses.findIndex((pause) => pause.start <= end && end <= pause.end);
          if (longest >= RULES.pause) expect([overlap, lengths[own]]).toEqual([0, longest]);
          else expect([overlap, end]).toEqual([RULES.overlap, reach]);
        }
      }),
      seeded,
    );
  });

  it('are about equally long where the length is known', () => {
    const pauses = Array.from({ length: 500 }, (_, at) => ({ start: at * 20, end: at * 20 + 12 }));
    const lengths = planOf(3_100, pauses, RULES, 3_100).map(({ start, end }) => end - start);
    expect(lengths).toHaveLength(4);
    expect(Math.min(...lengths)).toBeGreaterThan(500);
    expect(planOf(1_000, pauses, RULES, 1_000)).toEqual([{ start: 0, end: 1_000, overlap: 0 }]);
    expect(partsOf(3_100, RULES)).toBe(4);
  });
});

describe('the limits of a model', () => {
  it('bound the bytes of a WAV part and its seconds, with some to spare', () => {
    fc.assert(
      fc.property(
        fc.option(fc.integer({ min: 1_000, max: 100_000_000 })),
        fc.option(fc.integer({ min: 1, max: 20_000 })),
        fc.constantFrom(8_000, 11_025, RATE),
        (bytesMax, secondsMax, rate) => {
          const rules = rulesOf({ bytesMax, secondsMax }, rate);
          if (rules === undefined) return;
          const { longest, search, overlap } = rules;
          expect(WAV_HEADER_BYTES + 2 * longest).toBeLessThan(bytesMax ?? Number.POSITIVE_INFINITY);
          expect(longest / rate).toBeLessThan(secondsMax ?? Number.POSITIVE_INFINITY);
          expect(longest / rate).toBeLessThanOrEqual(PART_SECONDS_MAX);
          expect(longest / rate).toBeGreaterThan(PART_SECONDS_MIN - 0.01);
          expect(overlap).toBeLessThan(search);
          expect(search).toBeLessThanOrEqual(longest / 4);
        },
      ),
      seeded,
    );
  });

  it('allow parts of 13 minutes for 25 MB, and none for a few seconds', () => {
    expect((rulesOf({ bytesMax: 26_148_864, secondsMax: null }, RATE)?.longest ?? 0) / RATE).toBeCloseTo(800.8, 0);
    expect(rulesOf({ bytesMax: null, secondsMax: 10 }, RATE)).toBeUndefined();
    expect(rulesOf({ bytesMax: 300_000, secondsMax: null }, RATE)).toBeUndefined();
  });
});
