// Streams in a container that nobody declared: what is recognised, and that it sounds the same however it is cut into messages.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openOpusDecoder } from '../../../src/audio/codecs/opus-decoder.ts';
import { WavReader } from '../../../src/audio/containers/wav.ts';
import { PcmConverter } from '../../../src/audio/resampler.ts';
import type { OpusEncoding } from '../../../src/audio/streams/opus-stream.ts';
import { RecognisedStream } from '../../../src/audio/streams/recognised-stream.ts';
import { seeded } from '../../fakes/random.ts';
import { areAlike, cut, hear, joined, loudness, recording } from './opus-fixture.ts';

const RATE = 16_000;
const YES = readFileSync(join(import.meta.dirname, '../../fixtures/audio/yes.wav'));

async function recognised(messages: readonly Uint8Array[], rate = RATE): Promise<Float32Array> {
  const decoder = await openOpusDecoder(rate);
  const stream = new RecognisedStream(decoder, rate);
  const parts: Float32Array[] = [];
  try {
    for (const message of messages) {
      const transient = new Uint8Array(message);
      stream.push(transient);
      for (let part = stream.next(); part !== undefined; part = stream.next()) parts.push(part.slice());
      transient.fill(0xa5);
    }
    parts.push(stream.end().slice());
  } finally {
    decoder.free();
  }
  return joined(parts);
}

/** What a WAV file sounds like when it is read whole. */
function readWhole(wav: Uint8Array, rate = RATE): Float32Array {
  const reader = new WavReader();
  const samples = reader.push(wav).slice();
  const converter = new PcmConverter(reader.format?.sampleRate ?? 0, rate);
  const all = [...converter.push(samples), ...converter.end()];
  return Float32Array.from(all.slice(0, rate === reader.format?.sampleRate ? samples.length : all.length), (sample) =>
    Math.fround(sample / 32_768),
  );
}

const CUTS: [string, (bytes: Uint8Array) => Uint8Array[]][] = [
  ['in one message', (bytes) => [bytes]],
  ['behind a message of one byte', (bytes) => [bytes.subarray(0, 1), bytes.subarray(1)]],
  ['in messages of one to five bytes', (bytes) => cut(bytes, seeded(1), 5)],
  ['in messages of one to a thousand bytes', (bytes) => cut(bytes, seeded(2), 1_000)],
];

describe('a stream that is recognised by its first bytes', () => {
  it.each<[string, OpusEncoding]>([
    ['recorder/speech.webm', 'webm-opus'],
    ['recorder/recorder-sliced.webm', 'webm-opus'],
    ['opus-live.webm', 'webm-opus'],
    ['opus-stereo.webm', 'webm-opus'],
    ['opus.ogg', 'ogg-opus'],
  ])('sounds as %s does when it is declared', async (file, encoding) => {
    const bytes = recording(file);
    const { samples } = await hear(encoding, [bytes]);
    expect(loudness(samples)).toBeGreaterThan(0);
    for (const [name, cutOf] of CUTS)
      expect([name, areAlike(await recognised(cutOf(bytes)), samples)]).toEqual([name, true]);
  });

  it.each(['24-bit.wav', 'extensible.wav', 'float32.wav', 'mulaw.wav', 'rf64.wav', 'streamed.wav'])(
    'sounds as %s does when it is read as a file',
    async (file) => {
      const bytes = recording(`wav/${file}`);
      const whole = readWhole(bytes);
      for (const [name, cutOf] of CUTS)
        expect([name, areAlike(await recognised(cutOf(bytes)), whole)]).toEqual([name, true]);
    },
  );

  it.each([8_000, 16_000, 24_000, 48_000])('keeps every sample of a WAV file at %i Hz', async (rate) => {
    const samples = await recognised(cut(YES, seeded(3), 700), rate);
    expect(Math.abs(samples.length - ((YES.length - 44) / 2 / 16_000) * rate)).toBeLessThanOrEqual(3);
  });

  it('continues past the length in a WAV header, which its writer did not know', async () => {
    const short = Buffer.from(YES);
    short.writeUInt32LE(320, 40);
    expect(areAlike(await recognised([short]), await recognised([YES]))).toBe(true);
  });

  it.each<[string, Uint8Array, RegExp]>([
    ['MP4', recording('recorder/recorder.m4a'), /^The audio is MP4\. .* WebM or Ogg with Opus, or WAV/],
    ['FLAC', recording('flac.flac'), /^The audio is FLAC\. /],
    ['MP3', recording('cbr.mp3'), /is MP3|are not those of WebM, Ogg or WAV/],
    ['Ogg with Vorbis', recording('vorbis.ogg'), /has no Opus in it/],
    ['a WAV file of packed samples', recording('wav/adpcm.wav'), /coding \(format 2, 4 bits\) is not supported/],
    ['a recording without its first piece', recording('recorder/speech.webm').subarray(1_000), /from its first byte/],
    ['samples', YES.subarray(44), /declare the encoding and the sample rate/],
    ['silence', new Uint8Array(100), /declare the encoding and the sample rate/],
  ])('refuses %s, and says what is accepted', async (_, bytes, words) => {
    for (const [, cutOf] of CUTS) await expect(recognised(cutOf(bytes))).rejects.toThrow(words);
  });

  it('refuses a WAV stream below the rates of speech', async () => {
    const slow = Buffer.from(YES);
    slow.writeUInt32LE(4_000, 24);
    await expect(recognised([slow])).rejects.toThrow('at least 8000 Hz');
  });
});
