// Files decoded as for a model that hears them live, and nothing left of it after each test.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect } from 'vitest';
import { FileDecodings } from '../../src/files/decoding/decoding.ts';
import { FileDecoder } from '../../src/files/file-decoder.ts';
import { FileSource } from '../../src/files/file-source.ts';
import { LegFailed } from '../../src/live/upstream/leg-failures.ts';
import { systemClock } from '../../src/runtime/telemetry/clock.ts';

const AUDIO = join(import.meta.dirname, '../fixtures/audio');
export const RATE = 16_000;
export const load = (name: string): Buffer => readFileSync(join(AUDIO, name));

export const faults: Error[] = [];
export const overflows: string[] = [];
export const decodings = new FileDecodings({
  clock: systemClock,
  onFault: (error) => faults.push(error),
  onOverflow: (name) => overflows.push(name),
});
afterEach(() => {
  expect(decodings.size).toBe(0);
  faults.length = 0;
  overflows.length = 0;
});

/** A file that arrives in pieces. */
export async function sourceOf(chunks: Iterable<Uint8Array>): Promise<FileSource> {
  return FileSource.open({
    bytes: undefined,
    rawSampleRate: undefined,
    read: async function* () {
      yield* chunks;
    },
  });
}

/** All samples at 16 kHz. */
export async function decoded(chunks: Iterable<Uint8Array>, secondsMax: number | null = null) {
  const file = await sourceOf(chunks);
  const decoder = await FileDecoder.open(file, (source) =>
    decodings.open(source, 'org_1', new AbortController().signal),
  );
  const pieces: Buffer[] = [];
  for await (const piece of decoder.audio(RATE, secondsMax)) pieces.push(Buffer.from(piece));
  const bytes = new Uint8Array(Buffer.concat(pieces));
  return { samples: new Int16Array(bytes.buffer), seconds: decoder.seconds, isDamaged: decoder.isDamaged };
}

export async function failureOf(outcome: Promise<unknown>) {
  const error = await outcome.then(
    () => undefined,
    (fault: unknown) => fault,
  );
  if (!(error instanceof LegFailed)) throw new Error(`It did not fail as a leg does: ${String(error)}`);
  return error.failure;
}

/** One of each container and codec. */
export const KINDS = ['cbr.mp3', 'flac.flac', 'flac.ogg', 'opus.ogg', 'vorbis.ogg', 'opus.webm'];
