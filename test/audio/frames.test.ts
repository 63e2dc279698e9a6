// What a lane's frames promise: sizes within the contract, pace within the speed.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { frameSamples, frameSizes, missingSamples, Pacer } from '../../src/audio/frames.ts';

const contracts = fc
  .tuple(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 800 }))
  .map(([minMs, more, most]) => ({ minMs, idealMs: minMs + more, maxMs: minMs + more + most, tail: 'short' as const }));
const rates = fc.constantFrom(8000, 11_025, 16_000, 44_100, 48_000);

describe('the size of a frame', () => {
  test('stays within the contract, and is 0 only below its minimum', () => {
    fc.assert(
      fc.property(contracts, rates, fc.integer({ min: 1, max: 100_000 }), (contract, rate, available) => {
        const sizes = frameSizes(contract, rate);
        const size = frameSamples(sizes, available);
        if (available < sizes.min) {
          expect(size).toBe(0);
        } else {
          expect(size).toBeGreaterThanOrEqual(sizes.min);
          expect(size).toBeLessThanOrEqual(Math.min(available, sizes.max, sizes.largest));
        }
        // Where the maximum is a sample or more longer than the minimum, both are kept at every rate.
        if (contract.maxMs > contract.minMs) expect(sizes.max).toBeLessThanOrEqual((contract.maxMs * rate) / 1000 + 1);
        expect(sizes.min).toBeGreaterThanOrEqual((contract.minMs * rate) / 1000);
      }),
    );
  });

  test('leaves no rest that must wait, for a chunk that the contract itself allows', () => {
    fc.assert(
      fc.property(contracts, rates, fc.double({ min: 0, max: 1, noNaN: true }), (contract, rate, share) => {
        const sizes = frameSizes(contract, rate);
        let left = sizes.min + Math.floor((sizes.max - sizes.min) * share);
        while (left >= sizes.min) left -= frameSamples(sizes, left);
        expect(left).toBe(0);
      }),
    );
  });

  const deepgram = frameSizes({ minMs: 20, idealMs: 100, maxMs: 250, tail: 'short' }, 8000);
  const exact = frameSizes({ minMs: 80, idealMs: 80, maxMs: 80, tail: 'pad' }, 24_000);
  test.each([
    ['a chunk below the minimum waits', deepgram, 159, 0],
    ['a chunk within the contract leaves as it is', deepgram, 160, 160],
    ['a backlog leaves in ideal frames', deepgram, 8000, 800],
    ['a rest below the minimum goes along', deepgram, 900, 900],
    ['one size only is kept to', exact, 5000, 1920],
  ] as const)('%s', (_, sizes, available, size) => {
    expect(frameSamples(sizes, available)).toBe(size);
  });
});

describe('the pace', () => {
  test('never exceeds the burst and the speed over any period', () => {
    const steps = fc.array(
      fc.record({ afterMs: fc.integer({ min: 0, max: 400 }), audioMs: fc.integer({ min: 1, max: 200 }) }),
      {
        maxLength: 60,
      },
    );
    fc.assert(
      fc.property(
        steps,
        fc.double({ min: 0.5, max: 4, noNaN: true }),
        fc.integer({ min: 200, max: 5000 }),
        (list, speedMax, burstMs) => {
          const pacer = new Pacer(speedMax, burstMs, 0);
          const sent: { at: number; audioMs: number }[] = [];
          let at = 0;
          for (const { afterMs, audioMs } of list) {
            at += afterMs;
            const waitMs = pacer.waitMs(audioMs, at);
            // Just before the end of the wait it is still too early, at its end it is not.
            if (waitMs > 0.01) expect(pacer.waitMs(audioMs, at + waitMs - 0.01)).toBeGreaterThan(0);
            at += waitMs;
            expect(pacer.waitMs(audioMs, at)).toBe(0);
            pacer.take(audioMs, at);
            sent.push({ at, audioMs });
          }
          for (let i = 0; i < sent.length; i++) {
            let audioMs = 0;
            for (let j = i; j < sent.length; j++) {
              audioMs += sent[j]!.audioMs;
              expect(audioMs).toBeLessThanOrEqual(burstMs + speedMax * (sent[j]!.at - sent[i]!.at) + 0.001);
            }
          }
        },
      ),
    );
  });

  test('never waits without a limit', () => {
    const pacer = new Pacer(Number.POSITIVE_INFINITY, 0, 5);
    for (let i = 0; i < 10; i++) {
      expect(pacer.waitMs(1000, 5)).toBe(0);
      pacer.take(1000, 5);
    }
  });
});

describe('gathering while the loop is busy', () => {
  const sizes = frameSizes({ minMs: 20, idealMs: 100, maxMs: 250, tail: 'short' }, 16_000);

  /** Lengths in milliseconds of the frames that leave while chunks come. */
  function framesOf(share: number, chunkMs: number): number[] {
    const frames: number[] = [];
    let given = 0;
    for (let received = chunkMs * 16; received <= 16_000; received += chunkMs * 16) {
      if (missingSamples(sizes, share, given, received - given) > 0) continue;
      frames.push((received - given) / 16);
      given = received;
    }
    return frames;
  }

  test.each([
    [0, 20, [20]],
    [0.19, 20, [20]],
    [0.2, 10, [50]],
    [0.2, 20, [60, 40]],
    [0.49, 50, [50]],
    [0.5, 10, [100]],
    [0.5, 20, [100]],
    [1, 50, [100]],
    [1, 100, [100]],
  ])('at a share of %d, chunks of %d ms leave in frames of %j ms', (share, chunkMs, pattern) => {
    const frames = framesOf(share, chunkMs);
    expect(frames).toEqual(frames.map((_, at) => pattern[at % pattern.length]));
    expect(frames.reduce((sum, frame) => sum + frame, 0)).toBe(1_000);
  });
});
