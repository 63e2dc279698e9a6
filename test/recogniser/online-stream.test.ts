// A model that hears audio as it comes: turns, text that grows, times of words, bounds. The library is played here; a real model is
// heard in slow/own-models.test.ts.
import { expect, test } from 'vitest';
import { OnlineDictationStream } from '../../src/recogniser/dictation/online-stream.ts';
import type { OnlineRecognizer, SherpaResult } from '../../src/recogniser/dictation/sherpa.ts';
import { SAMPLE_RATE, type StreamMessage } from '../../src/recogniser/protocol.ts';

const CHUNK_SAMPLES = 5_120;
const LOUD = 0.5;

interface Played {
  heard: number;
  /** Where it was reset: what its times count from. */
  from: number;
  finished: boolean;
  decoded: number;
  /** Words in all. */
  said: number;
  words: { word: string; at: number }[];
}

/** A library that says a word for each chunk in which it is loud: "one", "two", … and begins again with each stream. */
function library(tokensOf = (words: Played['words']) => words.map(({ word }) => ` ${word}`)) {
  const NAMES = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
  const streams: Played[] = [];
  const samples = new Map<Played, number[]>();
  const recognizer: OnlineRecognizer = {
    createStream: () => {
      const played: Played = { heard: 0, from: 0, finished: false, decoded: 0, said: 0, words: [] };
      streams.push(played);
      samples.set(played, []);
      return {
        played,
        acceptWaveform: ({ samples: given }: { samples: Float32Array }) => {
          samples.get(played)?.push(...given);
          played.heard += given.length;
        },
        inputFinished: () => {
          played.finished = true;
        },
      } as never;
    },
    isReady: (stream) => playedOf(stream).heard - playedOf(stream).decoded >= CHUNK_SAMPLES,
    decode: (stream) => {
      const played = playedOf(stream);
      const chunk = samples.get(played)!.slice(played.decoded, played.decoded + CHUNK_SAMPLES);
      const isLoud = chunk.filter((sample) => sample >= LOUD).length > CHUNK_SAMPLES / 2;
      if (isLoud) {
        played.words.push({ word: NAMES[played.words.length % 10]!, at: played.decoded / SAMPLE_RATE });
        played.said++;
      }
      played.decoded += CHUNK_SAMPLES;
    },
    getResult: (stream): SherpaResult => {
      const { words, from } = playedOf(stream);
      const tokens = tokensOf(words);
      return {
        text: words.map(({ word }) => word).join(' '),
        tokens,
        timestamps: tokens.length === 0 ? [] : words.map(({ at }) => at - from),
        start_time: from,
      };
    },
    reset: (stream) => {
      const played = playedOf(stream);
      played.words = [];
      played.from = played.decoded / SAMPLE_RATE;
    },
  };
  return { recognizer, streams };
}

const playedOf = (stream: unknown): Played => (stream as { played: Played }).played;

function rig(
  options: { tokensOf?: (words: Played['words']) => string[]; interims?: boolean; sampleRate?: number } = {},
) {
  const messages: StreamMessage[] = [];
  const { recognizer, streams } = library(options.tokensOf);
  const stream = new OnlineDictationStream({
    recognizer,
    detector: { hear: (frame) => frame.some((sample) => Math.abs(sample) >= LOUD) },
    endpointingMs: 500,
    interims: options.interims ?? true,
    sampleRate: options.sampleRate,
    say: (message) => messages.push(message),
  });
  return { stream, streams, messages };
}

/** Linear16 of one loudness. */
function sound(seconds: number, level: number, sampleRate = SAMPLE_RATE): Uint8Array {
  return new Uint8Array(new Int16Array(Math.round(seconds * sampleRate)).fill(level * 32_767).buffer);
}
const speech = (seconds: number) => sound(seconds, 0.9);
const silence = (seconds: number) => sound(seconds, 0);

type Of<Type> = Extract<StreamMessage, { type: Type }>;
const finalsOf = (messages: readonly StreamMessage[]) =>
  messages.filter((message): message is Of<'final'> => message.type === 'final');
const interimsOf = (messages: readonly StreamMessage[]) =>
  messages.filter((message): message is Of<'interim'> => message.type === 'interim').map(({ text }) => text);

test('text grows during speech, and each turn has one final', () => {
  const { stream, messages } = rig();
  for (const part of [silence(1), speech(1.5), silence(1), speech(1), silence(1)]) stream.audio(part);
  const [first, second] = finalsOf(messages);
  const interims = interimsOf(messages);
  expect(interims.length).toBeGreaterThan(3);
  expect(interims.slice(0, 3)).toEqual(['one', 'one two', 'one two three']);
  expect(first?.text.startsWith('one two three')).toBe(true);
  expect(messages.filter(({ type }) => type === 'speech_started')).toHaveLength(2);
  expect([first?.turn, second?.turn, finalsOf(messages).length]).toEqual([0, 1, 2]);
});

test('words have the times of the model, in seconds of the stream', () => {
  const { stream, messages } = rig();
  for (const part of [silence(2), speech(1.5), silence(1)]) stream.audio(part);
  const [final] = finalsOf(messages);
  expect(final).not.toHaveProperty('estimated');
  expect(final?.words[0]?.start).toBeGreaterThan(1.5);
  expect(final?.words.at(-1)?.end).toBeLessThan(4);
  expect([final?.start, final?.end]).toEqual([final?.words[0]?.start, final?.words.at(-1)?.end]);
});

test('words of a model without times are estimated, and marked', () => {
  const { stream, messages } = rig({ tokensOf: () => [] });
  for (const part of [silence(1), speech(1.5), silence(1)]) stream.audio(part);
  const [final] = finalsOf(messages);
  expect(final?.estimated).toBe(true);
  expect(final?.words.map(({ word }) => word)).toEqual(final?.text.split(' '));
});

test('a turn is cut after 20 seconds of unbroken speech, and no word is lost or repeated', () => {
  const { stream, streams, messages } = rig({ interims: false });
  for (const part of [silence(1), speech(70), silence(1)]) stream.audio(part);
  const finals = finalsOf(messages);
  const words = finals.flatMap((final) => final.words);
  expect(finals.map(({ turn }) => turn)).toEqual([0, 1, 2, 3]);
  expect(streams).toHaveLength(1);
  expect(words.length).toBe(streams[0]?.said);
  for (const [at, word] of words.entries()) {
    expect(word.end).toBeGreaterThanOrEqual(word.start);
    expect(word.start).toBeGreaterThanOrEqual(words[at - 1]?.end ?? 0);
  }
  expect(Math.max(...finals.map(({ start, end }) => end - start))).toBeLessThan(21);
});

test('finalize ends the turn, and finish the stream, with what was said until then', () => {
  const { stream, streams, messages } = rig();
  stream.audio(silence(1));
  stream.finalize();
  stream.audio(speech(1));
  stream.finalize();
  stream.audio(speech(1));
  let finished = 0;
  stream.finish(() => finished++);
  expect(finalsOf(messages)).toHaveLength(2);
  expect([messages.at(-1)?.type, finished, streams.every((each) => each.finished)]).toEqual(['finished', 1, true]);
});

test('nothing is said for silence, and no match for a voice without words', () => {
  const { stream, messages } = rig();
  stream.audio(silence(10));
  expect(messages).toEqual([]);
  for (const part of [speech(0.1), silence(1)]) stream.audio(part);
  expect(messages).toEqual([
    { type: 'speech_started', start: expect.any(Number) },
    { type: 'no_match', turn: 0, start: expect.any(Number), end: expect.any(Number) },
  ]);
});

test('an abandoned stream says nothing more', () => {
  const { stream, messages } = rig();
  stream.audio(speech(1));
  const count = messages.length;
  stream.abandon();
  stream.audio(speech(1));
  stream.finish(() => {});
  expect(messages).toHaveLength(count);
});

test('sends no interims to a client without interim_results', () => {
  const { stream, messages } = rig({ interims: false });
  for (const part of [speech(2), silence(1)]) stream.audio(part);
  expect([interimsOf(messages), finalsOf(messages).length]).toEqual([[], 1]);
});

test.each([1, 2, 3, 1_023, 32_000])('audio in pieces of %i bytes gives the same messages', (bytes) => {
  const whole = rig();
  const cut = rig();
  const audio = Buffer.concat([silence(1), speech(1.5), silence(1)]);
  whole.stream.audio(audio);
  for (let at = 0; at < audio.length; at += bytes) cut.stream.audio(audio.subarray(at, at + bytes));
  expect(cut.messages).toEqual(whole.messages);
});

test('telephone audio at 8 kHz gives the times that it has', () => {
  const { stream, messages } = rig({ sampleRate: 8_000 });
  for (const [seconds, level] of [
    [2, 0],
    [1.5, 0.9],
    [1, 0],
  ] as const)
    stream.audio(sound(seconds, level, 8_000));
  const [final] = finalsOf(messages);
  expect(final?.words[0]?.start).toBeGreaterThan(1.5);
  expect(final?.words.at(-1)?.end).toBeLessThan(4);
});
