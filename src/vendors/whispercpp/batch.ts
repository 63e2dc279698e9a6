// Files: OpenAI's form and answers, except for the path, the language where none is said, and words, which come within segments and
// as parts of words.

import { bearer, providerApi } from '../kit/api.ts';
import { type JsonObject, listIn, objectIn, textIn, timeIn } from '../kit/json.ts';
import { baseLanguage } from '../kit/languages/whisper-languages.ts';
import { openaiShapedBatch } from '../kit/openai-shaped/batch.ts';
import type { BatchRequest } from '../kit/provider.ts';
import { spaced, utteranceOf, wordOf } from '../kit/words.ts';
import { failures } from './failures.ts';
import { options } from './options.ts';

export const api = providerApi({ url: 'http://127.0.0.1:8080', headers: bearer });

export const batch = openaiShapedBatch({
  api,
  path: '/inference',
  options,
  failures,
  formatOf: () => 'verbose_json',
  fields: ({ language }) => ({
    model: undefined,
    // Else it takes everything for English.
    language: baseLanguage(language) ?? 'auto',
    // They take another pass over the audio.
    no_language_probabilities: true,
  }),
  shaped,
  // Audio is mixed down to one channel.
  billsChannels: 'never',
});

function shaped(answer: JsonObject, { wordTimestamps }: BatchRequest): JsonObject {
  const text = textIn(answer.text)?.replace(/\s+/g, ' ');
  if (!wordTimestamps) return { ...answer, text };
  const words = listIn(answer.segments).flatMap((segment) => wordsOf(objectIn(segment)));
  return { ...answer, text, words };
}

/** A part without a space before it belongs to the word before, within a segment. */
function wordsOf({ words }: JsonObject) {
  const parts = listIn(words).flatMap((each) => {
    const { word, start: from, end: until, probability } = objectIn(each);
    const [part, start, end] = [textIn(word), timeIn(from), timeIn(until)];
    if (part === undefined || start === undefined || end === undefined) return [];
    return [{ ...wordOf(part, start, end), probability }];
  });
  return spaced(utteranceOf('', 0, 0, { words: parts })).words ?? [];
}
