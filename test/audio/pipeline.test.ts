// What the audio pipeline promises, one promise a test.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NumberedReader, numberedAudio, numberedSample, samplesOf } from '../fakes/audio/numbered-audio.ts';
import { ANY_SIZE, AT_LEAST_50_MS, drain, lengths, MEBIBYTE, pipelineOf, RATE } from './pipeline-fixture.ts';

describe('ingest', () => {
  test('keeps a minute the same in chunks of 1 to 70,000 bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 70_000 }), { maxLength: 50 }), (some) => {
        const sizes = [70_000, 1, ...some];
        const pipeline = pipelineOf();
        pipeline.openLane(AT_LEAST_50_MS, 0);
        const audio = numberedAudio(0, 60 * RATE);
        const reader = new NumberedReader();
        for (let at = 0, i = 0; at < audio.length; i++) {
          const to = Math.min(audio.length, at + sizes[i % sizes.length]!);
          pipeline.push(audio.subarray(at, to));
          for (const frame of drain(pipeline)) reader.take(frame.bytes);
          at = to;
        }
        pipeline.end();
        for (const frame of drain(pipeline)) reader.take(frame.bytes.subarray(0, frame.samples * 2));
        expect(reader.position).toBe(60 * RATE);
        pipeline.dispose();
      }),
      { numRuns: 5 },
    );
  });

  test('48,000 pushes of one byte cost less than their second of audio', () => {
    const pipeline = pipelineOf({ sampleRate: 24_000 });
    pipeline.openLane({ ...AT_LEAST_50_MS, sampleRate: 24_000 }, 0);
    const audio = numberedAudio(0, 24_000);
    const reader = new NumberedReader();
    const startMs = performance.now();
    for (let i = 0; i < audio.length; i++) {
      pipeline.push(audio.subarray(i, i + 1));
      const frame = pipeline.next(0);
      if (frame !== undefined) reader.take(frame.bytes);
    }
    expect(performance.now() - startMs).toBeLessThan(500);
    expect(reader.position).toBe(24_000);
    pipeline.dispose();
  });

  test('accepts a chunk of 1 MiB and cuts it to ideal frames', () => {
    const pipeline = pipelineOf();
    pipeline.openLane(AT_LEAST_50_MS, 0);
    expect(pipeline.push(numberedAudio(0, MEBIBYTE / 2))).toBe('accepted');
    const frames = drain(pipeline);
    expect(new Set(lengths(frames.slice(0, -1)))).toEqual(new Set([1600]));
    const reader = new NumberedReader();
    for (const frame of frames) reader.take(frame.bytes);
    expect(reader.position).toBe(MEBIBYTE / 2);
    pipeline.dispose();
  });

  test.each(['mulaw', 'alaw'] as const)('%s has one byte a sample and is held as linear16', (encoding) => {
    const pipeline = pipelineOf({ encoding, sampleRate: 8000 });
    pipeline.openLane({ ...ANY_SIZE, sampleRate: 8000 }, 0);
    pipeline.push(Uint8Array.of(0xff, 0x2a, 0xd5));
    const [frame] = drain(pipeline);
    expect([...samplesOf(frame!.bytes)]).toEqual(encoding === 'mulaw' ? [0, -5372, 716] : [848, -32_256, 8]);
    expect([pipeline.receivedBytes, pipeline.receivedSamples]).toEqual([3, 3]);
    pipeline.dispose();
  });

  test('drops and counts a lone last byte, and everything after the end', () => {
    const pipeline = pipelineOf();
    pipeline.push(Uint8Array.of(1, 0, 2));
    expect(pipeline.droppedBytes).toBe(0);
    pipeline.end();
    pipeline.end();
    expect([pipeline.receivedSamples, pipeline.droppedBytes]).toEqual([1, 1]);
    expect(pipeline.push(Uint8Array.of(0, 0))).toBe('accepted');
    expect([pipeline.receivedBytes, pipeline.receivedSamples, pipeline.droppedBytes]).toEqual([3, 1, 3]);
    pipeline.dispose();
  });
});

describe('frames', () => {
  test('leave whole at once when they satisfy the contract; smaller ones wait', () => {
    const pipeline = pipelineOf();
    pipeline.openLane(AT_LEAST_50_MS, 0);
    const sent: number[][] = [];
    for (const samples of [800, 2240, 1600, 320, 320, 320, 799, 1]) {
      pipeline.push(numberedAudio(0, samples));
      sent.push(lengths(drain(pipeline)));
    }
    expect(sent).toEqual([[800], [2240], [1600], [], [], [960], [], [800]]);
    pipeline.dispose();
  });

  test('flush lets a short piece leave where the leg takes one, and says when it has left', () => {
    const pipeline = pipelineOf();
    pipeline.openLane({ ...AT_LEAST_50_MS, frame: { ...AT_LEAST_50_MS.frame, tail: 'short' } }, 0);
    pipeline.push(numberedAudio(0, 300));
    expect(pipeline.waitMs(0)).toBe(Number.POSITIVE_INFINITY);
    pipeline.flush();
    expect(pipeline.waitMs(0)).toBe(0);
    expect(lengths(drain(pipeline))).toEqual([300]);
    pipeline.push(numberedAudio(300, 600));
    expect(drain(pipeline)).toEqual([]);
    pipeline.dispose();
  });

  test('wait at a flush where short ones need padding, and only the end pads', () => {
    const pipeline = pipelineOf();
    pipeline.openLane(AT_LEAST_50_MS, 0);
    pipeline.push(numberedAudio(0, 1100));
    expect(lengths(drain(pipeline))).toEqual([1100]);
    pipeline.push(numberedAudio(1100, 1400));
    pipeline.flush();
    expect(drain(pipeline)).toEqual([]);
    pipeline.end();
    const [last] = drain(pipeline);
    expect([last!.start, last!.samples, last!.bytes.length]).toEqual([1100, 300, 1600]);
    expect([...samplesOf(last!.bytes).subarray(299, 302)]).toEqual([numberedSample(1399), 0, 0]);
    expect(pipeline.drained).toBe(true);
    pipeline.dispose();
  });

  test('steady frames use the same memory again', () => {
    const pipeline = pipelineOf();
    pipeline.openLane(ANY_SIZE, 0);
    const seen = new Set<Uint8Array>();
    for (let i = 0; i < 10; i++) {
      pipeline.push(numberedAudio(i * 320, (i + 1) * 320));
      seen.add(pipeline.next(0)!.bytes);
    }
    expect(seen.size).toBe(1);
    pipeline.dispose();
  });
});

describe('pace', () => {
  test('gives every new leg its burst, then its speed', () => {
    const pipeline = pipelineOf();
    pipeline.push(numberedAudio(0, 20 * RATE));
    for (const originMs of [1000, 5000]) {
      pipeline.openLane({ ...AT_LEAST_50_MS, speedMax: 2, burstMs: 1000 }, originMs);
      const seconds = (nowMs: number) =>
        lengths(drain(pipeline, nowMs)).reduce((sum, samples) => sum + samples, 0) / RATE;
      expect(seconds(originMs)).toBe(1);
      expect(pipeline.waitMs(originMs)).toBe(50);
      expect(seconds(originMs + 49)).toBe(0);
      expect(seconds(originMs + 50)).toBe(0.1);
      expect(seconds(originMs + 550)).toBe(1);
    }
    pipeline.dispose();
  });

  test('never delays real-time audio, in any chunks, on a real-time leg', () => {
    const pipeline = pipelineOf();
    pipeline.openLane({ ...AT_LEAST_50_MS, speedMax: 1 }, 0);
    for (let i = 0; i < 500; i++) {
      pipeline.push(numberedAudio(i * 320, (i + 1) * 320));
      drain(pipeline, i * 20);
      expect(pipeline.waitMs(i * 20)).toBe(Number.POSITIVE_INFINITY);
    }
    pipeline.dispose();
  });
});

describe('failover', () => {
  test('starts a new leg at the last final’s end, and reports what was sent before', () => {
    const pipeline = pipelineOf();
    pipeline.push(numberedAudio(0, 10 * RATE));
    expect(pipeline.openLane(ANY_SIZE, 0)).toEqual({ originSample: 0, replaySamples: 0, lost: undefined });
    drain(pipeline);
    pipeline.trim(4.5 * RATE);
    pipeline.trim(4 * RATE);
    pipeline.closeLane();
    expect([pipeline.next(0), pipeline.waitMs(0), pipeline.drained]).toEqual([
      undefined,
      Number.POSITIVE_INFINITY,
      false,
    ]);
    expect(pipeline.openLane(ANY_SIZE, 0)).toEqual({
      originSample: 4.5 * RATE,
      replaySamples: 5.5 * RATE,
      lost: undefined,
    });
    expect(drain(pipeline)[0]!.start).toBe(4.5 * RATE);
    pipeline.dispose();
  });

  test('reports audio dropped by the replay bound once, to the sample', () => {
    const pipeline = pipelineOf({ replayMs: 3000 });
    pipeline.push(numberedAudio(0, 10 * RATE));
    pipeline.openLane(ANY_SIZE, 0);
    drain(pipeline);
    pipeline.trim(2 * RATE);
    expect(pipeline.openLane(ANY_SIZE, 0)).toEqual({
      originSample: 7 * RATE,
      replaySamples: 3 * RATE,
      lost: { from: 2 * RATE, to: 7 * RATE },
    });
    expect(pipeline.coveredSamples).toBe(7 * RATE);
    expect(pipeline.openLane(ANY_SIZE, 0).lost).toBeUndefined();
    pipeline.dispose();
  });

  test('replays half a second of the silence before the first sound, and reports none as lost', () => {
    const pipeline = pipelineOf({ replayMs: 3000 });
    pipeline.push(new Uint8Array(8 * RATE * 2));
    pipeline.push(numberedAudio(0, RATE));
    pipeline.openLane(ANY_SIZE, 0);
    drain(pipeline);
    expect(pipeline.openLane(ANY_SIZE, 0)).toEqual({
      originSample: 7.5 * RATE,
      replaySamples: 1.5 * RATE,
      lost: undefined,
    });
    pipeline.dispose();
  });

  test('never covers audio by a final that no leg received', () => {
    const pipeline = pipelineOf();
    pipeline.push(numberedAudio(0, RATE));
    pipeline.openLane(AT_LEAST_50_MS, 0);
    pipeline.next(0);
    pipeline.trim(RATE);
    expect(pipeline.coveredSamples).toBe(1600);
    pipeline.trim(Number.NaN);
    expect(pipeline.openLane(ANY_SIZE, 0).originSample).toBe(1600);
    pipeline.dispose();
  });
});

test('sees speech that the leg received, after the requested position only', () => {
  const pipeline = pipelineOf();
  const tone = (seconds: number, amplitude: number) =>
    new Uint8Array(Int16Array.from({ length: seconds * RATE }, (_, i) => amplitude * Math.sin(i / 8)).buffer);
  pipeline.push(tone(2, 100));
  expect(pipeline.lastSpeechSample()).toBeUndefined();
  pipeline.push(tone(1, 5000));
  pipeline.push(tone(1, 0));
  expect(pipeline.lastSpeechSample()).toBe(3 * RATE);
  expect(pipeline.lastSpeechSample(3 * RATE)).toBeUndefined();
  expect(pipeline.speechSince(0)).toBe(false);
  pipeline.openLane({ ...ANY_SIZE, speedMax: 1, burstMs: 1500 }, 0);
  drain(pipeline, 0);
  expect(pipeline.speechSince(0)).toBe(false);
  drain(pipeline, 2000);
  expect([pipeline.speechSince(0), pipeline.speechSince(2.5 * RATE), pipeline.speechSince(3 * RATE)]).toEqual([
    true,
    true,
    false,
  ]);
  pipeline.trim(3 * RATE);
  expect(pipeline.speechSince(pipeline.coveredSamples)).toBe(false);
  pipeline.dispose();
});
