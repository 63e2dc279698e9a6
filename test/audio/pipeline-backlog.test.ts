// Audio ahead of its leg: memory stays bounded, the spool gives everything back in order, and its file is always gone.
import { tmpdir } from 'node:os';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AudioPipeline } from '../../src/audio/pipeline.ts';
import { BLOCK_BYTES } from '../../src/audio/tape/blocks.ts';
import { FileSpools, type Spool } from '../../src/audio/tape/spool.ts';
import { Quota } from '../../src/runtime/limits/quota.ts';
import { NumberedReader, numberedAudio } from '../fakes/audio/numbered-audio.ts';
import { ANY_SIZE, AT_LEAST_50_MS, drain, MEBIBYTE, pipelineOf, RATE, spools } from './pipeline-fixture.ts';

/** A disk that can be full. */
class FragileSpool implements Spool {
  readonly #blocks: Uint8Array[] = [];
  full = false;
  shortage = undefined;
  get length(): number {
    return this.#blocks.length;
  }
  put(block: Uint8Array): boolean {
    if (!this.full) this.#blocks.push(block.slice());
    return !this.full;
  }
  take(block: Uint8Array): void {
    this.read(0, block);
    this.drop();
  }
  read(index: number, block: Uint8Array): void {
    block.set(this.#blocks[index]!);
  }
  drop(): void {
    this.#blocks.shift();
  }
  close(): void {}
}

describe('a backlog', () => {
  test('stays within its memory for an hour at once, and survives a failover whole', () => {
    const pipeline = pipelineOf();
    const second = 50;
    for (let at = 0; at < 3600; at += second) {
      expect(pipeline.push(numberedAudio(at * RATE, (at + second) * RATE))).toBe('accepted');
      expect(pipeline.bufferedBytes).toBeLessThanOrEqual(2 * MEBIBYTE + 2 * BLOCK_BYTES);
    }
    expect(pipeline.spooledBytes).toBeGreaterThan(3600 * RATE * 2 - 2 * MEBIBYTE - 2 * BLOCK_BYTES);
    pipeline.openLane(AT_LEAST_50_MS, 0);
    let reader = new NumberedReader();
    let memory = 0;
    const read = (until: number) => {
      for (let frame = pipeline.next(0); frame !== undefined; frame = pipeline.next(0)) {
        reader.take(frame.bytes);
        memory = Math.max(memory, pipeline.bufferedBytes);
        if (reader.position >= until) return;
      }
    };
    read(1800 * RATE);
    pipeline.trim(1770 * RATE);
    expect(pipeline.openLane(AT_LEAST_50_MS, 0)).toEqual({
      originSample: 1770 * RATE,
      replaySamples: 30 * RATE,
      lost: undefined,
    });
    reader = new NumberedReader(1770 * RATE);
    pipeline.push(numberedAudio(3600 * RATE, 3601 * RATE));
    read(Number.POSITIVE_INFINITY);
    expect(reader.position).toBe(3601 * RATE);
    expect(memory).toBeLessThanOrEqual(60 * RATE * 2 + 2 * MEBIBYTE + 4 * BLOCK_BYTES);
    expect([pipeline.spooledBytes, spools.bytes]).toEqual([0, 0]);
    pipeline.dispose();
  });

  test('refuses audio beyond memory and spool whole, and accepts it once there is room', () => {
    for (const spoolBytesMax of [0, 20_000, 200_000]) {
      const pipeline = pipelineOf({ memoryBytesMax: 100_000, spoolBytesMax });
      const reader = new NumberedReader();
      let accepted = 0;
      while (pipeline.push(numberedAudio(accepted, accepted + 500)) === 'accepted') accepted += 500;
      expect(accepted * 2).toBeGreaterThan(100_000 + spoolBytesMax - BLOCK_BYTES - 1000);
      expect(accepted * 2).toBeLessThanOrEqual(100_000 + spoolBytesMax + BLOCK_BYTES);
      expect([pipeline.receivedSamples, pipeline.receivedBytes]).toEqual([accepted, accepted * 2]);
      pipeline.openLane(ANY_SIZE, 0);
      for (const frame of drain(pipeline)) reader.take(frame.bytes);
      expect(pipeline.push(numberedAudio(accepted, accepted + 500))).toBe('accepted');
      for (const frame of drain(pipeline)) reader.take(frame.bytes);
      expect(reader.position).toBe(accepted + 500);
      pipeline.dispose();
    }
  });

  /** Whole blocks that the disk refuses at first and takes later, when the lane has almost caught up. */
  const RECOVERED: [samples: number, full: boolean, pump: boolean][] = [
    [(3 * BLOCK_BYTES) / 2, false, false],
    [(2 * BLOCK_BYTES) / 2, true, false],
    ...Array.from({ length: 15 }, (): [number, boolean, boolean] => [0, true, true]),
    [BLOCK_BYTES / 2, false, false],
  ];

  test('refuses what the disk rejects, and still delivers accepted audio in order', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 60_000 }), fc.boolean(), fc.boolean()), { maxLength: 40 }),
        (list) => {
          const spool = new FragileSpool();
          const pipeline = pipelineOf({ memoryBytesMax: 40_000, replayMs: 0, openSpool: () => spool });
          const reader = new NumberedReader();
          pipeline.openLane(ANY_SIZE, 0);
          let accepted = 0;
          for (const [samples, full, pump] of list) {
            spool.full = full;
            if (pipeline.push(numberedAudio(accepted, accepted + samples)) === 'accepted') accepted += samples;
            // A push that found the disk full is the only one held in memory.
            expect(pipeline.bufferedBytes).toBeLessThanOrEqual(40_000 + 120_000 + 4 * BLOCK_BYTES);
            const frame = pump ? pipeline.next(0) : undefined;
            if (frame !== undefined) reader.take(frame.bytes);
          }
          for (const frame of drain(pipeline)) reader.take(frame.bytes);
          expect(reader.position).toBe(accepted);
          pipeline.dispose();
        },
      ),
      { examples: [[RECOVERED]] },
    );
  });
});

describe('sent audio without a final', () => {
  /** Audio of so many seconds that a leg takes at once, ten seconds at a time; gives the most memory that was held. */
  function play(pipeline: AudioPipeline, seconds: number): number {
    let memory = 0;
    pipeline.openLane(ANY_SIZE, 0);
    for (let at = 0; at < seconds; at += 10) {
      pipeline.push(numberedAudio(at * RATE, (at + 10) * RATE));
      while (pipeline.next(0) !== undefined) memory = Math.max(memory, pipeline.bufferedBytes);
    }
    return memory;
  }

  /** A leg that replaces the one before hears this, and everything up to the end behind it. */
  function expectReplay(pipeline: AudioPipeline, from: number, to: number): void {
    expect(pipeline.openLane(ANY_SIZE, 0)).toMatchObject({ originSample: from, replaySamples: to - from });
    const reader = new NumberedReader(from);
    for (let frame = pipeline.next(0); frame !== undefined; frame = pipeline.next(0)) reader.take(frame.bytes);
    expect(reader.position).toBe(to);
  }

  test('replays twenty minutes whole many times, within a minute’s memory', () => {
    const pipeline = pipelineOf({ replaySpoolMs: 1_800_000 });
    const end = 1200 * RATE;
    expect(play(pipeline, 1200)).toBeLessThanOrEqual((60 + 10) * RATE * 2 + 3 * BLOCK_BYTES);
    expect(pipeline.spooledBytes).toBeGreaterThan(1139 * RATE * 2);
    expectReplay(pipeline, 0, end);
    pipeline.openLane(ANY_SIZE, 0);
    while (pipeline.sentSamples < 300 * RATE) pipeline.next(0);
    pipeline.trim(200 * RATE + 7);
    expectReplay(pipeline, 200 * RATE + 7, end);
    expect(pipeline.bufferedBytes).toBeLessThanOrEqual(60 * RATE * 2 + 3 * BLOCK_BYTES);
    pipeline.trim(end);
    expect([pipeline.bufferedBytes, pipeline.spooledBytes, spools.bytes]).toEqual([0, 0, 0]);
    pipeline.dispose();
  });

  test('loses its beginning where the spool has no room, and replays the newest', () => {
    const budget = new FileSpools({ directory: tmpdir(), quota: new Quota(10, 1), onFault: () => {} });
    const pipeline = pipelineOf({ replayMs: 2_000, replaySpoolMs: 1_800_000, openSpool: () => budget.open('org') });
    play(pipeline, 60);
    const kept = 2 * RATE + 10 * (BLOCK_BYTES / 2);
    const { originSample, lost } = pipeline.openLane(ANY_SIZE, 0);
    expect(originSample).toBeGreaterThan(60 * RATE - kept - BLOCK_BYTES);
    expect(originSample).toBeLessThanOrEqual(60 * RATE - kept + BLOCK_BYTES);
    expect(lost).toEqual({ from: 0, to: originSample });
    expectReplay(pipeline, originSample, 60 * RATE);
    pipeline.dispose();
    expect(budget.bytes).toBe(0);
  });

  test('shrinks to what memory holds where the disk accepts nothing', () => {
    const spool = new FragileSpool();
    spool.full = true;
    const pipeline = pipelineOf({ replayMs: 2_000, replaySpoolMs: 1_800_000, openSpool: () => spool });
    play(pipeline, 60);
    const { originSample } = pipeline.openLane(ANY_SIZE, 0);
    expect(60 * RATE - originSample).toBeGreaterThanOrEqual(2 * RATE);
    expect(60 * RATE - originSample).toBeLessThan(2 * RATE + BLOCK_BYTES / 2);
    expectReplay(pipeline, originSample, 60 * RATE);
    pipeline.dispose();
  });
});

test('audio that cannot be read back from the spool is an error, not a gap', () => {
  class BrokenSpool extends FragileSpool {
    override take(): void {
      throw new Error('EIO');
    }
  }
  const pipeline = pipelineOf({ memoryBytesMax: 40_000, openSpool: () => new BrokenSpool() });
  pipeline.push(numberedAudio(0, 100_000));
  pipeline.openLane(ANY_SIZE, 0);
  expect(() => drain(pipeline)).toThrow('EIO');
  pipeline.dispose();
});

describe('the end of a session', () => {
  const ENDINGS: [what: string, prepare: (pipeline: AudioPipeline) => void][] = [
    ['before any audio', () => {}],
    ['with an unread spool', (pipeline) => pipeline.push(numberedAudio(0, 300_000))],
    [
      'in the middle of the spool',
      (pipeline) => {
        pipeline.push(numberedAudio(0, 300_000));
        pipeline.openLane(ANY_SIZE, 0);
        for (let i = 0; i < 50; i++) pipeline.next(0);
      },
    ],
    [
      'after everything was read',
      (pipeline) => {
        pipeline.push(numberedAudio(0, 300_000));
        pipeline.openLane(ANY_SIZE, 0);
        drain(pipeline);
      },
    ],
  ];

  test.each(ENDINGS)('%s leaves neither memory nor file behind, and everything after it is harmless', (_, prepare) => {
    const pipeline = pipelineOf({ memoryBytesMax: 100_000 });
    prepare(pipeline);
    pipeline.dispose();
    pipeline.dispose();
    expect([pipeline.bufferedBytes, pipeline.spooledBytes, spools.bytes]).toEqual([0, 0, 0]);
    expect(pipeline.push(numberedAudio(0, 300_000))).toBe('accepted');
    pipeline.openLane(ANY_SIZE, 0);
    pipeline.flush();
    pipeline.trim(1e9);
    pipeline.end();
    expect([pipeline.next(0), pipeline.waitMs(0)]).toEqual([undefined, Number.POSITIVE_INFINITY]);
    pipeline.closeLane();
    expect([pipeline.bufferedBytes, pipeline.spooledBytes, spools.bytes]).toEqual([0, 0, 0]);
  });

  test('memory is given back as finals come, and a session whose audio is all covered holds none', () => {
    const pipeline = pipelineOf();
    pipeline.openLane(ANY_SIZE, 0);
    for (let i = 0; i < 100; i++) {
      pipeline.push(numberedAudio(i * RATE, (i + 1) * RATE));
      drain(pipeline);
      expect(pipeline.bufferedBytes).toBeGreaterThan(0);
      pipeline.trim((i + 1) * RATE);
      expect(pipeline.bufferedBytes).toBe(0);
    }
    pipeline.dispose();
  });
});
