// Containers that are decoded for models that hear files live: each as its encoder wrote it, what is refused, and what is bounded.
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { WavReader } from '../../src/audio/containers/wav.ts';
import { PcmConverter } from '../../src/audio/resampler.ts';
import { FileDecodings } from '../../src/files/decoding/decoding.ts';
import { FileSource } from '../../src/files/file-source.ts';
import { decoded, decodings, failureOf, faults, load, overflows, RATE, sourceOf } from './decoded.ts';

/** The speech that a file was made of, at 16 kHz. */
function speechIn(name: string): Int16Array {
  const reader = new WavReader();
  const samples = reader.push(load(name)).slice();
  const converter = new PcmConverter(reader.format!.sampleRate, RATE);
  return Int16Array.from([...converter.push(samples), ...(reader.format!.sampleRate === RATE ? [] : converter.end())]);
}

const EXAMINED = { from: 4_000, samples: 24_000 };

/** Milliseconds by which the sound lies behind the original: where the two are most alike. */
function lagMs(samples: Int16Array, original: Int16Array): number {
  let best = { likeness: Number.NEGATIVE_INFINITY, lag: 0 };
  for (let lag = -2_000; lag <= 2_000; lag += 4) {
    let likeness = 0;
    for (let at = 0; at < EXAMINED.samples; at += 3) {
      likeness += (samples[EXAMINED.from + at + lag] ?? 0) * (original[EXAMINED.from + at] ?? 0);
    }
    if (likeness > best.likeness) best = { likeness, lag };
  }
  return best.lag / 16;
}

const FILES: readonly [name: string, original: string, seconds: number][] = [
  ['cbr.mp3', 'commands.wav', 6],
  ['vbr-xing.mp3', 'commands.wav', 6],
  ['vbr-headerless.mp3', 'commands.wav', 6],
  ['flac.flac', 'yes.wav', 2],
  ['flac-streamed.flac', 'yes.wav', 2],
  ['flac.ogg', 'yes.wav', 2],
  ['opus.ogg', 'commands.wav', 10],
  ['vorbis.ogg', 'commands.wav', 4],
  ['opus.webm', 'commands.wav', 10],
  ['opus-live.webm', 'commands.wav', 10],
];
describe('a file of every kind', () => {
  it.each(FILES)('%s has the sound of %s, all of it and where it was', async (name, original, seconds) => {
    const bytes = load(`formats/${name}`);
    const { samples, seconds: heard, isDamaged } = await decoded([bytes]);
    expect(Math.abs(heard - seconds)).toBeLessThan(0.03);
    expect(samples.length / RATE).toBeCloseTo(heard, 3);
    expect(Math.abs(lagMs(samples, speechIn(original)))).toBeLessThan(10);
    expect(isDamaged).toBe(false);
  });

  it.each(['recorder/recorder.webm', 'recorder/recorder-sliced.webm'])('%s, as a browser made it', async (name) => {
    const { seconds, isDamaged } = await decoded([load(`formats/${name}`)]);
    expect([Math.abs(seconds - 6) < 0.1, isDamaged]).toEqual([true, false]);
  });

  it('transcribes two concatenated Ogg streams one after the other', async () => {
    const bytes = load('formats/opus.ogg');
    const { seconds } = await decoded([bytes, bytes]);
    expect(Math.abs(seconds - 20)).toBeLessThan(0.06);
  });
});

it('transcribes a truncated file up to there, and reports it', async () => {
  const bytes = load('formats/opus.webm');
  const { seconds, isDamaged } = await decoded([bytes.subarray(0, 10_000)]);
  expect([seconds > 4, seconds < 9, isDamaged]).toEqual([true, true, true]);
});

describe('a file without sound that is known here', () => {
  const patched = (from: string, to: string) =>
    Buffer.from(load('formats/opus.webm').toString('latin1').replace(from, to), 'latin1');

  it('names the codec of a WebM', async () => {
    const { message } = await failureOf(decoded([patched('A_OPUS', 'A_ALAC')]));
    expect(message).toContain('its sound is ALAC, and of WebM only Opus is decoded');
  });

  it('says of a video alone that there is no sound in it', async () => {
    const { message } = await failureOf(decoded([asVideo(patched('A_OPUS', 'V_THEO'))]));
    expect(message).toContain('there is no sound in it');
  });

  it.each(['aac.m4a', 'opus-fragmented.m4a', 'recorder/recorder.m4a'])('names %s, and what is taken', async (name) => {
    const { code, message } = await failureOf(decoded([load(`formats/${name}`)]));
    expect(code).toBe('unsupported_format');
    expect(message).toMatch(/^The file is MP4, and this model takes WAV, MP3, FLAC, .*Convert it/);
  });

  /** The type of its track. */
  function asVideo(bytes: Buffer): Buffer {
    const at = bytes.indexOf(Buffer.of(0x83, 0x81, 0x02));
    bytes[at + 2] = 1;
    return bytes;
  }
});

describe('files at once', () => {
  const begin = async (organisation: string) =>
    decodings.open(await sourceOf([load('formats/cbr.mp3')]), organisation, new AbortController().signal);

  it('stop at a bound, in total and per organisation, by name', async () => {
    const open = [];
    for (let count = 0; count < 12; count++) open.push(await begin('org_1'));
    expect(await failureOf(begin('org_1'))).toMatchObject({ kind: 'next', code: 'decoders_busy', own: true });
    for (let count = 0; count < 3; count++) open.push(await begin('org_2'));
    expect(await failureOf(begin('org_2'))).toMatchObject({
      message: expect.stringContaining('as one organisation may'),
    });
    open.push(await begin('org_3'));
    expect(await failureOf(begin('org_4'))).toMatchObject({
      message: expect.stringContaining('as many files as it can'),
    });
    expect(overflows).toEqual(['decoded_files', 'decoded_files', 'decoded_files']);
    for (const each of open) each.close();
    const next = await begin('org_3');
    expect((await next.next())?.length).toBeGreaterThan(0);
    next.close();
  });

  it('release thread and file when the client leaves', async () => {
    const client = new AbortController();
    let isLetGo = false;
    const file = await FileSource.open({
      bytes: undefined,
      rawSampleRate: undefined,
      read: async function* () {
        try {
          for (;;) yield load('formats/cbr.mp3');
        } finally {
          isLetGo = true;
        }
      },
    });
    const decoding = decodings.open(file, 'org_1', client.signal);
    await decoding.next();
    const waiting = decoding.next();
    client.abort(new Error('The client is gone.'));
    await expect(waiting).rejects.toThrow('The client is gone.');
    expect([decodings.size, isLetGo, faults]).toEqual([0, true, []]);
  });

  it('fail when their thread is silent, and the next gets another thread', async () => {
    const clock = new SimulatedClock();
    const hanging = new FileDecodings({ clock, onFault: (error) => faults.push(error) });
    const begun = async () =>
      hanging.open(await sourceOf([load('formats/cbr.mp3')]), 'org_1', new AbortController().signal);
    const first = await begun();
    const failed = failureOf(first.next());
    clock.increment(10_000);
    expect(await failed).toMatchObject({ kind: 'caller', code: 'audio_unusable' });
    expect([hanging.size, faults.map(({ message }) => message)]).toEqual([
      0,
      ['The thread that decodes a file failed. It said nothing for 10 s.'],
    ]);
    const second = await begun();
    expect((await second.next())?.length).toBeGreaterThan(0);
    second.close();
  });
});
