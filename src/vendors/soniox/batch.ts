// Files of Soniox: uploaded, made a job, asked about until it is done, and fetched. Nothing is deleted there on its own, and what
// is kept counts against the account: both are removed. https://soniox.com/docs/stt/async/limits-and-quotas
import { pollingBatch } from '../kit/batch.ts';
import { type JsonObject, listIn, objectIn, textIn } from '../kit/json.ts';
import type { BatchRequest, BatchResult } from '../kit/provider.ts';
import { Speakers, sentencesOf, spaced } from '../kit/words.ts';
import { api, isSpoken, languagesOf, utteranceOfTokens } from './api.ts';
import { failures } from './failures.ts';
import { options } from './options.ts';

const WORKING = ['queued', 'processing'];
const ID = /^[\w-]{1,128}$/;

export const batch = pollingBatch({
  failures,
  // The upload's answer comes when all of it is there.
  answerMs: 120_000,
  // Channels are mixed: https://soniox.com/docs/stt/async/async-transcription
  billsChannels: 'never',

  upload: ({ access }) =>
    api.request(access, 'POST', '/v1/files', { kind: 'multipart', fields: [], fileField: 'file' }),

  create(request, { id }) {
    if (typeof id !== 'string' || !ID.test(id)) return undefined;
    const json = { file_id: id, ...jobOf(request) };
    return api.request(request.access, 'POST', '/v1/transcriptions', { kind: 'json', json });
  },

  statusOf({ status, error_type, error_message }) {
    // The documents call it `failed`, the SDK `error`.
    if (status === 'error' || status === 'failed')
      return { failed: { code: textIn(error_type), words: textIn(error_message) } };
    if (status === 'completed') return 'done';
    return WORKING.includes(status as string) ? 'working' : undefined;
  },

  poll: ({ access }, { id }) => api.request(access, 'GET', `/v1/transcriptions/${id}`),
  fetch: ({ access }, { id }) => api.request(access, 'GET', `/v1/transcriptions/${id}/transcript`),
  remove: ({ access }, { id, uploaded }) => [
    ...(id === undefined ? [] : [api.request(access, 'DELETE', `/v1/transcriptions/${id}`)]),
    ...(typeof uploaded.id === 'string' && ID.test(uploaded.id)
      ? [api.request(access, 'DELETE', `/v1/files/${uploaded.id}`)]
      : []),
  ],
  removesDone: true,
  resultOf,
});

function jobOf({ model, language, diarization, params }: BatchRequest): JsonObject {
  return {
    model,
    ...languagesOf(language),
    ...(diarization ? { enable_speaker_diarization: true } : {}),
    ...options.wire(params, model, 'batch'),
  };
}

function resultOf(_: BatchRequest, answer: JsonObject): BatchResult | undefined {
  if (!Array.isArray(answer.tokens)) return undefined;
  const tokens = listIn(answer.tokens).map(objectIn).filter(isSpoken);
  if (tokens.length === 0) return { utterances: [], language: undefined, seconds: undefined, warnings: [] };
  const { words = [], language } = spaced(utteranceOfTokens(tokens, new Speakers(), (seconds) => seconds, 0));
  return { utterances: sentencesOf(words), language, seconds: undefined, warnings: [] };
}
