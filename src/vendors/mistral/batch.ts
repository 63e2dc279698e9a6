// Files: OpenAI's form, with times of segments or of words, which come as segments of one word each.
import { type JsonObject, listIn, objectIn } from '../kit/json.ts';
import { baseLanguage } from '../kit/languages/whisper-languages.ts';
import { openaiShapedBatch } from '../kit/openai-shaped/batch.ts';
import type { BatchRequest } from '../kit/provider.ts';
import { failures } from './failures.ts';
import { api } from './models.ts';
import { options } from './options.ts';

/** Speakers come with segments. A language is refused beside times, and a file without times makes no captions. */
const timesOf = ({ language, diarization, wordTimestamps }: BatchRequest): 'segment' | 'word' | undefined => {
  if (diarization) return 'segment';
  if (wordTimestamps) return 'word';
  return baseLanguage(language) === undefined ? 'segment' : undefined;
};

export const batch = openaiShapedBatch({
  api,
  options,
  failures,
  formatOf: () => 'json',
  fields: (request) => ({
    response_format: undefined,
    language: timesOf(request) === undefined ? baseLanguage(request.language) : undefined,
    timestamp_granularities: timesOf(request),
    diarize: request.diarization || undefined,
  }),
  shaped: (answer, request) => (timesOf(request) === 'word' ? withWords(answer) : answer),
  warnings: (request) =>
    baseLanguage(request.language) === undefined || timesOf(request) === undefined
      ? []
      : [
          {
            code: 'language_unused',
            message:
              'Mistral takes no language where times of words or speakers are asked for; it detects the language.',
            param: 'language',
          },
        ],
  // Billed by the duration of the audio: https://mistral.ai/pricing
  billsChannels: 'never',
});

function withWords({ segments, ...answer }: JsonObject): JsonObject {
  const words = listIn(segments).map((each) => ({ ...objectIn(each), word: objectIn(each).text }));
  return { ...answer, words };
}
