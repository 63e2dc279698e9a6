// Audio whose words are numbered: each is a tone whose loudness says which it is, so that what was heard of any stretch can be compared
// with what was said. A word of which only some is there is heard as another.
import type { Word } from '../../../machines/events.ts';
import type { EarSource } from '../../../src/vendors/simulation/ears.ts';

export const RATE = 8_000;
const WORD_SECONDS = 0.6;
const GAP_SECONDS = 0.2;
const PAUSE_SECONDS = 1.2;
const LOUDNESS_MIN = 1_500;
const LOUDNESS_STEP = 10;
/** Less of a word cannot be recognised. */
const WHOLE_SHARE = 0.9;
const HEARD_SHARE = 0.1;

/** @param pauseAfter whether there is a pause after the word of that number */
export function talk(words: number, pauseAfter: (word: number) => boolean = () => false) {
  const seconds: number[] = [];
  let total = 0;
  for (let word = 0; word < words; word++) {
    seconds.push(total);
    total += WORD_SECONDS + (pauseAfter(word) ? PAUSE_SECONDS : GAP_SECONDS);
  }
  const samples = new Int16Array(Math.round(total * RATE));
  for (const [word, start] of seconds.entries()) {
    const loudness = LOUDNESS_MIN + word * LOUDNESS_STEP;
    const from = Math.round(start * RATE);
    for (let at = from; at < from + WORD_SECONDS * RATE; at++) samples[at] = at % 8 < 4 ? loudness : -loudness;
  }
  return { samples, bytes: Buffer.from(samples.buffer), seconds: samples.length / RATE, starts: seconds };
}

export const said = (words: number, first = 0): string[] => Array.from({ length: words }, (_, at) => `w${first + at}`);

/** The words of linear16. */
export function heard(samples: Int16Array, rate = RATE): Word[] {
  const words: Word[] = [];
  for (let at = 0; at < samples.length; ) {
    const loudness = Math.abs(samples[at] as number);
    const from = at;
    while (at < samples.length && Math.abs(samples[at] as number) === loudness) at++;
    const share = (at - from) / (WORD_SECONDS * rate);
    if (loudness < LOUDNESS_MIN || share < HEARD_SHARE) continue;
    const number = (loudness - LOUDNESS_MIN) / LOUDNESS_STEP;
    words.push({ word: share < WHOLE_SHARE ? `part${number}` : `w${number}`, start: from / rate, end: at / rate });
  }
  return words;
}

const TURN_WORDS = 4;

/** Hears it in place of a provider's models. @param deafTo names a word at which it fails */
export function talkingEar(deafTo: () => number | undefined = () => undefined): EarSource {
  return () =>
    ({ sampleRate }, listener) => {
      const pieces: Buffer[] = [];
      const answer = () => {
        const words = heard(new Int16Array(new Uint8Array(Buffer.concat(pieces)).buffer), sampleRate);
        if (words.some(({ word }) => word === `w${deafTo()}`)) {
          listener({ type: 'error', code: 'deaf' });
          return;
        }
        for (let at = 0, turn = 0; at < words.length; at += TURN_WORDS, turn++) {
          const own = words.slice(at, at + TURN_WORDS);
          const [first, last] = [own[0] as Word, own.at(-1) as Word];
          const text = own.map(({ word }) => word).join(' ');
          listener({ type: 'final', turn, text, start: first.start, end: last.end, words: own });
        }
        listener({ type: 'finished' });
      };
      return {
        queuedBytes: 0,
        audio: (bytes) => void pieces.push(Buffer.from(bytes)),
        finalize: () => {},
        finish: () => void setImmediate(answer),
        close: () => {},
      };
    };
}
