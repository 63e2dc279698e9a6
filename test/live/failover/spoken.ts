// Speech that says what it says: each turn is a tone whose loudness names its text, between silences; and an ear that reads
// it, at any rate that it was converted to. Which words a leg heard is thus decided by the audio it was sent, on every leg anew.
// Sound that goes on behind a turn's end, as that of words does, belongs to the turn; heard without it, it is taken for a word.

import type { EarMessage } from '../../../src/vendors/kit/simulation.ts';
import type { EarSource, OpenEar } from '../../../src/vendors/simulation/ears.ts';

/** Hertz: the rate that most live models take. */
export const RATE = 24_000;

/** One turn: a tone of so many seconds, then silence. */
export interface SpokenTurn {
  text: string;
  seconds: number;
  /** Its beginning still sounds for `tailSeconds`. */
  pauseSeconds: number;
  tailSeconds?: number;
}

/** What the sound behind a turn's end is taken for by itself. */
export const TAIL_TEXT = 'The.';

const LOUDNESS = { quiet: 1_000, tail: 3_000, base: 4_000, step: 100 };
/** A conversion of the rate leaves the middle of each half as it is. */
const HALF_WAVE_SECONDS = 0.008;
/** A loudness that stays for so long is no edge of a wave. */
const STEADY_SECONDS = 0.001;
/** Between two halves of a wave there is less silence. */
const EDGE_SECONDS = 0.002;
/** Silence that ends a turn, and the least speech that is a word. */
const PAUSE_SECONDS = 0.3;
const WORD_SECONDS = 0.05;
const TAIL_LEVEL = Math.round((LOUDNESS.tail - LOUDNESS.base) / LOUDNESS.step);
const INTERIM_SECONDS = 0.4;

/** Turns of the same length. */
export const turnsOf = (texts: readonly string[], seconds = 1.2, pauseSeconds = 0.8): SpokenTurn[] =>
  texts.map((text) => ({ text, seconds, pauseSeconds }));

/** The audio of turns, for an ear that knows their texts in this order. */
export function spoken(turns: readonly SpokenTurn[], rate = RATE): Uint8Array {
  const halfWave = HALF_WAVE_SECONDS * rate;
  const lengths = turns.map(({ seconds, pauseSeconds }) => ({
    speech: Math.round(seconds * rate),
    pause: Math.round(pauseSeconds * rate),
  }));
  const samples = new Int16Array(lengths.reduce((sum, { speech, pause }) => sum + speech + pause, 0));
  let at = 0;
  for (const [index, { speech, pause }] of lengths.entries()) {
    const loudness = LOUDNESS.base + index * LOUDNESS.step;
    const tail = Math.round((turns[index]?.tailSeconds ?? 0) * rate);
    for (let half = 0; half * halfWave < speech + tail; half++) {
      const sign = half % 2 === 0 ? 1 : -1;
      const [from, to] = [Math.ceil(half * halfWave), Math.ceil((half + 1) * halfWave)];
      samples.fill(sign * loudness, at + Math.min(from, speech), at + Math.min(to, speech));
      const [tailFrom, tailTo] = [Math.max(from, speech), Math.min(to, speech + tail)];
      if (tailFrom < tailTo) samples.fill(sign * LOUDNESS.tail, at + tailFrom, at + tailTo);
    }
    at += speech + pause;
  }
  return new Uint8Array(samples.buffer);
}

/** Ears that hear those turns, wherever the audio they are given begins. */
export function hearing(turns: readonly SpokenTurn[]): EarSource {
  const texts = turns.map(({ text }) => text);
  return () => (request, listener) => earOf([...texts, TAIL_TEXT], request.sampleRate, listener);
}

interface HeardTurn {
  index: number;
  start: number;
  /** Behind its last loud sample. */
  end: number;
  /** How much of it was heard when the next interim is due. */
  nextInterim: number;
}

/** Those that are whole. */
function samplesOf(bytes: Uint8Array): Int16Array {
  const whole = bytes.byteLength - (bytes.byteLength % 2);
  const { buffer, byteOffset } = bytes.byteOffset % 2 === 0 ? bytes : new Uint8Array(bytes);
  return new Int16Array(buffer, byteOffset, whole / 2);
}

/** How many samples from one on are as loud as this, up to a number of them. */
function alikeFrom(samples: Int16Array, from: number, loud: number, most: number): number {
  const end = Math.min(samples.length, from + most);
  let at = from;
  while (at < end && (samples[at] === loud || samples[at] === -loud)) at++;
  return at - from;
}

function earOf(texts: readonly string[], rate: number, listener: (message: EarMessage) => void): ReturnType<OpenEar> {
  const [pauseSamples, wordSamples, interimSamples] = [
    PAUSE_SECONDS * rate,
    WORD_SECONDS * rate,
    INTERIM_SECONDS * rate,
  ];
  let position = 0;
  let turn = 0;
  let open: HeardTurn | undefined;
  /** Where the end of a turn was asked for last. */
  let told = 0;
  let over = false;
  /** What is heard now: since where there was no silence, how loud it is, and for how many samples in a row. */
  const loudness = { since: undefined as number | undefined, last: 0, level: 0, steady: 0 };
  /** A sample as loud as this says no more than that the open turn goes on; most samples are. */
  let same = -1;

  /** Never inside a call of the ear. */
  const say = (message: EarMessage): void =>
    queueMicrotask(() => {
      if (!over) listener(message);
    });
  const placed = ({ start, end }: HeardTurn) => ({ start: start / rate, end: end / rate });
  const tellInterim = (heard: HeardTurn): void => {
    if (heard.nextInterim === wordSamples) say({ type: 'speech_started', start: heard.start / rate });
    heard.nextInterim += interimSamples;
    const words = (texts[heard.index] as string).split(' ');
    const text = words.slice(0, Math.ceil((heard.end - heard.start) / interimSamples)).join(' ');
    say({ type: 'interim', turn, text, ...placed(heard) });
  };
  const endTurn = (): void => {
    const heard = open;
    open = undefined;
    if (heard === undefined || heard.end - heard.start < wordSamples) return;
    say({ type: 'final', turn, text: texts[heard.index] as string, ...placed(heard) });
    turn++;
  };
  const silence = (): void => {
    same = -1;
    loudness.steady = 0;
    if (open !== undefined && position - open.end >= pauseSamples) endTurn();
    if (position - loudness.last > EDGE_SECONDS * rate) loudness.since = undefined;
  };
  /** So many samples alike, at most up to the next interim. */
  const goOn = (turn: HeardTurn, samples: number): void => {
    loudness.steady += samples;
    position += samples;
    loudness.last = position - 1;
    turn.end = position;
    if (turn.end - turn.start >= turn.nextInterim) tellInterim(turn);
  };
  const hear = (loud: number): void => {
    if (loud < LOUDNESS.quiet) {
      silence();
      return;
    }
    same = -1;
    const level = Math.round((loud - LOUDNESS.base) / LOUDNESS.step);
    loudness.steady = level === loudness.level ? loudness.steady + 1 : 1;
    loudness.level = level;
    loudness.last = position;
    loudness.since ??= position;
    const isTail = level === TAIL_LEVEL;
    const index = isTail ? texts.length - 1 : level;
    if (open?.index !== index) {
      if (loudness.steady < STEADY_SECONDS * rate) return;
      if (isTail && open !== undefined) {
        loudness.since = undefined;
        return;
      }
      if (open !== undefined) {
        endTurn();
        loudness.since = position + 1 - loudness.steady;
      }
      open = { index, start: loudness.since, end: position, nextInterim: wordSamples };
    }
    open.end = position + 1;
    if (open.end - open.start >= open.nextInterim) tellInterim(open);
    same = loud;
  };

  return {
    queuedBytes: 0,
    audio(bytes) {
      const samples = samplesOf(bytes);
      let at = 0;
      while (at < samples.length) {
        const most = open === undefined || same === -1 ? 0 : Math.ceil(open.start + open.nextInterim) - position;
        const alike = alikeFrom(samples, at, same, most);
        if (alike > 0) {
          goOn(open as HeardTurn, alike);
          at += alike;
          continue;
        }
        hear(Math.abs(samples[at++] as number));
        position++;
      }
    },
    finalize() {
      same = -1;
      const from = Math.max(told, open?.end ?? 0);
      endTurn();
      // What is behind the last word was asked about as well.
      if (position > from) say({ type: 'no_match', turn: turn++, start: from / rate, end: position / rate });
      told = position;
    },
    finish() {
      endTurn();
      say({ type: 'finished' });
    },
    close() {
      over = true;
    },
  };
}
