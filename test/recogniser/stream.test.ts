// One stream: where turns begin and end, on a scripted decoder and detector; then, on the real ones, that how the audio is
// cut changes nothing, and what silence costs.
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import type { DecodedWord } from '../../src/recogniser/grammar/decoders.ts';
import { LANGUAGES } from '../../src/recogniser/grammar/languages.ts';
import { RecogniserStream, STREAM_TIMING } from '../../src/recogniser/grammar/stream.ts';
import { SAMPLE_RATE, type StreamMessage } from '../../src/recogniser/protocol.ts';
import { drawn } from '../fakes/drawn.ts';
import { seeded } from '../fakes/random.ts';
import { audioOf, Bench, chunksOf, finalsOf, queryOf, sample, silence, textsOf } from './listening.ts';

const SECOND = SAMPLE_RATE * 2;

interface Script {
  /** Seconds in which someone speaks. */
  speech: [from: number, to: number][];
  alignText?: string;
  /** Whether the words fit the grammar to its end. */
  fits?: boolean;
  /** What the decoder makes of so many seconds; by default one word for each whole one. */
  decode?: (seconds: number) => DecodedWord[];
}

const wordEachSecond = (seconds: number): DecodedWord[] =>
  Array.from({ length: Math.floor(seconds) }, (_, at) => ({
    word: `w${at}`,
    start: at,
    end: at + 0.5,
    probability: 0.95,
  }));

/** A stream on a scripted detector and decoder. */
function scripted({ speech, alignText, fits = true, decode = wordEachSecond }: Script) {
  const messages: StreamMessage[] = [];
  const fed: number[] = [];
  let heard = 0;
  let running = false;
  const words = (): DecodedWord[] => decode((fed.at(-1) ?? 0) / SAMPLE_RATE);
  const text = (): string =>
    words()
      .map(({ word }) => word)
      .join(' ');
  const stream = new RecogniserStream(
    {
      start: () => {
        running = true;
        fed.push(0);
      },
      feed: (samples) => {
        expect(running).toBe(true);
        fed.push((fed.pop() ?? 0) + samples.length);
      },
      stop: () => {
        expect(running).toBe(true);
        running = false;
      },
      text: () => (running || fits ? text() : ''),
      words,
    },
    {
      hear: (frame) => {
        heard += frame.length;
        const at = heard / SAMPLE_RATE;
        return speech.some(([from, to]) => at > from && at <= to);
      },
      get speechStart() {
        return speech.findLast(([from]) => heard / SAMPLE_RATE > from)?.[0] ?? 0;
      },
    },
    { interims: true, alignText, language: LANGUAGES.en },
    (message) => messages.push(message),
  );
  const hear = (seconds: number) => stream.audio(new Uint8Array(Math.round(seconds * SAMPLE_RATE) * 2).fill(1));
  return {
    stream,
    messages,
    hear,
    fedSeconds: () => fed.map((samples) => samples / SAMPLE_RATE),
    isRunning: () => running,
  };
}

describe('a turn', () => {
  test('begins a little before the speech and ends after 300 ms of silence', () => {
    const { hear, messages, fedSeconds } = scripted({ speech: [[2, 5]] });
    hear(8);
    expect(messages.at(0)).toEqual({ type: 'speech_started', start: 2 });
    const fed = fedSeconds()[0]!;
    expect(fed).toBeGreaterThanOrEqual(3 + (STREAM_TIMING.leadMs + STREAM_TIMING.hangMs) / 1000 - 0.02);
    expect(fed).toBeLessThanOrEqual(3.1 + (STREAM_TIMING.leadMs + STREAM_TIMING.hangMs) / 1000);
    expect(textsOf(messages)).toEqual(['w0 w1 w2']);
    // The first word begins where the decoder began: 0.58 s before the speech was noticed.
    expect(finalsOf(messages)[0]!.start).toBeCloseTo(2 - STREAM_TIMING.leadMs / 1000, 1);
  });

  test('shows as interims the words that two looks, 100 ms apart, agree on', () => {
    const { hear, messages } = scripted({ speech: [[1, 4]] });
    hear(6);
    const interims = messages.filter((message) => message.type === 'interim');
    expect(interims.map(({ text }) => text)).toEqual(['w0', 'w0 w1', 'w0 w1 w2']);
    expect(interims.map(({ end }) => end)).toEqual([...interims.map(({ end }) => end)].sort((a, b) => a - b));
  });

  test('ends at once by finalize; continued speech begins the next, without loss or repeats', () => {
    const { stream, hear, messages, fedSeconds } = scripted({ speech: [[1, 6]] });
    hear(3);
    stream.finalize();
    expect(finalsOf(messages).length).toBe(1);
    hear(5);
    expect(finalsOf(messages).map(({ turn }) => turn)).toEqual([0, 1]);
    const [first, second] = fedSeconds();
    expect(first! + second!).toBeCloseTo(5 + (STREAM_TIMING.leadMs + STREAM_TIMING.hangMs) / 1000, 1);
    expect(finalsOf(messages)[1]!.start).toBeCloseTo(3, 2);
  });

  test('ends after 30 s of speech without a pause, and the next continues there', () => {
    const { hear, messages, fedSeconds } = scripted({ speech: [[0, 70]] });
    for (let second = 0; second < 75; second++) hear(1);
    expect(fedSeconds().length).toBe(3);
    expect(Math.max(...fedSeconds())).toBeLessThanOrEqual(STREAM_TIMING.turnMaxMs / 1000 + 0.1);
    expect(fedSeconds().reduce((sum, seconds) => sum + seconds)).toBeCloseTo(70 + STREAM_TIMING.hangMs / 1000, 1);
    const ends = finalsOf(messages).flatMap(({ start, end }) => [start, end]);
    expect(ends).toEqual([...ends].sort((a, b) => a - b));
  });

  test('gives the words so far when it fits the grammar only in part', () => {
    const { hear, messages } = scripted({ speech: [[1, 4]], fits: false });
    hear(6);
    expect(textsOf(messages)).toEqual(['w0 w1 w2']);
  });

  test('takes its confidence from how much of the speech its words cover', () => {
    const confidenceOf = (end: number) => {
      const decode = () => [{ word: 'say', start: 0, end, probability: 0.99 }];
      const { hear, messages } = scripted({ speech: [[1, 1.6]], decode });
      hear(3);
      return finalsOf(messages)[0]?.confidence ?? 0;
    };
    expect(confidenceOf(1.5)).toBeGreaterThan(0.9);
    expect(confidenceOf(0.75)).toBeLessThan(0.7);
  });

  test.each<[string, DecodedWord[]]>([
    ['without a word', []],
    ['that hardly fits its words', [{ word: 'no', start: 0.2, end: 0.6, probability: 0.5 }]],
    ['with a word longer than words are', [{ word: 'no', start: 0.2, end: 1.8, probability: 0.99 }]],
  ])('%s is a no_match, and no final', (_what, words) => {
    const { hear, messages } = scripted({ speech: [[1, 2]], decode: () => words });
    hear(3);
    expect(messages.map(({ type }) => type).filter((type) => type !== 'interim')).toEqual([
      'speech_started',
      'no_match',
    ]);
    expect(messages.at(-1)).toEqual({ type: 'no_match', turn: 0, start: 1, end: expect.closeTo(2.3, 1) });
  });

  test('ends by finish, with the rest of a frame and an odd byte', () => {
    const { stream, messages, fedSeconds } = scripted({ speech: [[0, 9]] });
    stream.audio(new Uint8Array(2 * SECOND + 101));
    stream.finish();
    expect(fedSeconds()[0]).toBeCloseTo(2.02, 5);
    expect(messages.slice(-2).map(({ type }) => type)).toEqual(['final', 'finished']);
  });

  test('stops the decoder and stays silent when abandoned', () => {
    const { stream, hear, messages, isRunning } = scripted({ speech: [[0, 9]] });
    hear(2);
    const before = messages.length;
    stream.abandon();
    stream.abandon();
    expect([isRunning(), messages.length]).toEqual([false, before]);
  });

  test('does not exist for silence', () => {
    const { stream, hear, messages } = scripted({ speech: [] });
    hear(5);
    stream.finalize();
    stream.finish();
    expect(messages).toEqual([{ type: 'finished' }]);
  });
});

describe('the turn of an aligned text', () => {
  test('continues over pauses and omits them, until finish', () => {
    const { stream, hear, messages, fedSeconds } = scripted({
      speech: [
        [1, 3],
        [9, 11],
      ],
      alignText: 'w0 w1 w2 w3 w4 w5 w6 w7',
    });
    hear(13);
    expect(textsOf(messages)).toEqual([]);
    expect(fedSeconds()[0]).toBeLessThan(7);
    stream.finish();
    expect(textsOf(messages)).toEqual(['w0 w1 w2 w3 w4']);
  });

  test('ends automatically once all of the text was spoken', () => {
    const { hear, messages } = scripted({
      speech: [
        [1, 3],
        [9, 11],
      ],
      alignText: 'w0 w1 w2 w3 w4',
    });
    hear(13);
    const [final] = finalsOf(messages);
    expect(final?.text).toBe('w0 w1 w2 w3 w4');
    const starts = final!.words.map(({ start }) => start);
    expect(starts[1]).toBeLessThan(3);
    expect(starts[3]).toBeGreaterThan(8);
    expect(starts).toEqual([...starts].sort((a, b) => a - b));
  });
});

describe('the real decoder', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await Bench.start();
  });

  test('sends the same messages for any split of the audio', async () => {
    const one = sample('lines/telephone.wav');
    const audio = audioOf(one);
    const whole = (await bench.hear(queryOf(one), [audio])).map(({ heardBytes: _, ...message }) => message);
    expect(textsOf(whole)).toEqual(one.turns);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 9_001 }), { minLength: 1, maxLength: 40 }), async (sizes) => {
        const chunks: Uint8Array[] = [];
        for (let at = 0, next = 0; at < audio.length; next++) {
          const size = sizes[next % sizes.length]!;
          chunks.push(audio.subarray(at, at + size));
          at += size;
        }
        const cut = (await bench.hear(queryOf(one), chunks)).map(({ heardBytes: _, ...message }) => message);
        expect(cut).toEqual(whole);
      }),
      { numRuns: drawn(40) },
    );
  });

  test('keeps a first short utterance', async () => {
    for (const file of ['yes.wav', 'no.wav', 'french/oui.wav']) {
      const one = sample(file);
      expect(textsOf(await bench.hear(queryOf(one), [audioOf(one)]))).toEqual(one.turns);
    }
  });

  test.each([30, 40])('transcribes speech %i dB quieter', async (quieterDb) => {
    const one = sample('garage.wav');
    const samples = new Int16Array(audioOf(one).buffer).map((value) => Math.round(value / 10 ** (quieterDb / 20)));
    expect(textsOf(await bench.hear(queryOf(one), [new Uint8Array(samples.buffer)]))).toEqual(one.turns);
  });

  test('ignores the hiss of a quiet line', async () => {
    const random = seeded(7);
    const hiss = Int16Array.from({ length: 20 * SAMPLE_RATE }, () => random.integer(-8, 8));
    const messages = await bench.hear(queryOf(sample('commands.wav')), [new Uint8Array(hiss.buffer)]);
    expect(messages.map(({ type }) => type)).toEqual(['finished']);
  });

  test('open speech is never taken for sure: a few words of it do not speak for the rest', async () => {
    const speech = sample('alignment.wav');
    const messages = await bench.hear(queryOf(sample('commands.wav')), [audioOf(speech)]);
    expect(Math.max(0, ...finalsOf(messages).map(({ confidence }) => confidence ?? 0))).toBeLessThan(0.5);
  });

  test('finals come within a second of the last word, interims within 400 ms of theirs', async () => {
    const one = sample('commands.wav');
    const messages = await bench.hear(queryOf(one), chunksOf(audioOf(one), SECOND / 50));
    for (const final of finalsOf(messages)) {
      const { heardBytes } = messages.find((message) => message === final)!;
      expect(heardBytes / SECOND - final.end).toBeLessThan(1);
      const first = messages.find((message) => message.type === 'interim' && message.turn === final.turn);
      expect(first!.heardBytes / SECOND).toBeLessThan(final.end);
    }
  });

  test('gives nothing for a minute of silence, and takes no memory', async () => {
    const query = queryOf(sample('commands.wav'));
    const minute = function* () {
      for (let second = 0; second < 60; second++) yield silence(1);
    };
    await bench.hear(query, [silence(1)]);
    const before = bench.module.HEAPU8.length;
    expect((await bench.hear(query, minute())).map(({ type }) => type)).toEqual(['finished']);
    expect(bench.module.HEAPU8.length).toBe(before);
  });
});
