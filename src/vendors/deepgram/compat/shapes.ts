// What Deepgram says in the same shape of files and of live speech.

import { bareWord, confidenceOf, type HeardWord } from '../../compat/transcript.ts';

interface Heard {
  text: string;
  confidence?: number;
  speaker?: number;
  words?: readonly HeardWord[];
}

export const wordOf = ({ word, start, end, confidence = 1, speaker }: HeardWord) => ({
  word: bareWord(word),
  start,
  end,
  confidence,
  punctuated_word: word,
  ...(speaker === undefined ? {} : { speaker }),
});

/** @param heard whose speaker is that of all words that have none */
export const alternativeOf = (heard: Heard) => ({
  transcript: heard.text,
  confidence: heard.text === '' ? 0 : confidenceOf(heard),
  words: (heard.words ?? []).map((word) =>
    wordOf(heard.speaker === undefined ? word : { speaker: heard.speaker, ...word }),
  ),
});

/** No checksum is made of the audio. */
export const metadataOf = (requestId: string, at: Date, seconds: number, channels = 1) => ({
  transaction_key: 'deprecated',
  request_id: requestId,
  sha256: '',
  created: at.toISOString(),
  duration: seconds,
  channels,
});
