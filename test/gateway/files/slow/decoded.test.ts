// Files of every kind for the embedded recogniser, through the whole gateway: the words and times of the WAV that they were made of.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type LiveGateway, startLiveGateway } from '../../../fakes/processes/live-gateway.ts';

const AUDIO = join(import.meta.dirname, '../../../fixtures/audio');
const NEAR_SECONDS = 0.05;
/** Where a word fades away is not the same sound at 12 kbit/s. */
const FADED_SECONDS = 0.08;

interface Answer {
  text: string;
  duration: number;
  words: { word: string; start: number; end: number }[];
  error: { code: string; param: string | null; message: string };
}

let live: LiveGateway;
beforeAll(async () => {
  live = await startLiveGateway();
});

async function heard(bytes: Uint8Array<ArrayBuffer>, name: string): Promise<{ status: number; answer: Answer }> {
  const form = new FormData();
  form.append('model', 'local/commands-en');
  form.append('response_format', 'verbose_json');
  form.append('timestamp_granularities[]', 'word');
  form.append('file', new Blob([bytes]), name);
  const response = await live.request('/v1/audio/transcriptions', { method: 'POST', body: form });
  return { status: response.status, answer: (await response.json()) as Answer };
}

const load = (name: string): Uint8Array<ArrayBuffer> => new Uint8Array(readFileSync(join(AUDIO, name)));

describe('the embedded recogniser', () => {
  let original: Answer;
  beforeAll(async () => {
    original = (await heard(load('commands.wav'), 'commands.wav')).answer;
  });

  it.each([
    ['cbr.mp3', 6],
    ['opus.ogg', 10],
    ['opus.webm', 10],
  ])('transcribes %s like the WAV file, with the same words and times', async (name, seconds) => {
    const { status, answer } = await heard(load(`formats/${name}`), name);
    expect([status, Math.abs(answer.duration - seconds) < 0.05]).toEqual([200, true]);
    // What is cut in two at the end of the file may be heard as something else.
    const before = ({ end }: { end: number }) => end < seconds - 1.5;
    const expected = original.words.filter(before);
    expect(expected.length).toBeGreaterThan(1);
    const got = answer.words.slice(0, expected.length);
    expect(got.map(({ word }) => word)).toEqual(expected.map(({ word }) => word));
    for (const [at, { start, end }] of expected.entries()) {
      expect(Math.abs(got[at]!.start - start)).toBeLessThanOrEqual(NEAR_SECONDS);
      expect(Math.abs(got[at]!.end - end)).toBeLessThanOrEqual(FADED_SECONDS);
    }
  });

  it('transcribes FLAC under any file name', async () => {
    const { status, answer } = await heard(load('formats/flac.flac'), 'speech.wav');
    expect([status, answer.duration]).toEqual([200, 2]);
  });

  it.each([
    ['M4A', load('formats/aac.m4a'), /is MP4, and this model takes WAV, MP3, FLAC/],
    ['half a head of Ogg', load('formats/opus.ogg').slice(0, 20), /Ogg file cannot be decoded/],
    ['no audio', new Uint8Array(2_000).fill(7), /kind of the file is unknown/],
  ])('%s not at all, and says what it takes', async (name, bytes, message) => {
    const { status, answer } = await heard(bytes, name);
    expect([status, answer.error]).toEqual([
      400,
      expect.objectContaining({ code: 'unsupported_audio', param: 'file', message: expect.stringMatching(message) }),
    ]);
  });
});
