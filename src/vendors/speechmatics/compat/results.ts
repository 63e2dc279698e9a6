// What was heard, as `results` of Speechmatics: words and marks of punctuation, each for itself.
import type { TranscriptEvent } from '../../../api/listen-events.ts';
import { wordsOf } from '../../compat/transcript.ts';

type Heard = Pick<TranscriptEvent, 'text' | 'start' | 'end' | 'words' | 'speaker' | 'language' | 'confidence'>;

/** Behind a word. */
const MARKS = /^(.*[^.,?!;:…。，、？！；：।؟،])([.,?!;:…。，、？！；：।؟،]+)$/su;
const ENDS = /[.?!…。？！।؟]/u;

/** Between the words of a language, by its code. */
export const delimiterOf = (language: unknown): string =>
  typeof language === 'string' && /^(cmn|zh|ja|yue|th)\b/.test(language) ? '' : ' ';

export function resultsOf(heard: Heard): object[] {
  return wordsOf(heard).flatMap(({ word, start, end, confidence = heard.confidence ?? 1, speaker = heard.speaker }) => {
    const [, bare = word.trim(), marks = ''] = MARKS.exec(word.trim()) ?? [];
    const more = {
      ...(heard.language === undefined ? {} : { language: heard.language }),
      ...(speaker === undefined ? {} : { speaker: `S${speaker + 1}` }),
    };
    const spoken = {
      type: 'word',
      start_time: start,
      end_time: end,
      alternatives: [{ content: bare, confidence, ...more }],
    };
    const punctuation = [...marks].map((mark) => ({
      type: 'punctuation',
      start_time: end,
      end_time: end,
      attaches_to: 'previous',
      is_eos: ENDS.test(mark),
      alternatives: [{ content: mark, confidence, ...more }],
    }));
    return [spoken, ...punctuation];
  });
}
