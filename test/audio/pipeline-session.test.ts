// Whole sessions with random chunks, contracts, finals and failures: every sample once, in order.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AudioFrame, AudioPipeline, LaneContract } from '../../src/audio/pipeline.ts';
import { BLOCK_BYTES } from '../../src/audio/tape/blocks.ts';
import { NumberedReader, numberedAudio } from '../fakes/audio/numbered-audio.ts';
import { AT_LEAST_50_MS, FRAMES_MAX, MEBIBYTE, pipelineOf, RATE, spools } from './pipeline-fixture.ts';

describe('any session', () => {
  type Step =
    | { do: 'push'; bytes: number }
    | { do: 'wait'; ms: number }
    | { do: 'pump' | 'flush' | 'close' }
    | { do: 'trim'; share: number }
    | { do: 'open'; contract: LaneContract };

  const contracts: fc.Arbitrary<LaneContract> = fc
    .record({
      minMs: fc.integer({ min: 0, max: 120 }),
      more: fc.integer({ min: 0, max: 200 }),
      most: fc.integer({ min: 1, max: 500 }),
      tail: fc.constantFrom('short' as const, 'pad' as const),
      speedMax: fc.constantFrom(1, 1.25, 3, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY),
      burstMs: fc.constantFrom(0, 500, 5000),
      gathering: fc.constantFrom(undefined, undefined, { share: 0.3 }, { share: 1 }),
    })
    .map(({ minMs, more, most, tail, speedMax, burstMs, gathering }) => ({
      frame: { minMs, idealMs: minMs + more, maxMs: minMs + more + most, tail },
      sampleRate: RATE,
      speedMax,
      burstMs,
      turnPauseMs: Number.POSITIVE_INFINITY,
      gathering,
    }));

  const steps: fc.Arbitrary<Step[]> = fc.array(
    fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({ do: fc.constant('push' as const), bytes: fc.integer({ min: 0, max: 70_000 }) }),
      },
      { weight: 4, arbitrary: fc.record({ do: fc.constant('pump' as const) }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 3000 }) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('flush' as const, 'close' as const) }) },
      {
        weight: 2,
        arbitrary: fc.record({ do: fc.constant('trim' as const), share: fc.double({ min: 0, max: 1.2, noNaN: true }) }),
      },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('open' as const), contract: contracts }) },
    ),
    { minLength: 1, maxLength: 60 },
  );

  /** Plays the steps, holding every promise against the pipeline at every frame. */
  class Session {
    readonly #memoryBytesMax: number;
    readonly #replayMs: number;
    readonly #isSpooled: boolean;
    readonly #pipeline: AudioPipeline;
    #nowMs = 0;
    #pushed = 0;
    #contract: LaneContract | undefined;
    #reader = new NumberedReader();
    #flushTo = 0;

    /** @param isSpooled whether all sent audio beyond what memory holds is kept in a spool */
    constructor(memoryBytesMax: number, replayMs: number, isSpooled: boolean) {
      this.#memoryBytesMax = memoryBytesMax;
      this.#replayMs = replayMs;
      this.#isSpooled = isSpooled;
      this.#pipeline = pipelineOf({ memoryBytesMax, replayMs, replaySpoolMs: isSpooled ? 3_600_000 : 0 });
    }

    play(list: Step[]): void {
      try {
        for (const step of list) this.#step(step);
        this.#finish();
      } finally {
        this.#pipeline.dispose();
      }
    }

    #step(step: Step): void {
      const pipeline = this.#pipeline;
      if (step.do === 'push') this.#push(step.bytes);
      else if (step.do === 'wait') this.#nowMs += step.ms;
      else if (step.do === 'pump') this.#pump();
      else if (step.do === 'open') this.#open(step.contract);
      else if (step.do === 'trim') this.#trim(Math.round(step.share * pipeline.receivedSamples));
      else if (step.do === 'flush') {
        pipeline.flush();
        this.#flushTo = pipeline.receivedSamples;
      } else {
        pipeline.closeLane();
        this.#contract = undefined;
      }
      this.#holdBounds();
    }

    /** Audio at any byte offset, gone after the call. */
    #push(bytes: number): void {
      const from = Math.floor(this.#pushed / 2);
      const audio = numberedAudio(from, from + bytes / 2 + 2);
      const piece = audio.subarray(this.#pushed % 2, (this.#pushed % 2) + bytes);
      expect(this.#pipeline.push(piece)).toBe('accepted');
      audio.fill(0x55);
      this.#pushed += bytes;
      expect(this.#pipeline.receivedBytes).toBe(this.#pushed);
      expect(this.#pipeline.receivedSamples).toBe(Math.floor(this.#pushed / 2));
    }

    #open(contract: LaneContract): void {
      const covered = this.#pipeline.coveredSamples;
      const { originSample, replaySamples, lost } = this.#pipeline.openLane(contract, this.#nowMs);
      if (this.#isSpooled) expect(lost).toBeUndefined();
      if (lost === undefined) expect(originSample).toBe(covered);
      else expect(lost).toEqual({ from: covered, to: originSample });
      expect(replaySamples).toBeGreaterThanOrEqual(0);
      expect(this.#pipeline.sentSamples).toBe(originSample);
      this.#contract = contract;
      this.#reader = new NumberedReader(originSample);
    }

    #trim(to: number): void {
      const before = this.#pipeline.coveredSamples;
      this.#pipeline.trim(to);
      expect(this.#pipeline.coveredSamples).toBeGreaterThanOrEqual(before);
      expect(this.#pipeline.coveredSamples).toBeLessThanOrEqual(
        Math.max(before, Math.min(to, this.#pipeline.receivedSamples)),
      );
    }

    #pump(): void {
      for (let frames = 0; frames <= FRAMES_MAX; frames++) {
        const waitMs = this.#pipeline.waitMs(this.#nowMs);
        const frame = this.#pipeline.next(this.#nowMs);
        expect(frame !== undefined).toBe(waitMs === 0);
        if (frame === undefined) {
          this.#checkHeldBack(waitMs);
          return;
        }
        this.#check(frame);
        this.#holdBounds();
      }
      throw new Error('The lane gives frames without end.');
    }

    /** What does not leave although its pace allows it is less than a frame, and only waits for more. */
    #checkHeldBack(waitMs: number): void {
      const pipeline = this.#pipeline;
      if (this.#contract === undefined || waitMs !== Number.POSITIVE_INFINITY) return;
      const { minMs, idealMs } = this.#contract.frame;
      const held = pipeline.receivedSamples - pipeline.sentSamples;
      if (pipeline.ended) expect(held).toBe(0);
      expect(held).toBeLessThan(Math.max(1, (Math.max(minMs, idealMs) * RATE) / 1000) + 1);
      expect(pipeline.gathering).toBe(held > 0 && held * 1000 >= minMs * RATE);
      if (pipeline.gathering) expect(pipeline.sentSamples).toBeGreaterThanOrEqual(this.#flushTo);
    }

    #check({ bytes, start, samples }: AudioFrame): void {
      const { frame } = this.#contract!;
      const [min, max] = [(frame.minMs * RATE) / 1000, (frame.maxMs * RATE) / 1000];
      expect(start).toBe(this.#reader.position);
      this.#reader.take(bytes.subarray(0, samples * 2));
      expect(bytes.length / 2).toBeLessThanOrEqual(max);
      if (bytes.length / 2 < min) {
        expect(frame.tail).toBe('short');
        expect(this.#pipeline.ended || start < this.#flushTo).toBe(true);
      }
      if (bytes.length > samples * 2) {
        expect(frame.tail).toBe('pad');
        expect(bytes.length / 2).toBe(min);
        expect(this.#pipeline.drained).toBe(true);
        expect(bytes.subarray(samples * 2).every((byte) => byte === 0)).toBe(true);
      }
    }

    /** Memory: what is ahead and what may be replayed, each rounded to blocks, and once more what a replay puts ahead. */
    #holdBounds(): void {
      const replayBytes = (this.#replayMs * RATE * 2) / 1000;
      expect(this.#pipeline.bufferedBytes).toBeLessThanOrEqual(this.#memoryBytesMax + replayBytes + 5 * BLOCK_BYTES);
    }

    /** In the end a last leg gets everything up to the end, once, in order. */
    #finish(): void {
      this.#pipeline.end();
      expect(this.#pipeline.droppedBytes).toBe(this.#pushed % 2);
      if (this.#contract === undefined) this.#open(AT_LEAST_50_MS);
      this.#pump();
      while (!this.#pipeline.drained) {
        const waitMs = this.#pipeline.waitMs(this.#nowMs);
        expect(waitMs).toBeLessThan(100_000);
        this.#nowMs += waitMs;
        this.#pump();
      }
      expect(this.#reader.position).toBe(this.#pipeline.receivedSamples);
      expect(this.#pipeline.sentSamples).toBe(this.#pipeline.receivedSamples);
      expect(this.#pipeline.waitMs(this.#nowMs)).toBe(Number.POSITIVE_INFINITY);
      this.#pipeline.trim(this.#pipeline.receivedSamples);
      expect([this.#pipeline.bufferedBytes, this.#pipeline.spooledBytes, spools.bytes]).toEqual([0, 0, 0]);
    }
  }

  test('gives every leg the audio from its origin, whole, in order and within its contract', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(0, 40_000, 300_000, 2 * MEBIBYTE),
        fc.constantFrom(0, 1500, 60_000),
        fc.boolean(),
        steps,
        (memory, replayMs, isSpooled, list) => new Session(memory, replayMs, isSpooled).play(list),
      ),
      { numRuns: 150 },
    );
  });
});
