// When audio looks like two channels in one, or like floating point: interleaved stereo and floats of every kind are noticed, and no
// single channel of integers is taken for them.
import { describe, expect, it } from 'vitest';
import { LayoutWatch, type OddLayout } from '../../../../src/live/session/audio/format-watch.ts';
import { samplesOf } from '../../../fakes/audio/numbered-audio.ts';
import { sampleAudio, samples } from '../../../fakes/processes/live-gateway.ts';
import { seeded } from '../../../fakes/random.ts';
import { SessionRig } from '../../../fakes/session-rig.ts';

const SPOKEN = samples()
  .filter(({ text }) => text !== '')
  .map(({ file }) => file);
const voice = (file: string) => samplesOf(sampleAudio(file).pcm);
const [ONE, OTHER] = [voice('commands.wav'), voice('alignment.wav')];

const bytesOf = (mono: ArrayLike<number>) => new Uint8Array(Int16Array.from(mono).buffer);

/** Two channels as a WAV file has them. */
function interleaved(left: ArrayLike<number>, right: ArrayLike<number>): Uint8Array {
  const length = Math.min(left.length, right.length);
  return bytesOf(Array.from({ length: 2 * length }, (_, at) => (at % 2 === 0 ? left : right)[at >> 1] ?? 0));
}

/** What is told, in pieces of this size. */
function told(bytes: Uint8Array, pieceBytes = 640): OddLayout[] {
  const watch = new LayoutWatch();
  const layouts: OddLayout[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const layout = watch.note(bytes.subarray(at, at + pieceBytes));
    if (layout !== undefined) layouts.push(layout);
  }
  return layouts;
}

/** As Web Audio has it. */
const floats = (mono: ArrayLike<number>, loud = 1) =>
  new Uint8Array(Float32Array.from(mono, (sample) => (sample * loud) / 32_768).buffer);

const noise = (loud: number, seed: number) => {
  const { next } = seeded(seed);
  return Float64Array.from({ length: 60_000 }, () => (next() - 0.5) * loud);
};
const tone = (hertz: number, rate = 16_000, phase = 0) =>
  Float64Array.from({ length: 60_000 }, (_, at) => 9_000 * Math.sin((2 * Math.PI * hertz * at) / rate + phase));

const HISS = noise(100, 3);

describe('the layout watch', () => {
  it.each<[string, Uint8Array, OddLayout?]>([
    ['one voice on both channels', interleaved(ONE, ONE)],
    [
      'one voice on both, one of them quieter',
      interleaved(
        ONE,
        ONE.map((sample) => sample * 0.7),
      ),
    ],
    [
      'one voice on both with the hiss of two microphones',
      interleaved(
        ONE,
        ONE.map((sample, at) => sample + (HISS[at] ?? 0)),
      ),
    ],
    ['a voice and silence', interleaved(ONE, new Int16Array(ONE.length))],
    ['silence and a voice', interleaved(new Int16Array(ONE.length), ONE)],
    ['two people', interleaved(ONE, OTHER)],
    ['floating point', floats(ONE), 'floating_point'],
    ['quiet floating point', floats(ONE, 0.05), 'floating_point'],
    ['floating point of two channels', floats(Array.from(ONE).flatMap((sample) => [sample, sample])), 'floating_point'],
  ])('notices %s, once, in pieces of any size', (_, bytes, layout = 'two_channels') => {
    for (const size of [1, 3, 640, 4_097, bytes.length]) expect(told(bytes, size)).toEqual([layout]);
    // Cut within a pair of samples.
    expect(told(bytes.subarray(2))).toEqual([layout]);
  });

  it.each(SPOKEN)('trusts %s, at its own rate and as telephones have it', (file) => {
    const mono = voice(file);
    const { sampleRate } = sampleAudio(file);
    expect(told(bytesOf(mono))).toEqual([]);
    if (sampleRate > 8_000) expect(told(bytesOf(mono.filter((_, at) => at % 2 === 0)))).toEqual([]);
  });

  it.each<[string, ArrayLike<number>]>([
    ['a tone of plain steps', tone(250).map((sample) => Math.sign(sample) * 8_000)],
    ['loud noise', noise(30_000, 1)],
    ['quiet noise', noise(600, 2)],
    ['silence', new Int16Array(60_000)],
    ['a constant', new Int16Array(60_000).fill(9_000)],
    ['a click in silence', Int16Array.from({ length: 60_000 }, (_, at) => (at % 5_000 === 0 ? 30_000 : 0))],
    ...[50, 440, 1_000, 2_000, 4_000, 5_333, 7_000, 7_900].flatMap((hertz): [string, ArrayLike<number>][] => [
      [`a tone of ${hertz} Hz`, tone(hertz)],
      [`a tone of ${hertz} Hz, between samples`, tone(hertz, 16_000, Math.PI / 4)],
    ]),
  ])('trusts %s', (_, mono) => {
    expect(told(bytesOf(mono))).toEqual([]);
  });

  it('finishes after the first loud second, or after two minutes of quiet', () => {
    const later = (first: Uint8Array) => told(Buffer.concat([first, interleaved(ONE, ONE)]));
    expect(later(bytesOf(tone(440)))).toEqual([]);
    expect(later(new Uint8Array(32_000 * 60))).toEqual(['two_channels']);
    expect(later(new Uint8Array(32_000 * 140))).toEqual([]);
  });

  it.each<[string, Uint8Array, string, string]>([
    ['two channels', interleaved(ONE, ONE), 'audio_channels_suspect', 'two interleaved channels'],
    ['floating point', floats(ONE), 'audio_encoding_suspect', 'a 16-bit integer'],
  ])('warns the client once of %s, and the audio is still transcribed', async (_, bytes, code, words) => {
    const rig = new SessionRig();
    const client = await rig.open();
    client.session.audio(bytes.subarray(0, 200_000));
    expect(client.of('warning')).toMatchObject([{ code, message: expect.stringContaining(words) }]);
  });
});
