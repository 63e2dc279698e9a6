// Gladia's files: uploaded, made a job, asked about until it is done, and removed. https://docs.gladia.io/api-reference/v2/pre-recorded/init
import { pollingBatch } from '../kit/batch.ts';
import { type JsonObject, listIn, numberIn, objectIn, textIn } from '../kit/json.ts';
import type { BatchRequest, BatchResult } from '../kit/provider.ts';
import { Speakers } from '../kit/words.ts';
import { configOf, utteranceIn } from './config.ts';
import { failures } from './failures.ts';
import { api } from './models.ts';

export const batch = pollingBatch({
  failures,
  answerMs: 60_000,
  // https://docs.gladia.io/chapters/pre-recorded-stt/features/multiple-channels: each is transcribed, and billed.
  billsChannels: 'always',

  upload: ({ access }) =>
    api.request(access, 'POST', '/v2/upload', { kind: 'multipart', fields: [], fileField: 'audio' }),

  create(request, { audio_url }) {
    if (typeof audio_url !== 'string' || audio_url === '') return undefined;
    const json = { audio_url, ...configOf(request, 'batch', request.diarization ? { diarization: true } : {}) };
    return api.request(request.access, 'POST', '/v2/pre-recorded', { kind: 'json', json });
  },

  statusOf({ id, status, error_code }) {
    if (status === 'error') return { failed: { code: String(numberIn(error_code) ?? 'job_failed') } };
    if (status === 'done') return 'done';
    return status === 'queued' || status === 'processing' || (status === undefined && id !== undefined)
      ? 'working'
      : undefined;
  },

  poll: ({ access }, { id }) => api.request(access, 'GET', `/v2/pre-recorded/${id}`),
  remove: ({ access }, { id }) => (id === undefined ? [] : [api.request(access, 'DELETE', `/v2/pre-recorded/${id}`)]),
  removesDone: true,
  resultOf,
});

function resultOf(_: BatchRequest, answer: JsonObject): BatchResult | undefined {
  const { metadata, transcription } = objectIn(answer.result);
  const { utterances, languages } = objectIn(transcription);
  if (!Array.isArray(utterances)) return undefined;
  const seconds = numberIn(objectIn(metadata).audio_duration);
  const speakers = new Speakers();
  const heard = utterances.map((each) => utteranceIn(objectIn(each), (at) => at, speakers, seconds ?? 0));
  return {
    utterances: heard
      .filter((each) => each !== undefined && each.text !== '')
      .map((each) => each as NonNullable<typeof each>),
    language: textIn(listIn(languages)[0]),
    seconds,
    warnings: [],
  };
}
