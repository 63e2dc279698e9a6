// Times of words, for models that give none: words are spread over the time in which a voice is heard, by their length.
import { type HeardWord, SAMPLE_RATE } from '../protocol.ts';
import { rounded } from './frames.ts';
import type { UtteranceAudio } from './stream.ts';

/** Samples of a window: 20 ms at 16 kHz. */
const WINDOW_SAMPLES = 320;
/** So far below the loudest is no voice. */
const QUIET_SHARE = 0.06;
/** What a word takes beside its letters. */
const GAP_CHARACTERS = 1;

/** Places words in an utterance. */
export function estimatedWords(text: string, utterance: UtteranceAudio): HeardWord[] {
  const { samples, startSeconds, voicedStartSeconds, voicedEndSeconds } = utterance;
  const from = Math.max(0, Math.round((voicedStartSeconds - startSeconds) * SAMPLE_RATE));
  const to = Math.min(samples.length, Math.round((voicedEndSeconds - startSeconds) * SAMPLE_RATE));
  const voiced = voicedWindows(samples.subarray(from, to));
  const words = text.split(/\s+/).filter(Boolean);
  const total = words.reduce((sum, word) => sum + word.length + GAP_CHARACTERS, 0);
  let characters = 0;
  return words.map((word) => {
    const start = timeOf(voiced, characters / total, 'start');
    characters += word.length + GAP_CHARACTERS;
    const end = timeOf(voiced, characters / total, 'end');
    return {
      word,
      start: rounded(voicedStartSeconds + start),
      end: rounded(voicedStartSeconds + Math.max(start, end)),
    };
  });
}

/** The windows in which a voice is heard; all of them where none stands out. */
function voicedWindows(samples: Float32Array): number[] {
  const count = Math.max(1, Math.floor(samples.length / WINDOW_SAMPLES));
  const loudness = Array.from({ length: count }, (_, window) => {
    const part = samples.subarray(window * WINDOW_SAMPLES, (window + 1) * WINDOW_SAMPLES);
    return Math.sqrt(part.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, part.length));
  });
  const quiet = Math.max(...loudness) * QUIET_SHARE;
  const voiced = loudness.flatMap((loud, window) => (loud > quiet ? [window] : []));
  return voiced.length > 0 ? voiced : loudness.map((_, window) => window);
}

/** Seconds of the utterance where so great a share of the voice has been heard. */
function timeOf(voiced: readonly number[], share: number, side: 'start' | 'end'): number {
  const place = share * voiced.length;
  // The end of a word lies in the window before a pause, the start of the next in the one behind it.
  const at = Math.min(voiced.length - 1, Math.max(0, side === 'start' ? Math.floor(place) : Math.ceil(place) - 1));
  const within = Math.min(1, Math.max(0, place - at));
  return ((voiced[at]! + within) * WINDOW_SAMPLES) / SAMPLE_RATE;
}
