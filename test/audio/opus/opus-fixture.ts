// What the tests of live Opus share: recordings, packets out of them, and what a stream of them sounds like.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type OpusDecoder, openOpusDecoder } from '../../../src/audio/codecs/opus-decoder.ts';
import { OggPackets } from '../../../src/audio/streams/ogg-packets.ts';
import { type OpusEncoding, OpusStream } from '../../../src/audio/streams/opus-stream.ts';
import type { Random } from '../../fakes/random.ts';

export const recording = (name: string): Buffer<ArrayBuffer> =>
  readFileSync(join(import.meta.dirname, '../../fixtures/audio/formats', name));

/** The packets of an Ogg file, as a client would send them one by one. */
export function packetsOf(ogg: Uint8Array): Uint8Array[] {
  const source = new OggPackets();
  source.push(ogg);
  const packets: Uint8Array[] = [];
  for (let piece = source.next(); piece !== undefined; piece = source.next()) {
    if (piece instanceof Uint8Array) packets.push(new Uint8Array(piece));
  }
  return packets;
}

/** Pieces of one to `bytesMax` bytes. */
export function cut(bytes: Uint8Array, random: Random, bytesMax: number): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = random.integer(1, bytesMax);
    pieces.push(bytes.subarray(at, at + length));
    at += length;
  }
  return pieces;
}

export function joined(parts: readonly Float32Array[]): Float32Array {
  const samples = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    samples.set(part, at);
    at += part.length;
  }
  return samples;
}

export interface Heard {
  samples: Float32Array;
  damaged: number;
  heldBytes: number;
  /** The most that was held between two messages. */
  heldBytesMax: number;
  /** Pieces that were given out, with and without sound. */
  pieces: number;
  fault: unknown;
}

/** Hears messages to their end, or to the first that cannot be heard. */
export async function hear(
  encoding: OpusEncoding,
  messages: readonly Uint8Array[],
  rate = 16_000,
  /** One that is used for many; it stays open. */ kept?: OpusDecoder,
): Promise<Heard> {
  const decoder = kept ?? (await openOpusDecoder(rate));
  const stream = new OpusStream(encoding, decoder, rate);
  const parts: Float32Array[] = [];
  let [pieces, heldBytesMax, fault] = [0, 0, undefined as unknown];
  try {
    for (const message of messages) {
      // Each is valid during the call only.
      const transient = new Uint8Array(message);
      stream.push(transient);
      for (let part = stream.next(); part !== undefined; part = stream.next()) {
        pieces++;
        if (part.length > 0) parts.push(part.slice());
      }
      transient.fill(0xa5);
      heldBytesMax = Math.max(heldBytesMax, stream.heldBytes);
    }
  } catch (error) {
    fault = error;
  } finally {
    if (kept === undefined) decoder.free();
  }
  return { samples: joined(parts), damaged: stream.damaged, heldBytes: stream.heldBytes, heldBytesMax, pieces, fault };
}

export const loudness = (samples: Float32Array): number =>
  Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, samples.length));

/** The pages of an Ogg file. */
export function pagesOf(ogg: Buffer<ArrayBuffer>): Buffer<ArrayBuffer>[] {
  const starts: number[] = [];
  for (let at = ogg.indexOf('OggS'); at >= 0; at = ogg.indexOf('OggS', at + 4)) starts.push(at);
  return starts.map((at, index) => ogg.subarray(at, starts[index + 1]));
}

/** Writes the checksum of a page again. */
export function sealed(page: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> {
  page.writeUInt32LE(0, 22);
  let crc = 0;
  for (const byte of page) {
    crc ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000_0000 ? (crc << 1) ^ 0x04c1_1db7 : crc << 1;
  }
  page.writeUInt32LE(crc >>> 0, 22);
  return page;
}

export const areAlike = (one: Float32Array, other: Float32Array): boolean =>
  Buffer.from(one.buffer, one.byteOffset, one.byteLength).equals(
    Buffer.from(other.buffer, other.byteOffset, other.byteLength),
  );
