// Files of Google: one request with the file in it, a minute at most; longer ones would have to be in a bucket first.
// https://cloud.google.com/speech-to-text/v2/docs/reference/rest/v2/projects.locations.recognizers/recognize
import { requestBatch } from '../kit/batch.ts';
import { utteranceOfResult } from '../kit/grpc/results.ts';
import { listIn, objectIn } from '../kit/json.ts';
import { sentencesOf } from '../kit/words.ts';
import { headersOf, recognizerOf, urlAt } from './api.ts';
import { configOf, toldIn } from './config.ts';
import { failures } from './failures.ts';

export const batch = requestBatch({
  failures,
  answerMs: 90_000,
  // https://cloud.google.com/speech-to-text/pricing
  billsChannels: 'always',

  requestOf: (request) => ({
    method: 'POST',
    url: urlAt(request, `/v2/${recognizerOf(request)}:recognize`),
    headers: headersOf(request.access),
    body: {
      kind: 'json-file',
      json: { config: { autoDecodingConfig: {}, ...configOf(request, 'batch') } },
      fileMember: 'content',
    },
  }),

  resultOf(_, answer) {
    if (!Array.isArray(answer.results) && typeof answer.metadata !== 'object') return undefined;
    let from = 0;
    const heard = listIn(answer.results).map((result) => {
      const utterance = utteranceOfResult(toldIn(objectIn(result)), (seconds) => seconds, from, from);
      from = utterance.end;
      return utterance;
    });
    const utterances = heard
      .filter(({ text }) => text !== '')
      .flatMap((each) => (each.words === undefined ? [each] : sentencesOf(each.words, each.text, each.confidence)));
    return {
      utterances,
      language: heard[0]?.language,
      seconds: undefined,
      warnings: [],
    };
  },
});
