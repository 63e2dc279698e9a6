// What AssemblyAI says in the same shape of each turn: words in milliseconds, and speakers by letters.
import type { TranscriptEvent } from '../../../api/listen.ts';
import { speakerLetter } from '../../../api/transcriptions.ts';
import { confidenceOf, wordsOf } from '../../compat/transcript.ts';

export const letterOf = (speaker: number | undefined): string | undefined =>
  speaker === undefined ? undefined : speakerLetter(speaker);

/** Clients read text out of words. */
export const toldWords = (heard: Parameters<typeof wordsOf>[0] & Pick<TranscriptEvent, 'speaker' | 'confidence'>) =>
  wordsOf(heard).map(({ word, start, end, confidence, speaker }) => ({
    text: word,
    start: millisecondsOf(start),
    end: millisecondsOf(end),
    confidence: confidence ?? confidenceOf(heard),
    speaker: letterOf(speaker ?? heard.speaker) ?? null,
  }));

export const millisecondsOf = (seconds: number): number => Math.round(seconds * 1_000);
