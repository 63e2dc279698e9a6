// `Turn` messages as AssemblyAI's models write them. When each is said is live.ts.
import type { Word } from '../../../../machines/events.ts';
import type { SessionOptions } from './query.ts';

/**
 * How turns end. `a`: unformatted, then again formatted; `b`: once, and formatted like every message; `c`: once,
 * unformatted; `d`: once, formatted, and only Universal-3 says so.
 */
export type Regime = 'a' | 'b' | 'c' | 'd';

/** Words of a turn as the ear heard them. Times are seconds. */
interface Heard {
  turn: number;
  text: string;
  start: number;
  end: number;
  words?: Word[];
}

type Message = Readonly<Record<string, unknown>>;

/** Turns shorter than this have a speaker nobody knows. */
const SPEAKER_SECONDS_MIN = 1;
/** Sums of seconds are rounded. */
const ROUNDING_MS = 1e-6;

export class TurnWriter {
  private readonly options: SessionOptions;

  constructor(options: SessionOptions) {
    this.options = options;
  }

  /** Universal-Streaming leaves the unfinished last word out of `transcript`; Universal-3 has a dash where it goes on. */
  partial(regime: Regime, heard: Heard): Message {
    const words = wordsOf(heard, heard.text);
    if (this.options.isUniversal3) {
      const transcript = `${heard.text}—`;
      return this.message(heard, regime === 'b', false, transcript, wordsOf(heard, transcript), 0);
    }
    const transcript = words.slice(0, -1).map(({ word }) => word);
    return this.message(heard, regime === 'b', false, transcript.join(' '), words, words.length - 1);
  }

  /** The end of a turn. */
  end(regime: Regime, heard: Heard): Message {
    const text = regime === 'b' || regime === 'd' ? formatted(heard.text) : heard.text;
    const isSaid = regime === 'b' || (regime === 'd' && this.options.isUniversal3);
    return this.message(heard, isSaid, true, text, wordsOf(heard, text));
  }

  /** The same once more, formatted. */
  formatted(heard: Heard): Message {
    const text = formatted(heard.text);
    return this.message(heard, true, true, text, wordsOf(heard, text));
  }

  /** The end of a turn in which nothing was understood: it says nothing of where it was. */
  empty(regime: Regime, turn: number): Message {
    return this.message({ turn, text: '', start: 0, end: 0 }, regime === 'b', true, '', []);
  }

  private message(
    { turn, start, end }: Heard,
    isFormatted: boolean,
    isEnd: boolean,
    transcript: string,
    words: readonly Word[],
    settled = words.length,
  ): Message {
    const { speakerLabels, languageDetection } = this.options;
    const label = end - start < SPEAKER_SECONDS_MIN ? 'UNKNOWN' : letterOf(words[0]);
    return {
      type: 'Turn',
      turn_order: turn,
      turn_is_formatted: isFormatted,
      end_of_turn: isEnd,
      transcript,
      utterance: isEnd ? transcript : '',
      end_of_turn_confidence: isEnd ? 0.9 : 0.1,
      words: words.map((word, index) => ({
        text: word.word,
        start: millisecondsOf(word.start),
        end: millisecondsOf(word.end),
        confidence: word.confidence ?? 0.9,
        word_is_final: index < settled,
        ...(speakerLabels ? { speaker: letterOf(word) } : {}),
      })),
      ...(speakerLabels ? { speaker_label: label } : {}),
      ...(languageDetection ? { language_code: 'en', language_confidence: 0.99 } : {}),
    };
  }
}

const letterOf = (word: Word | undefined): string => String.fromCharCode(65 + (word?.speaker ?? 0));

/** Rounded down: a word never ends behind the audio it was heard in. */
export const millisecondsOf = (seconds: number): number => Math.floor(seconds * 1_000 + ROUNDING_MS);

/** The words of a text with the times the ear gave, or with even ones. */
function wordsOf({ start, end, words }: Heard, text: string): Word[] {
  const texts = text.split(' ').filter((each) => each !== '');
  if (words !== undefined && words.length === texts.length)
    return words.map((word, index) => ({ ...word, word: texts[index] as string }));
  const share = (end - start) / texts.length;
  return texts.map((word, index) => ({ word, start: start + index * share, end: start + (index + 1) * share }));
}

/** Casing and a period, for what is words. */
function formatted(text: string): string {
  if (!/^\p{L}/u.test(text)) return text;
  const cased = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.?!]$/.test(cased) ? cased : `${cased}.`;
}
