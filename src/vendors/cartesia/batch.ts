// Files of Ink Whisper: one form, one answer.
import { requestBatch } from '../kit/batch.ts';
import { type JsonObject, numberIn, textIn } from '../kit/json.ts';
import { baseLanguage } from '../kit/languages/whisper-languages.ts';
import { formOf } from '../kit/urls.ts';
import { sentencesOf, utteranceOf } from '../kit/words.ts';
import { failures } from './failures.ts';
import { api, wordsIn } from './models.ts';

export const batch = requestBatch({
  failures,
  needsLength: true,
  // The answer comes when all of the file was heard.
  answerMs: 600_000,
  // Billed by the duration of the file: https://docs.cartesia.ai/pricing
  billsChannels: 'never',

  requestOf({ access, model, language }) {
    const fields = formOf({ model, language: baseLanguage(language), 'timestamp_granularities[]': 'word' });
    return api.request(access, 'POST', '/stt', { kind: 'multipart', fields, fileField: 'file' });
  },

  resultOf(request, answer: JsonObject) {
    const text = textIn(answer.text)?.trim();
    if (text === undefined) return undefined;
    const seconds = numberIn(answer.duration);
    const words = wordsIn(answer.words, (at) => at);
    const whole = text === '' ? [] : [utteranceOf(text, 0, seconds ?? request.file.seconds ?? 0)];
    return {
      utterances: words === undefined ? whole : sentencesOf(words, text),
      language: textIn(answer.language),
      seconds,
      warnings: [],
    };
  },
});
