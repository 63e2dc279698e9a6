// A turn as tokens: parts of its text that bring their own spaces, so that all tokens put together are what was said.
import type { TranscriptEvent } from '../../../api/listen.ts';
import { confidenceOf, type HeardWord, wordsOf } from '../../compat/transcript.ts';

type Heard = Pick<TranscriptEvent, 'text' | 'start' | 'end' | 'words' | 'speaker' | 'language' | 'confidence'>;

/** @param lead what stands between this text and the one before it */
export function tokensOf(heard: Heard, lead: string, more: object): object[] {
  const parts = partsOf(heard);
  return parts.map(({ text, word }, index) => ({
    text: index === 0 ? lead + text : text,
    start_ms: millisecondsOf(word.start),
    end_ms: millisecondsOf(word.end),
    confidence: word.confidence ?? confidenceOf(heard),
    ...speakerOf(word.speaker ?? heard.speaker),
    ...(heard.language === undefined ? {} : { language: heard.language }),
    ...more,
  }));
}

/** Numbered from 1, as Soniox does. */
const speakerOf = (speaker: number | undefined) => (speaker === undefined ? {} : { speaker: String(speaker + 1) });

/** The text, cut behind each word; where the words are not those of the text, it is cut at its spaces. */
function partsOf(heard: Heard): { text: string; word: HeardWord }[] {
  const told = cutAt(heard.text, wordsOf(heard));
  const { text, start, end } = heard;
  return told ?? cutAt(text, wordsOf({ text, start, end })) ?? [];
}

function cutAt(text: string, words: readonly HeardWord[]): { text: string; word: HeardWord }[] | undefined {
  const parts: { text: string; word: HeardWord }[] = [];
  let at = 0;
  for (const [index, word] of words.entries()) {
    const found = text.indexOf(word.word, at);
    if (found < 0) return undefined;
    const end = index === words.length - 1 ? text.length : found + word.word.length;
    parts.push({ text: text.slice(at, end), word });
    at = end;
  }
  return parts;
}

export const millisecondsOf = (seconds: number): number => Math.round(seconds * 1_000);
