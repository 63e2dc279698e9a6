// Rev AI's files: made a job with the file in one form, asked about, fetched and removed. https://docs.rev.ai/api/asynchronous
import { pollingBatch } from '../kit/batch.ts';
import { type JsonObject, listIn, objectIn, textIn } from '../kit/json.ts';
import type { BatchRequest, BatchResult } from '../kit/provider.ts';
import { Speakers, sentencesOf } from '../kit/words.ts';
import { wordsIn } from './elements.ts';
import { failures } from './failures.ts';
import { api, languageOf, ROOT } from './models.ts';
import { options } from './options.ts';

export const batch = pollingBatch({
  failures,
  answerMs: 60_000,
  // Channels are mixed, unless `speaker_channels_count` is given, which the gateway does not.
  billsChannels: 'never',

  create: (request) =>
    api.request(request.access, 'POST', `${ROOT}/jobs`, {
      kind: 'multipart',
      fields: [['options', JSON.stringify(jobOf(request))]],
      fileField: 'media',
    }),

  statusOf({ status, failure, failure_detail }) {
    if (status === 'transcribed') return 'done';
    if (status === 'failed') return { failed: { code: textIn(failure), words: textIn(failure_detail) } };
    return status === 'in_progress' ? 'working' : undefined;
  },

  poll: ({ access }, { id }) => api.request(access, 'GET', `${ROOT}/jobs/${id}`),
  fetch({ access }, { id }) {
    const transcript = api.request(access, 'GET', `${ROOT}/jobs/${id}/transcript`);
    return { ...transcript, headers: { ...transcript.headers, accept: 'application/vnd.rev.transcript.v1.0+json' } };
  },
  remove: ({ access }, { id }) => (id === undefined ? [] : [api.request(access, 'DELETE', `${ROOT}/jobs/${id}`)]),
  removesDone: true,
  resultOf,
});

const jobOf = ({ model, language, diarization, params }: BatchRequest) => ({
  transcriber: model,
  language: languageOf(language),
  skip_diarization: !diarization,
  ...options.wire(params, model, 'batch'),
});

function resultOf(request: BatchRequest, { monologues }: JsonObject): BatchResult | undefined {
  if (!Array.isArray(monologues)) return undefined;
  const speakers = new Speakers();
  const utterances = listIn(monologues)
    .map(objectIn)
    .flatMap(({ speaker, elements }) => {
      const number = request.diarization ? speakers.numberOf(speaker) : undefined;
      const { text, words } = wordsIn(elements, (at) => at, number);
      return sentencesOf(words, text);
    });
  return { utterances, language: undefined, seconds: undefined, warnings: [] };
}
