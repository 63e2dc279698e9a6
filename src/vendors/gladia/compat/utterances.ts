// A turn as an utterance of Gladia, live and of files.
import type { TranscriptEvent } from '../../../api/listen-events.ts';
import { confidenceOf } from '../../compat/transcript.ts';

type Heard = Pick<
  TranscriptEvent,
  'text' | 'start' | 'end' | 'words' | 'speaker' | 'language' | 'confidence' | 'channel'
>;

/** Words bring their own spaces. @param asked the language, where the model tells none */
export function utteranceOf(heard: Heard, asked: string) {
  const { text, start, end, language = asked, speaker, words = [], channel = 0 } = heard;
  return {
    ...{ text, start, end, language, confidence: confidenceOf(heard), channel },
    ...(speaker === undefined ? {} : { speaker }),
    words: words.map(({ word, confidence = 1, ...placed }, index) => ({
      word: index === 0 ? word : ` ${word}`,
      start: placed.start,
      end: placed.end,
      confidence,
    })),
  };
}
