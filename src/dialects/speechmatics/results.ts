// What was heard, as `results` of Speechmatics: words and marks of punctuation, each for itself.
import type { TranscriptEvent } from '../../api/listen.ts';

type Heard = Pick<TranscriptEvent, 'text' | 'start' | 'end' | 'words' | 'speaker' | 'language' | 'confidence'>;

interface Spoken {
  word: string;
  start: number;
  end: number;
  confidence?: number;
  speaker?: number;
}

/** Behind a word. */
const MARKS = /^(.*[^.,?!;:…。，、？！；：।؟،])([.,?!;:…。，、？！；：।؟،]+)$/su;
const ENDS = /[.?!…。？！।؟]/u;

export function resultsOf(heard: Heard): object[] {
  return spokenIn(heard).flatMap(
    ({ word, start, end, confidence = heard.confidence ?? 1, speaker = heard.speaker }) => {
      const [, bare = word, marks = ''] = MARKS.exec(word) ?? [];
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
    },
  );
}

/** Where a model gives no words, those of its text, one after another in the time of the turn. */
function spokenIn({ text, start, end, words = [] }: Heard): readonly Spoken[] {
  if (words.length > 0) return words.map((each) => ({ ...each, word: each.word.trim() }));
  const texts = text.split(/\s+/).filter((word) => word !== '');
  const each = Math.max(0, end - start) / Math.max(1, texts.length);
  return texts.map((word, at) => ({ word, start: start + at * each, end: start + (at + 1) * each }));
}
