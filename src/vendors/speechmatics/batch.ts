// Speechmatics' files: made a job with the file in one form, asked about, fetched and removed.
// https://docs.speechmatics.com/api-ref/batch/create-a-new-job
import { pollingBatch } from '../kit/batch.ts';
import { type JsonObject, listIn, numberIn, objectIn, textIn } from '../kit/json.ts';
import type { BatchRequest, BatchResult } from '../kit/provider.ts';
import { sentencesOf, spaced, utteranceOfWords } from '../kit/words.ts';
import { configOf, newSpeakers, partsOf } from './config.ts';
import { failures } from './failures.ts';
import { api, heardLanguage } from './models.ts';

export const batch = pollingBatch({
  failures,
  answerMs: 60_000,
  // Channels are mixed: the gateway does not ask for them one by one.
  billsChannels: 'never',

  create: (request) =>
    api.request(request.access, 'POST', '/v2/jobs', {
      kind: 'multipart',
      fields: [
        ['config', JSON.stringify({ type: 'transcription', transcription_config: configOf(request, 'batch', {}) })],
      ],
      fileField: 'data_file',
    }),

  idOf: ({ id, job }) => id ?? objectIn(job).id,

  statusOf({ id, job: known }) {
    const { status, errors } = objectIn(known);
    if (status === 'done') return 'done';
    if (status === 'running' || (status === undefined && id !== undefined)) return 'working';
    if (status === 'rejected' || status === 'deleted' || status === 'expired')
      return { failed: { code: status, words: textIn(objectIn(listIn(errors).at(-1)).message) } };
    return undefined;
  },

  poll: ({ access }, { id }) => api.request(access, 'GET', `/v2/jobs/${id}`),
  fetch: ({ access }, { id }) => api.request(access, 'GET', `/v2/jobs/${id}/transcript?format=json-v2`),
  remove: ({ access }, { id }) =>
    id === undefined ? [] : [api.request(access, 'DELETE', `/v2/jobs/${id}?force=true`)],
  // The provider keeps files for a week.
  removesDone: true,
  resultOf,
});

function resultOf(_: BatchRequest, { results, job, metadata }: JsonObject): BatchResult | undefined {
  if (!Array.isArray(results)) return undefined;
  const info = objectIn(objectIn(metadata).language_pack_info);
  const delimiter = textIn(info.word_delimiter) ?? ' ';
  const parts = partsOf(results, (at) => at, newSpeakers(), delimiter);
  const whole = spaced(utteranceOfWords(parts, parts.map(({ word }) => word).join('')));
  const first = objectIn(listIn(objectIn(results[0]).alternatives)[0]);
  return {
    utterances: sentencesOf(whole.words ?? [], whole.text),
    language: heardLanguage(textIn(first.language)),
    seconds: numberIn(objectIn(job).duration),
    warnings: [],
  };
}
