// Kinds of files that the embedded recogniser decodes, through the whole gateway: the words of the WAV file that they were made of.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { honestFiles } from '../../../../audio/length/honest/made.ts';
import { type LiveGateway, startLiveGateway } from '../../../../fakes/processes/live-gateway.ts';

const AUDIO = join(import.meta.dirname, '../../../../fixtures/audio');
const load = (name: string): Buffer<ArrayBuffer> => Buffer.from(readFileSync(join(AUDIO, name)));
const honest = new Map(honestFiles().map((file) => [file.name, file]));

let live: LiveGateway;
beforeAll(async () => {
  live = await startLiveGateway();
});

async function heard(bytes: Buffer<ArrayBuffer>) {
  const form = new FormData();
  form.append('model', 'local/commands-en');
  form.append('response_format', 'verbose_json');
  form.append('file', new Blob([bytes]), 'audio');
  const response = await live.request('/v1/audio/transcriptions', { method: 'POST', body: form });
  const answer = (await response.json()) as {
    text: string;
    duration: number;
    warnings?: { code: string }[];
    error?: { code: string; message: string };
  };
  return { status: response.status, answer, codes: (answer.warnings ?? []).map(({ code }) => code) };
}

/** The samples of a WAV file of 16 bits, without its header. */
const samplesOf = (wav: Buffer): Buffer => wav.subarray(44);
const swapped = (samples: Buffer): Buffer => Buffer.from(samples).swap16();

const word = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

function auOf(samples: Buffer): Buffer<ArrayBuffer> {
  const head = [0x2e_73_6e_64, 24, samples.length, 3, 16_000, 1].map(word);
  return Buffer.concat([...head, swapped(samples)]);
}

function cafOf(samples: Buffer): Buffer<ArrayBuffer> {
  const rate = Buffer.alloc(8);
  rate.writeDoubleBE(16_000);
  const description = Buffer.concat([rate, Buffer.from('lpcm'), ...[2, 2, 1, 1, 16].map(word)]);
  const chunk = (name: string, body: Buffer) => Buffer.concat([Buffer.from(name), word(0), word(body.length), body]);
  return Buffer.concat([
    Buffer.from('caff\0\x01\0\0', 'latin1'),
    chunk('desc', description),
    chunk('free', Buffer.alloc(3_000)),
    chunk('data', Buffer.concat([word(0), samples])),
  ]);
}

describe('the embedded recogniser reads the words of', () => {
  const wav = load('yes.wav');
  const samples = samplesOf(wav);
  let expected: string;
  beforeAll(async () => {
    expected = (await heard(wav)).answer.text;
    expect(expected).not.toBe('');
  });

  it.each<[string, Buffer<ArrayBuffer>]>([
    ['AU', auOf(samples)],
    ['CAF with chunks in front of its samples', cafOf(samples)],
    ['WAV after a tag of ID3', Buffer.concat([Buffer.from('ID3\x03\0\0\0\0\0\x0a0123456789', 'latin1'), wav])],
  ])('%s', async (_, bytes) => {
    const { status, answer, codes } = await heard(bytes);
    expect([status, answer.text, codes]).toEqual([200, expected, []]);
  });
});

describe('the embedded recogniser reads', () => {
  it.each([
    's16be.aiff',
    's24be.aiff',
    'f32be.aiff',
    'alaw.aiff',
    's16be.au',
    'mulaw.au',
    'f32be.au',
    's16le.caf',
    's24be.caf',
    'f32le.caf',
    's16le.w64',
    'f32le.w64',
    'mulaw.w64',
    'rifx.wav',
    'layer2-44100.mp2',
  ])('%s', async (name) => {
    const { status, answer } = await heard(honest.get(name)!.bytes);
    expect(status).toBe(200);
    expect(Math.abs(answer.duration - 1)).toBeLessThan(0.06);
  });

  it.each<[string, Buffer<ArrayBuffer>, number]>([
    ['FLAC after a tag of ID3', load('cases/id3.flac'), 3.28],
    ['MP3 that begins inside a frame', load('cases/cutstart.mp3'), 3.35],
    ['MP3 after zeros', Buffer.concat([Buffer.alloc(5_000), load('cases/cutstart.mp3')]), 3.35],
    ['WAV with a chunk of odd length and no padding', load('cases/list-odd-unpadded.wav'), 1],
  ])('%s', async (_, bytes, seconds) => {
    const { status, answer } = await heard(bytes);
    expect([status, Math.abs(answer.duration - seconds) < 0.1]).toEqual([200, true]);
  });

  it('reads a truncated Ogg file, with a warning', async () => {
    const { status, answer, codes } = await heard(load('cases/trunc.ogg'));
    expect([status, codes.includes('audio_damaged')]).toEqual([200, true]);
    expect(Math.abs(answer.duration - 1.6)).toBeLessThan(0.1);
  });

  it('reads a truncated WAV file, with a warning', async () => {
    const { status, codes } = await heard(load('yes.wav').subarray(0, 20_000));
    expect([status, codes.includes('audio_damaged')]).toEqual([200, true]);
  });

  it.each(['adts-16000.aac', 'narrow.amr', 'wma2-16000.wma', 'alac.caf'])(
    '%s not, and says what it reads',
    async (name) => {
      const { status, answer } = await heard(honest.get(name)!.bytes);
      expect([status, answer.error]).toMatchObject([
        400,
        { code: 'unsupported_audio', message: expect.stringMatching(/this model takes WAV, MP3, FLAC, .*AIFF/i) },
      ]);
    },
  );
});
