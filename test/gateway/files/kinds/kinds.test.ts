// Kinds of files: recognised by their first bytes, passed on to a provider as they are, measured and charged, with warnings about
// those that are not whole.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { honestFiles, isRight } from '../../../audio/length/honest/made.ts';
import { wavOf } from '../../../fakes/audio/audio-files.ts';
import { answer } from '../../../live/upstream/http-batch-fixture.ts';
import { expectNothingLeft, MEMORY_BYTES_MAX, reservations, send, server } from '../files-fixture.ts';

const PAID: [string, string] = ['model', 'second/file'];
const FREE: [string, string] = ['model', 'straight/file'];
const CASES = join(import.meta.dirname, '../../../fixtures/audio/cases');
const load = (name: string): Buffer<ArrayBuffer> => Buffer.from(readFileSync(join(CASES, name)));
const honest = new Map(honestFiles().map((file) => [file.name, file]));

/** What the provider was sent, and what was charged. */
async function sent(bytes: Buffer<ArrayBuffer>, model = PAID) {
  server('second').answers = [answer({ text: 'heard' })];
  const result = await send([model, ['response_format', 'verbose_json']], bytes, '/files', 'application/octet-stream');
  const arrived = server(model === PAID ? 'second' : 'straight').arrived.at(-1);
  const charged = [...reservations.charges.values()].at(-1)?.seconds ?? 0;
  const warnings = (result.json.warnings ?? []) as { code: string }[];
  return { ...result, arrived, charged, codes: warnings.map(({ code }) => code) };
}

describe('a file of another kind than the most common ones', () => {
  it.each<[string, string]>([
    ['adts-16000.aac', 'audio/aac'],
    ['adts-tagged.aac', 'audio/aac'],
    ['layer2-44100.mp2', 'audio/mpeg'],
    ['s16be.aiff', 'audio/aiff'],
    ['alaw.aiff', 'audio/aiff'],
    ['mulaw.au', 'audio/basic'],
    ['s16le.caf', 'audio/x-caf'],
    ['alac.caf', 'audio/x-caf'],
    ['s16le.w64', 'audio/x-w64'],
    ['rifx.wav', 'audio/wav'],
    ['narrow.amr', 'audio/amr'],
    ['wma2-16000.wma', 'audio/x-ms-wma'],
  ])('%s is passed on as it is, and charged for what is in it', async (name, contentType) => {
    const file = honest.get(name)!;
    const { status, arrived, charged, codes } = await sent(file.bytes);
    expect([status, codes]).toEqual([200, []]);
    expect(arrived?.headers['content-type']).toBe(contentType);
    expect(arrived?.body.equals(file.bytes)).toBe(true);
    expect({ charged, isRight: isRight(charged, file) }).toMatchObject({ isRight: true });
    await expectNothingLeft();
  });

  it.each<[string, Buffer<ArrayBuffer>, string, number]>([
    ['FLAC after a tag of ID3', load('id3.flac'), 'audio/flac', 3.28],
    ['FLAC after a tag with a picture', Buffer.concat([id3(700_000), load('id3.flac')]), 'audio/flac', 3.28],
    ['WAV after a tag of ID3', Buffer.concat([id3(500), wavOf(64_000)]), 'audio/wav', 2],
    ['MP3 that begins inside a frame', load('cutstart.mp3'), 'audio/mpeg', 3.38],
    ['MP3 after zeros', Buffer.concat([Buffer.alloc(5_000), load('cutstart.mp3')]), 'audio/mpeg', 3.38],
    ['MP3 after many zeros', Buffer.concat([Buffer.alloc(100_000), load('cutstart.mp3')]), 'audio/mpeg', 3.38],
    ['WAV with a chunk of odd length and no padding', load('list-odd-unpadded.wav'), 'audio/wav', 1],
  ])('%s is recognised and measured', async (_, bytes, contentType, seconds) => {
    const { status, arrived, charged, codes } = await sent(bytes);
    expect([status, arrived?.headers['content-type'], codes]).toEqual([200, contentType, []]);
    expect(charged).toBeCloseTo(seconds, 1);
  });

  it.each<[string, Buffer<ArrayBuffer>]>([
    ['AVI', Buffer.concat([Buffer.from('RIFF\x10\x27\0\0AVI LIST'), Buffer.alloc(5_000, 9)])],
    ['noise', Buffer.alloc(5_000, 7)],
    ['zeros', Buffer.alloc(50_000)],
  ])('%s is refused with the kinds that are known', async (_, bytes) => {
    const { status, json } = await sent(bytes);
    expect([status, json]).toMatchObject([
      400,
      { error: { code: 'unsupported_audio', message: expect.stringMatching(/WAV, MP3, .*AAC.*AIFF.*AMR, WMA/) } },
    ]);
  });
});

function id3(bytes: number): Buffer {
  const size = [bytes >> 21, bytes >> 14, bytes >> 7, bytes].map((byte) => byte & 0x7f);
  return Buffer.concat([Buffer.from('ID3\x03\0\0', 'latin1'), Buffer.from(size), Buffer.alloc(bytes, 0x41)]);
}

const cut = (name: string, share: number): Buffer<ArrayBuffer> => {
  const { bytes } = honest.get(name)!;
  return bytes.subarray(0, Math.floor(bytes.length * share));
};

describe('a file that is not whole', () => {
  it.each<[string, Buffer<ArrayBuffer>, number]>([
    ['a WAV file that is cut off', wavOf(64_000).subarray(0, 32_044), 1],
    ['the header of a WAV file alone', wavOf(0, { said: 64_000 }), 0],
    ['a WAV file without a sample', wavOf(0), 0],
    ['an AIFF file that is cut off', honest.get('s16be.aiff')!.bytes.subarray(0, 8_054), 0.5],
    ['an Ogg file that is cut off', load('trunc.ogg'), 1],
    ['a WebM file that is cut off', cut('opus-live.webm', 0.6), 0.6],
    ['a WAV file of GSM that is cut off', cut('gsm.wav', 0.6), 0.6],
    ['a WMA file that is cut off', cut('wma2-44100.wma', 0.5), 0.7],
    ['an MP4 file that is cut off', honest.get('aac-faststart.m4a')!.bytes.subarray(0, 6_000), 0.5],
    ['a FLAC file that is cut off', load('id3.flac').subarray(0, 20_000), 0.9],
  ])('%s is charged for what is there, with a warning', async (_, bytes, seconds) => {
    const { status, charged, codes } = await sent(bytes);
    expect([status, codes.includes('audio_damaged')]).toEqual([200, true]);
    expect(Math.abs(charged - seconds)).toBeLessThanOrEqual(0.15);
  });

  it('charges what arrived of an incomplete file that is streamed on', async () => {
    const bytes = wavOf(10 * MEMORY_BYTES_MAX, { said: 100 * MEMORY_BYTES_MAX });
    const { status, charged, codes } = await sent(bytes);
    expect([status, codes]).toEqual([200, ['audio_damaged']]);
    expect(charged).toBeCloseTo((10 * MEMORY_BYTES_MAX) / 32_000, 1);
  });

  it.each<[string, Buffer<ArrayBuffer>]>([
    ['two WAV files, one after the other', Buffer.concat([wavOf(16_000), wavOf(16_000)])],
    ['two WAV files that are sent on while they arrive', Buffer.concat([wavOf(640_000), wavOf(640_000)])],
    ['two WAV files of an odd length', Buffer.concat([wavOf(8_001, { channels: 1, bits: 8 }), wavOf(64_000)])],
  ])('%s come with a warning', async (_, bytes) => {
    const { status, codes } = await sent(bytes, FREE);
    expect([status, codes.includes('audio_continues')]).toEqual([200, true]);
  });

  it.each<[string, Buffer<ArrayBuffer>]>([
    ['a WAV file', wavOf(64_000)],
    ['a WAV file whose writer did not know its length', wavOf(64_000, { said: 0xffff_ffff })],
    ['a WAV file that a recorder left open', wavOf(64_000, { said: 0x7fff_ffff })],
    ['a WAV file with tags after its samples', Buffer.concat([wavOf(64_000), Buffer.from('LIST\x04\0\0\0INFO')])],
    ['an Ogg file', honest.get('opus-20.ogg')!.bytes],
    ['an MP4 file', honest.get('aac-faststart.m4a')!.bytes],
  ])('%s has no warning', async (_, bytes) => {
    expect((await sent(bytes)).codes).toEqual([]);
  });
});
