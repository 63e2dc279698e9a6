// Files of xAI: one form with the file behind all else, one answer.
import { modelAt } from '../kit/api.ts';
import { requestBatch } from '../kit/batch.ts';
import { type JsonObject, numberIn, textIn } from '../kit/json.ts';
import { formOf } from '../kit/urls.ts';
import { Speakers, sentencesOf, utteranceOf } from '../kit/words.ts';
import { api, wordsIn, writtenLanguage } from './api.ts';
import { failures } from './failures.ts';
import { options } from './options.ts';

export const batch = requestBatch({
  failures,
  needsLength: true,
  // The answer comes when all of the file was heard.
  answerMs: 600_000,
  // Channels are mixed where they are not requested on their own, which the gateway does not.
  billsChannels: 'never',

  requestOf(request) {
    const { access, model, language, diarization, params } = request;
    const written = writtenLanguage(language);
    const fields = formOf({
      model: modelAt(request),
      language: written,
      format: written && true,
      diarize: diarization || undefined,
      ...options.wire(params, model, 'batch'),
    });
    return api.request(access, 'POST', '/v1/stt', { kind: 'multipart', fields, fileField: 'file' });
  },

  resultOf(request, answer: JsonObject) {
    const text = textIn(answer.text)?.trim();
    if (text === undefined) return undefined;
    const seconds = numberIn(answer.duration);
    const words = wordsIn(answer.words, (at) => at, new Speakers());
    const whole = text === '' ? [] : [utteranceOf(text, 0, seconds ?? request.file.seconds ?? 0)];
    return {
      utterances: words === undefined ? whole : sentencesOf(words, text),
      language: textIn(answer.language) || undefined,
      seconds,
      warnings: [],
    };
  },
});
