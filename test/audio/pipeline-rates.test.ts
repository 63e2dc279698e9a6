// Lanes of other rates hear the same audio at the same times.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AudioFrame } from '../../src/audio/pipeline.ts';
import { PcmConverter } from '../../src/audio/resampler.ts';
import { numberedAudio, samplesOf } from '../fakes/audio/numbered-audio.ts';
import { ANY_SIZE, AT_LEAST_50_MS, drain, pipelineOf } from './pipeline-fixture.ts';

describe('a leg at another rate', () => {
  test('gets the session from its origin on, converted as in one piece, with its times', () => {
    const lanes = fc.record({
      sampleRate: fc.constantFrom(8000, 16_000, 24_000, 44_100, 48_000),
      laneRate: fc.constantFrom(8000, 16_000, 24_000, 11_025),
      minMs: fc.integer({ min: 0, max: 60 }),
      sizes: fc.array(fc.integer({ min: 1, max: 40_000 }), { minLength: 1, maxLength: 10 }),
      origin: fc.integer({ min: 0, max: 2000 }),
    });
    fc.assert(
      fc.property(lanes, ({ sampleRate, laneRate, minMs, sizes, origin }) => {
        const pipeline = pipelineOf({ sampleRate, memoryBytesMax: 60_000 });
        const total = origin + sizes.reduce((sum, size) => sum + size, 0);
        const audio = Int16Array.from({ length: total }, (_, i) =>
          Math.round(9000 * Math.sin(i / 9) + 9000 * Math.sin(i / 31)),
        );
        const wire = new Uint8Array(audio.buffer);
        pipeline.openLane({ ...ANY_SIZE, sampleRate }, 0);
        pipeline.push(wire.subarray(0, origin * 2));
        drain(pipeline);
        pipeline.trim(origin);
        const contract = {
          ...ANY_SIZE,
          frame: { minMs, idealMs: minMs + 40, maxMs: 300, tail: 'short' as const },
          sampleRate: laneRate,
        };
        expect(pipeline.openLane(contract, 0).originSample).toBe(origin);
        const output: number[] = [];
        let position = origin;
        const take = (frame: AudioFrame) => {
          const seconds = output.length / laneRate;
          expect(frame.start).toBe(position);
          expect(Math.abs((frame.start - origin) / sampleRate - seconds)).toBeLessThanOrEqual(0.5001 / sampleRate);
          output.push(...samplesOf(frame.bytes));
          position += frame.samples;
        };
        for (let i = 0, at = origin; i < sizes.length; i++) {
          pipeline.push(wire.subarray(at * 2, (at + sizes[i]!) * 2));
          at += sizes[i]!;
          if (i % 3 !== 1) drain(pipeline).forEach(take);
        }
        pipeline.end();
        drain(pipeline).forEach(take);
        const converter = new PcmConverter(sampleRate, laneRate);
        const expected = [...converter.push(audio.subarray(origin)), ...converter.end()];
        expect(output.length).toBe(expected.length);
        expect(output.findIndex((sample, i) => sample !== expected[i])).toBe(-1);
        expect([position, pipeline.drained, pipeline.sentSamples]).toEqual([total, true, total]);
        pipeline.dispose();
      }),
      { numRuns: 40 },
    );
  });

  test('lags by the filter’s look-ahead alone', () => {
    const pipeline = pipelineOf();
    pipeline.openLane({ ...AT_LEAST_50_MS, sampleRate: 24_000 }, 0);
    for (let i = 0; i < 50; i++) {
      pipeline.push(numberedAudio(i * 1600, (i + 1) * 1600));
      drain(pipeline);
      expect(pipeline.receivedSamples - pipeline.sentSamples).toBeLessThanOrEqual(24);
    }
    pipeline.dispose();
  });

  test('flush does not make the next chunk leave short', () => {
    const pipeline = pipelineOf();
    pipeline.openLane(
      { ...ANY_SIZE, frame: { minMs: 50, idealMs: 100, maxMs: 1000, tail: 'short' }, sampleRate: 24_000 },
      0,
    );
    pipeline.push(numberedAudio(0, 320));
    pipeline.flush();
    expect(drain(pipeline)).toHaveLength(1);
    pipeline.push(numberedAudio(320, 640));
    expect(drain(pipeline)).toEqual([]);
    pipeline.dispose();
  });
});
