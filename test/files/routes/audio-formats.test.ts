// Files as encoders and browsers write them: what they are taken for, how long money is held and charged for, and how many
// samples a model hears of those that are decoded here.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { sniffContainer } from '../../../src/audio/containers/detection.ts';
import { WavReader } from '../../../src/audio/containers/wav.ts';
import { secondsAtMost } from '../../../src/audio/scan.ts';
import { FileSource } from '../../../src/files/file-source.ts';
import { LengthMeter } from '../../../src/files/measuring/length-meter.ts';
import { fileMembers } from '../../../src/files/money/file-reservations.ts';
import { lengthOf } from '../../../src/files/money/length.ts';
import type { FormFile } from '../../../src/http/multipart/form.ts';
import type { ResolvedCandidate } from '../../../src/live/failover/chain.ts';
import { systemClock } from '../../../src/runtime/telemetry/clock.ts';
import { MP3_FRAME_SECONDS, mp3, type WavShape, wavOf } from '../../fakes/audio/audio-files.ts';

const FOLDER = join(import.meta.dirname, '../../fixtures/audio/formats');
const PRICE = { unit: 'minute', microUsd: 600_000n, minimumMicroUsd: 0n } as const;

const meter = new LengthMeter({ clock: systemClock });
afterAll(() => meter.close());

const load = (name: string): Buffer => readFileSync(join(FOLDER, name));

function formFile(bytes: Buffer): FormFile {
  return {
    filename: 'audio',
    contentType: undefined,
    size: bytes.length,
    head: bytes.subarray(0, 65_536),
    pieces: undefined,
    read: () => {
      throw new Error('Whoever measures reads by position.');
    },
    readAt: async (position, length) => bytes.subarray(position, position + length),
  };
}

/** As the endpoint goes about it: what money is held for, and what is charged where the provider says nothing. */
async function lengthsOf(bytes: Buffer): Promise<{ title: string; held: number; charged: number | undefined }> {
  const { secondsMax: held, seconds } = await lengthOf(formFile(bytes), true, meter, 'org_1');
  const source = await FileSource.open({
    bytes: bytes.length,
    rawSampleRate: undefined,
    ...(seconds === undefined ? {} : { seconds }),
    read: async function* () {
      yield bytes;
    },
  });
  return { title: source.kind.kind === 'container' ? source.kind.title : 'raw', held, charged: source.seconds };
}

/** Of the kinds here, and what encoders put in front or behind to fill the last one. */
const PACKET_SECONDS_MAX = 0.081;
/** The frame with the tag, and the silence that encoders of MP3 add at both ends: held, and not charged. */
const ENCODER_SECONDS_MAX = 0.05;

/** Seconds by ffprobe, or by its packets where it guesses (`vbr-headerless.mp3`) or says nothing. */
const KNOWN: readonly [name: string, title: string, seconds: number][] = [
  // Without what the encoder put in front and behind, as the tag says.
  ['cbr.mp3', 'MP3', 6],
  ['reading.mp3', 'MP3', 10.74],
  ['reading.ogg', 'Ogg', 10.74],
  ['reading.webm', 'WebM or Matroska', 10.74],
  ['vbr-xing.mp3', 'MP3', 6],
  ['vbr-headerless.mp3', 'MP3', 6.084],
  ['flac.flac', 'FLAC', 2],
  ['flac-streamed.flac', 'FLAC', 2],
  ['flac.ogg', 'Ogg', 2],
  ['opus.ogg', 'Ogg', 10.0065],
  ['vorbis.ogg', 'Ogg', 4],
  ['opus.webm', 'WebM or Matroska', 10.008],
  ['opus-live.webm', 'WebM or Matroska', 10.008],
  ['opus-stereo.webm', 'WebM or Matroska', 2.197],
  ['recorder/recorder.webm', 'WebM or Matroska', 5.9389],
  ['recorder/recorder-sliced.webm', 'WebM or Matroska', 6.007],
  ['recorder/speech.webm', 'WebM or Matroska', 6],
  ['aac.m4a', 'MP4', 6],
  ['aac-fragmented.m4a', 'MP4', 6.064],
  ['opus-fragmented.m4a', 'MP4', 6.0065],
  ['recorder/recorder.m4a', 'MP4', 5.9596],
  ['wav/24-bit.wav', 'WAV', 0.8],
  ['wav/float32.wav', 'WAV', 0.8],
  ['wav/mulaw.wav', 'WAV', 0.8],
  ['wav/extensible.wav', 'WAV', 0.4],
  ['wav/list.wav', 'WAV', 0.8],
  ['wav/streamed.wav', 'WAV', 0.8],
  ['wav/rf64.wav', 'WAV (64-bit)', 0.8],
  ['wav/adpcm.wav', 'WAV', 6.108],
];

describe('the length of a file', () => {
  it.each(KNOWN)(
    '%s, which is %s, is measured within one percent or one packet of %f s',
    async (name, title, seconds) => {
      const lengths = await lengthsOf(load(name));
      expect(lengths.title).toBe(title);
      const packet = Math.max(seconds * 0.01, PACKET_SECONDS_MAX);
      expect(Math.abs((lengths.charged ?? 0) - seconds)).toBeLessThan(packet);
      expect(lengths.held).toBeGreaterThan(seconds - packet);
      expect(lengths.held).toBeLessThan(seconds + packet + ENCODER_SECONDS_MAX);
    },
  );

  it('matches for every file that is kept here', () => {
    const named = KNOWN.map(([name]) => name);
    const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('.'));
    expect(files.sort()).toEqual([...named, 'README.md'].sort());
  });

  it.each(KNOWN.map(([name]) => name))('%s cut off anywhere is never longer than it was', async (name) => {
    const bytes = load(name);
    const whole = (await lengthsOf(bytes)).held;
    for (let step = 1; step < 12; step++) {
      const cut = bytes.subarray(0, Math.floor((bytes.length * step) / 12));
      const { held } = await lengthsOf(cut);
      expect(Number.isFinite(held) && held >= 0).toBe(true);
      const atMost = secondsAtMost(sniffContainer(bytes), cut.length);
      expect(held).toBeLessThan(Math.max(whole, atMost) * 1.01 + 0.001);
    }
  });
});

describe('a WAV file whose header does not say how decoders read it', () => {
  const SECONDS = 2;
  const bytesOfSpeech = SECONDS * 8_000;
  const PLAIN = { sampleRate: 8_000, bits: 8 };
  /** Packed audio under a header of eight channels of 64 bits at 96 kHz. */
  const packed = (coding: number) => {
    const frames = mp3(Math.ceil(SECONDS / MP3_FRAME_SECONDS));
    const file = Buffer.concat([wavOf(0, { sampleRate: 96_000, channels: 8, bits: 64, said: frames.length }), frames]);
    file.writeUInt16LE(coding, 20);
    return file;
  };
  /** The format of one file in front of the format and the samples of another. */
  const twoFormats = (first: WavShape, second: WavShape) => {
    const file = wavOf(bytesOfSpeech, second);
    return Buffer.concat([wavOf(0, first).subarray(0, 36), file.subarray(12)]);
  };
  const FAST = { sampleRate: 192_000, channels: 8, bits: 32 };
  const samples = wavOf(bytesOfSpeech, PLAIN);

  it.each<[string, Buffer]>([
    ['is of MP3', packed(0x55)],
    ['names its format twice, the slow one first', twoFormats(PLAIN, FAST)],
    ['names its format twice, the slow one last', twoFormats(FAST, PLAIN)],
    ['has its samples behind a second mark', Buffer.concat([wavOf(80, PLAIN), samples.subarray(36)])],
    [
      'has them behind a second mark at an odd byte',
      Buffer.concat([wavOf(81, PLAIN), samples.subarray(36, 40), Buffer.from('tags'), samples.subarray(44)]),
    ],
  ])('holds and charges everything in it where it %s', async (_, file) => {
    const { held, charged } = await lengthsOf(file);
    expect(held).toBeGreaterThanOrEqual(SECONDS);
    expect(charged).toBeGreaterThanOrEqual(SECONDS);
    expect(held).toBeLessThan(SECONDS * 1.05);
  });

  it('holds by its bytes for an unknown codec', async () => {
    const file = packed(0xff);
    const { held, charged } = await lengthsOf(file);
    expect([held, charged]).toEqual([secondsAtMost('WAV', file.length), undefined]);
  });
});

describe('a WAV file for a model that takes samples', () => {
  it.each<[string, number]>([
    ['wav/24-bit.wav', 6400],
    ['wav/float32.wav', 6400],
    ['wav/mulaw.wav', 6400],
    ['wav/extensible.wav', 3200],
    ['wav/list.wav', 6400],
    ['wav/streamed.wav', 6400],
    ['wav/rf64.wav', 6400],
  ])('%s has %i samples, cut into pieces of any size', (name, expected) => {
    const bytes = load(name);
    const heard = [1, 7, 4096, bytes.length].map((size) => {
      const reader = new WavReader();
      const samples: number[] = [];
      for (let at = 0; at < bytes.length; at += size) samples.push(...reader.push(bytes.subarray(at, at + size)));
      reader.end();
      expect(reader.format?.sampleRate).toBe(8000);
      return samples;
    });
    for (const samples of heard) expect(samples).toEqual(heard[0]);
    expect(heard[0]).toHaveLength(expected);
    // Speech, and not the bytes of a header or of another coding.
    const loudness = Math.sqrt(heard[0]!.reduce((sum, sample) => sum + sample * sample, 0) / expected);
    expect(loudness).toBeGreaterThan(100);
    expect(loudness).toBeLessThan(12_000);
  });

  it('adpcm.wav is refused by name of its coding', () => {
    expect(() => new WavReader().push(load('wav/adpcm.wav'))).toThrow(
      /its coding \(format 2, 4 bits\) is not supported/,
    );
  });

  it('ends at 64 bits where its header says, before anything that follows', () => {
    const bytes = Buffer.concat([load('wav/rf64.wav'), Buffer.from('LIST\x04\0\0\0junk', 'latin1')]);
    const reader = new WavReader();
    expect(reader.push(bytes)).toHaveLength(6400);
  });
});

describe('a file whose length stays unknown', () => {
  const codec = { kind: 'http', billsChannels: { whenAsked: 'multichannel' } };
  const member = (slug: string, capabilities = {}, params = {}) =>
    ({ slug, card: { capabilities }, provider: { batch: codec }, params }) as unknown as ResolvedCandidate;
  const priced = (slug: string, own = false) => ({ slug, own, price: PRICE });
  const silent = member('b/silent', { segment_timestamps: false });
  const UNKNOWN_LENGTH = { secondsMax: 1_000, channels: 1, seconds: undefined };
  const of = (members: ResolvedCandidate[], isOwn = false) =>
    fileMembers(
      members,
      members.map(({ slug }) => priced(slug, isOwn && slug !== 'a/times')),
      UNKNOWN_LENGTH,
    );

  it('fails where one paid model of the chain reports no times', () => {
    const chain = [member('a/times'), silent];
    expect(() => of(chain)).toThrow(expect.objectContaining({ code: 'unsupported_audio' }));
    expect(() => of(chain)).toThrow(/b\/silent does not say it. Convert it to WAV, FLAC or MP3/);
  });

  it('fails where one model of the chain is paid per channel', () => {
    expect(() => of([member('a/times', {}, { multichannel: true })])).toThrow(
      /how many channels .* a\/times is billed by it/,
    );
  });

  it('passes where every model reports its length, or the customer’s key pays', () => {
    expect(of([member('a/times'), silent], true).map(({ channels }) => channels)).toEqual([1, 1]);
  });
});

describe('the channels that a model is paid for', () => {
  const LENGTH = { secondsMax: 5, channels: 8, seconds: 5 };
  it.each<[string, unknown, object, number]>([
    ['never billed', 'never', { multichannel: true }, 1],
    ['not requested', { whenAsked: 'multichannel' }, {}, 1],
    ['requested', { whenAsked: 'multichannel' }, { multichannel: true }, 8],
    ['always billed', 'always', {}, 8],
  ])('count for a file with eight, where they are %s', (_, billsChannels, params, channels) => {
    const provider = { batch: { kind: 'http', billsChannels } };
    const member = { slug: 'a/b', card: { capabilities: {} }, provider, params } as unknown as ResolvedCandidate;
    const price = { slug: 'a/b', own: false, price: PRICE };
    expect(fileMembers([member], [price], LENGTH)).toEqual([{ ...price, channels }]);
  });
});
