// `Turn` messages as AssemblyAI's models write them. When each is said is live.ts.
import type { Word } from '../../../../machines/events.ts';
import type { HeardTurnText } from '../../kit/simulator/session.ts';
import { millisecondsOf, wordsOf } from '../../kit/simulator/words.ts';
import { type SessionOptions, WHISPER } from './query.ts';

/**
 * How turns end. `a`: unformatted, then again formatted; `b`: once, and formatted like every message; `c`: once,
 * unformatted; `d`: once, formatted, and only Universal-3 says so.
 */
export type Regime = 'a' | 'b' | 'c' | 'd';

type Message = Readonly<Record<string, unknown>>;

/** Turns shorter than this have a speaker nobody knows. */
const SPEAKER_SECONDS_MIN = 1;

/** Universal-Streaming leaves the unfinished last word out of `transcript`; Universal-3 has a dash where it goes on. */
export function partial(options: SessionOptions, regime: Regime, heard: HeardTurnText): Message {
  const text = options.isUniversal3 ? `${heard.text}—` : heard.text;
  const words = wordsOf({ ...heard, text });
  const settled = options.isUniversal3 ? 0 : words.length - 1;
  const transcript = options.isUniversal3
    ? text
    : words
        .slice(0, settled)
        .map(({ word }) => word)
        .join(' ');
  return turn(options, heard, { isFormatted: regime === 'b', isEnd: false, transcript, words, settled });
}

/** The end of a turn. */
export function end(options: SessionOptions, regime: Regime, heard: HeardTurnText): Message {
  const text = regime === 'b' || regime === 'd' ? formatted(heard.text) : heard.text;
  return ended(options, heard, text, regime === 'b' || (regime === 'd' && options.isUniversal3));
}

/** The same once more, formatted. */
export const formattedEnd = (options: SessionOptions, heard: HeardTurnText): Message =>
  ended(options, heard, formatted(heard.text), true);

/** What Whisper says of silence. */
export const SILENCE = '[ Silence]';

/** The speakers of a turn that has ended. */
export const revision = (heard: HeardTurnText): Message => ({
  type: 'SpeakerRevision',
  revisions: [
    { turn_order: heard.turn, words: wordsOf(heard).map((word) => ({ text: word.word, speaker: letterOf(word) })) },
  ],
});

/** The end of a turn in which nothing was understood: it says nothing of where it was. */
export const empty = (options: SessionOptions, regime: Regime, turn: number): Message =>
  ended(options, { turn, text: '', start: 0, end: 0 }, '', regime === 'b');

function ended(options: SessionOptions, heard: HeardTurnText, transcript: string, isFormatted: boolean): Message {
  const words = wordsOf({ ...heard, text: transcript });
  return turn(options, heard, { isFormatted, isEnd: true, transcript, words, settled: words.length });
}

interface Told {
  isFormatted: boolean;
  isEnd: boolean;
  transcript: string;
  words: readonly Word[];
  /** Words that will not change. */
  settled: number;
}

function turn(
  { model, speakerLabels, speakersPending, languageDetection }: SessionOptions,
  heard: HeardTurnText,
  { isFormatted, isEnd, transcript, words, settled }: Told,
): Message {
  const label = heard.end - heard.start < SPEAKER_SECONDS_MIN ? 'UNKNOWN' : letterOf(words[0]);
  const isPending = (index: number) => speakersPending && isEnd && index === words.length - 1;
  return {
    type: 'Turn',
    turn_order: heard.turn,
    turn_is_formatted: isFormatted,
    end_of_turn: isEnd,
    transcript,
    utterance: isEnd ? transcript : '',
    end_of_turn_confidence: isEnd ? 0.9 : 0.1,
    words: words.map((word, index) => ({
      text: word.word,
      start: millisecondsOf(word.start),
      end: millisecondsOf(word.end),
      confidence: model === WHISPER ? 0 : (word.confidence ?? 0.9),
      word_is_final: index < settled,
      ...(speakerLabels ? { speaker: isPending(index) ? 'PENDING' : letterOf(word) } : {}),
    })),
    ...(speakerLabels ? { speaker_label: label } : {}),
    ...(languageDetection ? { language_code: 'en', language_confidence: 0.99 } : {}),
  };
}

const letterOf = (word: Word | undefined): string => String.fromCharCode(65 + (word?.speaker ?? 0));

/** Casing and a period, for what is words. */
function formatted(text: string): string {
  if (!/^\p{L}/u.test(text)) return text;
  const cased = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.?!]$/.test(cased) ? cased : `${cased}.`;
}
