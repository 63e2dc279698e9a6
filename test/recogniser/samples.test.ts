// What the recogniser hears in the samples, through a pool of threads as the gateway uses it.
import { afterAll, describe, expect, test } from 'vitest';
import { SAMPLE_RATE, type StreamMessage } from '../../src/recogniser/protocol.ts';
import { RecogniserPool } from '../../src/recogniser/workers/pool.ts';
import { audioOf, Ear, finalsOf, queryOf, SAMPLES, type Sample, sample, textsOf } from './listening.ts';

const pool = new RecogniserPool({ workers: 2, streamsMax: 64, queueBytesMax: 1_048_576 });
afterAll(() => pool.close());

const isAligned = ({ model }: Sample) => model.startsWith('local/align-');

/** What was said of a sample; each is heard once. */
const heard = new Map(SAMPLES.map((one) => [one.file, new Ear(pool, queryOf(one)).listen(audioOf(one))]));
const heardOf = async (one: Sample): Promise<StreamMessage[]> => (await heard.get(one.file)) ?? [];

describe.each(SAMPLES)('$file with $model', (one) => {
  test('gives exactly its text', async () => {
    expect(textsOf(await heardOf(one))).toEqual(isAligned(one) ? [one.text] : one.turns);
  });

  test('lists its words in sequence, inside their turn and the file', async () => {
    let clock = 0;
    for (const final of finalsOf(await heardOf(one))) {
      expect(final.words.map(({ word }) => word).join(' ')).toBe(final.text);
      expect([final.words[0]?.start, final.words.at(-1)?.end]).toEqual([final.start, final.end]);
      for (const { start, end, confidence } of final.words) {
        expect(start).toBeGreaterThanOrEqual(clock);
        expect(end).toBeGreaterThan(start);
        expect(confidence).toBeGreaterThanOrEqual(0);
        expect(confidence).toBeLessThanOrEqual(1);
        clock = end;
      }
    }
    expect(clock).toBeLessThanOrEqual(one.seconds);
  });

  test('sends per turn interims and one final, numbered from 0, between `ready` and `finished`', async () => {
    const messages = await heardOf(one);
    const finals = finalsOf(messages);
    expect(finals.map(({ turn }) => turn)).toEqual(finals.map((_, at) => at));
    for (const [at, message] of messages.entries()) {
      if (message.type === 'interim') expect(messages.indexOf(finals[message.turn]!)).toBeGreaterThan(at);
    }
    expect(messages.at(0)).toEqual({ type: 'ready' });
    expect(messages.at(-1)).toEqual({ type: 'finished' });
  });
});

test.each(SAMPLES.filter(({ text }) => text.split(' ').length > 2))(
  '$file: words of every turn are shown before it has been said to its end',
  async (one) => {
    const messages = await heardOf(one);
    for (const { turn, end } of finalsOf(messages)) {
      expect(messages.some((each) => each.type === 'interim' && each.turn === turn && each.end < end)).toBe(true);
    }
  },
);

test.each(SAMPLES.filter(isAligned))(
  '$file: aligns a text’s start, pause and end with the sound, to 150 ms',
  async (one) => {
    const words = finalsOf(await heardOf(one)).flatMap((final) => final.words);
    const pausedAfter = one.turns[0]!.split(' ').length;
    const parts = [words.slice(0, pausedAfter), words.slice(pausedAfter)];
    const sounds = soundsOf(audioOf(one));
    expect(sounds.length).toBe(parts.length);
    for (const [at, part] of parts.entries()) {
      expect(Math.abs(part[0]!.start - sounds[at]!.start)).toBeLessThanOrEqual(0.15);
      expect(Math.abs(part.at(-1)!.end - sounds[at]!.end)).toBeLessThanOrEqual(0.15);
    }
  },
);

test('sends only finals without interims', async () => {
  const one = sample('garage.wav');
  const messages = await new Ear(pool, { ...queryOf(one), interims: false }).listen(audioOf(one));
  expect(messages.some(({ type }) => type === 'interim')).toBe(false);
  expect(textsOf(messages)).toEqual(one.turns);
});

/** Where there is sound, in seconds; gaps below 400 ms do not part it. */
function soundsOf(audio: Uint8Array<ArrayBuffer>): { start: number; end: number }[] {
  const samples = new Int16Array(audio.buffer);
  const sounds: { start: number; end: number }[] = [];
  for (const [at, value] of samples.entries()) {
    if (Math.abs(value) < 200) continue;
    const seconds = at / SAMPLE_RATE;
    const last = sounds.at(-1);
    if (last === undefined || seconds - last.end > 0.4) sounds.push({ start: seconds, end: seconds });
    else last.end = seconds;
  }
  return sounds;
}
