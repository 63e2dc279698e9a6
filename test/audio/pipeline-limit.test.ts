// The promise that nothing behind a pipeline's limit is given out, whatever the frame contract and the rate, and that what is
// before it is given out whole.
import { describe, expect, it } from 'vitest';
import type { LaneContract } from '../../src/audio/lane.ts';
import { AudioPipeline } from '../../src/audio/pipeline.ts';
import { numberedAudio } from '../fakes/audio/numbered-audio.ts';
import { seeded } from '../fakes/random.ts';

const RATE = 16_000;
const CONTRACTS: [string, Partial<LaneContract['frame']>, number][] = [
  ['frames of any size', { minMs: 0, idealMs: 100, maxMs: 250, tail: 'short' }, RATE],
  ['frames with a minimum, and a short tail', { minMs: 50, idealMs: 100, maxMs: 1_000, tail: 'short' }, RATE],
  ['frames with a minimum, padded', { minMs: 50, idealMs: 100, maxMs: 1_000, tail: 'pad' }, RATE],
  ['another rate', { minMs: 0, idealMs: 100, maxMs: 250, tail: 'short' }, 24_000],
];

function pipelineWith(frame: Partial<LaneContract['frame']>, sampleRate: number): AudioPipeline {
  const pipeline = new AudioPipeline({
    sampleRate: RATE,
    encoding: 'linear16',
    memoryBytesMax: 8_388_608,
    replayMs: 60_000,
    replaySpoolMs: 0,
    spoolBytesMax: 0,
    openSpool: () => {
      throw new Error('There is no spool here.');
    },
  });
  const contract = {
    frame: frame as LaneContract['frame'],
    sampleRate,
    speedMax: Number.POSITIVE_INFINITY,
    burstMs: 0,
    turnPauseMs: Number.POSITIVE_INFINITY,
  };
  pipeline.openLane(contract, 0);
  return pipeline;
}

/** Samples given out now. */
function drain(pipeline: AudioPipeline): number {
  let samples = 0;
  for (let frame = pipeline.next(0); frame !== undefined; frame = pipeline.next(0)) samples += frame.samples;
  return samples;
}

describe.each(CONTRACTS)('%s', (_, frame, sampleRate) => {
  it('never goes beyond the limit, waits for it to move, and loses nothing by it', () => {
    for (let seed = 0; seed < 30; seed++) {
      const random = seeded(seed);
      const pipeline = pipelineWith(frame, sampleRate);
      const total = random.integer(RATE, 8 * RATE);
      let limit = random.integer(0, RATE);
      let given = 0;
      pipeline.limitTo(limit);
      for (let at = 0; at < total; ) {
        const count = Math.min(total - at, random.integer(1, 9_000));
        pipeline.push(numberedAudio(at, at + count));
        at += count;
        given += drain(pipeline);
        expect(given).toBeLessThanOrEqual(limit);
        if (pipeline.starved) {
          limit += random.integer(1, 2 * RATE);
          pipeline.limitTo(limit);
        }
      }
      pipeline.end();
      given += drain(pipeline);
      expect(given).toBeLessThanOrEqual(limit);
      expect(pipeline.drained).toBe(limit >= total);
      pipeline.limitTo(Number.POSITIVE_INFINITY);
      given += drain(pipeline);
      expect([given, pipeline.drained, pipeline.starved]).toEqual([total, true, false]);
    }
  });

  it('ends at the limit when it is cut, to the sample, and says how much was cut', () => {
    for (let seed = 0; seed < 30; seed++) {
      const random = seeded(seed);
      const pipeline = pipelineWith(frame, sampleRate);
      const total = random.integer(RATE, 8 * RATE);
      const limit = random.integer(1, total - 1);
      pipeline.limitTo(limit);
      pipeline.push(numberedAudio(0, total));
      let given = drain(pipeline);
      expect(pipeline.starved).toBe(true);
      pipeline.cut();
      given += drain(pipeline);
      expect(given).toBeLessThanOrEqual(limit + 1);
      expect(limit - given).toBeLessThanOrEqual(1);
      expect([pipeline.drained, pipeline.starved, pipeline.ended]).toEqual([true, false, true]);
      expect(pipeline.cutSamples).toBe(total - Math.max(limit, given));
      pipeline.limitTo(Number.POSITIVE_INFINITY);
      expect(drain(pipeline)).toBe(0);
    }
  });
});
