// Speech without a pause: numbered words, each of two tones whose loudness names it. An ear tells every word that it hears whole, and
// gives a word whose beginning or end it was not sent another name; so a word that a replay cuts, leaves out or repeats is seen.
import type { Word } from '../../../../machines/events.ts';
import type { EarMessage } from '../../../../src/vendors/kit/simulation.ts';
import type { EarSource, OpenEar } from '../../../../src/vendors/simulation/ears.ts';
import { samplesOf } from '../../../fakes/audio/numbered-audio.ts';

/** Turns that the gateway ends by their length end behind a word. */
export const WORD_SECONDS = 0.5;
/** What is told of a word whose beginning was not heard. */
const CUT_WORD = 'cut';

/** A first tone has one of the lower levels, a second one of the upper. */
const LEVELS = 36;
const LOUDNESS = { base: 2_000, step: 400 };
const HALF_WAVE_SECONDS = 0.008;
const HALF_WORD_SECONDS = WORD_SECONDS / 2;
/** Times on the wire are rounded to milliseconds; a tone that sounds for less than this is the rest of one that was cut. */
const TONE_SECONDS_MIN = 0.01;
const PAUSE_SECONDS = 0.3;

export const wordAt = (index: number): string => `w${index}`;

/** The words, one straight behind the other, and a second of silence. */
export function unbrokenAudio(words: number, rate: number): Uint8Array {
  const samples = new Int16Array(Math.round((words * WORD_SECONDS + 1) * rate));
  const halfWave = HALF_WAVE_SECONDS * rate;
  for (let half = 0; half < 2 * words; half++) {
    const index = half >> 1;
    const level = half % 2 === 0 ? Math.floor(index / LEVELS) : LEVELS + (index % LEVELS);
    const loudness = LOUDNESS.base + level * LOUDNESS.step;
    const to = Math.round((half + 1) * HALF_WORD_SECONDS * rate);
    for (let at = Math.round(half * HALF_WORD_SECONDS * rate); at < to; at++)
      samples[at] = Math.floor(at / halfWave) % 2 === 0 ? loudness : -loudness;
  }
  return new Uint8Array(samples.buffer);
}

/** Ears for that audio, wherever what they are given begins. A turn ends in a pause of 0.3 s, or when it is asked to. */
export const unbrokenEar: EarSource = () => (request, listener) => earOf(request.sampleRate, listener);

interface Tone {
  level: number;
  start: number;
  samples: number;
}

function earOf(rate: number, listener: (message: EarMessage) => void): ReturnType<OpenEar> {
  let position = 0;
  let turn = 0;
  let words: Word[] = [];
  let tone: Tone | undefined;
  let first: Tone | undefined;
  let quiet = 0;
  let told = 0;
  let over = false;

  const say = (message: EarMessage): void =>
    queueMicrotask(() => {
      if (!over) listener(message);
    });
  const heard = () => ({
    turn,
    text: words.map(({ word }) => word).join(' '),
    start: words[0]?.start ?? position / rate,
    end: words.at(-1)?.end ?? position / rate,
    words: words.slice(),
  });
  /** A second tone ends a word; a first one without it is cut off. */
  const toneEnded = (): void => {
    const last = tone;
    tone = undefined;
    if (last === undefined || last.samples < TONE_SECONDS_MIN * rate) return;
    if (last.level < LEVELS) {
      first = last;
      return;
    }
    const word = first === undefined ? CUT_WORD : wordAt(first.level * LEVELS + last.level - LEVELS);
    words.push({ word, start: (first ?? last).start / rate, end: (last.start + last.samples) / rate });
    first = undefined;
    if (words.length === 1) say({ type: 'speech_started', start: words[0]?.start ?? 0 });
    say({ type: 'interim', ...heard() });
  };
  const endTurn = (): void => {
    toneEnded();
    first = undefined;
    if (words.length > 0) say({ type: 'final', ...heard() });
    else if (position > told) say({ type: 'no_match', turn, start: told / rate, end: position / rate });
    else return;
    words = [];
    turn++;
    told = position;
  };

  return {
    queuedBytes: 0,
    audio(bytes) {
      const samples = samplesOf(bytes);
      for (const sample of samples) {
        const loud = Math.abs(sample);
        if (loud < LOUDNESS.base - LOUDNESS.step) {
          if (quiet++ === 0) toneEnded();
          if (quiet === PAUSE_SECONDS * rate && words.length > 0) endTurn();
        } else {
          quiet = 0;
          const level = Math.round((loud - LOUDNESS.base) / LOUDNESS.step);
          if (tone?.level !== level) {
            toneEnded();
            tone = { level, start: position, samples: 0 };
          }
          tone.samples++;
        }
        position++;
      }
    },
    finalize: endTurn,
    finish() {
      if (words.length > 0 || tone !== undefined) endTurn();
      say({ type: 'finished' });
    },
    close() {
      over = true;
    },
  };
}
