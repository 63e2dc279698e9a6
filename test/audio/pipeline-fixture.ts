// What the tests of the pipeline share: a folder of spools that must be empty afterwards, pipelines, contracts, frames.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { type AudioFrame, AudioPipeline, type LaneContract, type PipelineOptions } from '../../src/audio/pipeline.ts';
import { BLOCK_BYTES } from '../../src/audio/tape/blocks.ts';
import { FileSpools } from '../../src/audio/tape/spool.ts';
import { Quota } from '../../src/runtime/limits/quota.ts';

export const RATE = 16_000;
export const MEBIBYTE = 1024 * 1024;

let directory: string;
/** Made anew for each test. */
export let spools: FileSpools;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'voxgate-audio-'));
  spools = new FileSpools({
    directory,
    quota: new Quota((512 * MEBIBYTE) / BLOCK_BYTES, 1),
    onFault: (error) => {
      throw error;
    },
  });
});
afterEach(() => {
  expect(readdirSync(directory)).toEqual([]);
  rmSync(directory, { recursive: true, force: true });
});

export function pipelineOf(options: Partial<PipelineOptions> = {}): AudioPipeline {
  return new AudioPipeline({
    sampleRate: RATE,
    encoding: 'linear16',
    memoryBytesMax: 2 * MEBIBYTE,
    replayMs: 60_000,
    replaySpoolMs: 0,
    spoolBytesMax: 512 * MEBIBYTE,
    openSpool: () => spools.open('org'),
    ...options,
  });
}

const UNLIMITED = { speedMax: Number.POSITIVE_INFINITY, burstMs: 0, turnPauseMs: Number.POSITIVE_INFINITY };
export const ANY_SIZE: LaneContract = {
  frame: { minMs: 0, idealMs: 100, maxMs: 1000, tail: 'short' },
  sampleRate: RATE,
  ...UNLIMITED,
};
export const AT_LEAST_50_MS: LaneContract = {
  ...ANY_SIZE,
  frame: { minMs: 50, idealMs: 100, maxMs: 1000, tail: 'pad' },
};

/** No test has more frames; a lane that gives frames for ever fails instead of filling the machine's memory. */
export const FRAMES_MAX = 100_000;

/** Takes every frame that may leave now. */
export function drain(pipeline: AudioPipeline, nowMs = 0): AudioFrame[] {
  const frames: AudioFrame[] = [];
  for (let frame = pipeline.next(nowMs); frame !== undefined; frame = pipeline.next(nowMs)) {
    frames.push({ ...frame, bytes: frame.bytes.slice() });
    if (frames.length > FRAMES_MAX) throw new Error('The lane gives frames without end.');
  }
  return frames;
}

export const lengths = (frames: AudioFrame[]) => frames.map((frame) => frame.samples);
