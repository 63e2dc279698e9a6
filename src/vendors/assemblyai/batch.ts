// AssemblyAI's files: uploaded, made a job, and asked about until it is done.
import type { Utterance } from '../../../machines/events.ts';
import { pollingBatch } from '../kit/batch.ts';
import { fractionIn, type JsonObject, listIn, numberIn, objectIn, secondsIn, textIn } from '../kit/json.ts';
import type { BatchRequest, BatchResult } from '../kit/provider.ts';
import { type Speakers, sentencesOf, utteranceOf } from '../kit/words.ts';
import { api, codeOf, languageOf, newSpeakers, wordsOf } from './api.ts';
import { failures } from './failures.ts';
import { options } from './options.ts';

export const batch = pollingBatch({
  failures,
  answerMs: 60_000,
  // Each channel is transcribed separately: https://www.assemblyai.com/docs/pre-recorded-audio/multichannel
  billsChannels: { whenAsked: 'multichannel' },

  upload(request) {
    const upload = api.request(request.access, 'POST', '/v2/upload', { kind: 'file' });
    return { ...upload, headers: { ...upload.headers, 'content-type': 'application/octet-stream' } };
  },

  create(request, { upload_url }) {
    if (typeof upload_url !== 'string' || upload_url === '') return undefined;
    const json = { audio_url: upload_url, ...jobOf(request) };
    return api.request(request.access, 'POST', '/v2/transcript', { kind: 'json', json });
  },

  statusOf({ status, error }) {
    if (status === 'error') return { failed: { words: textIn(error) } };
    if (status === 'completed') return 'done';
    return status === 'queued' || status === 'processing' ? 'working' : undefined;
  },

  poll: (request, { id }) => api.request(request.access, 'GET', `/v2/transcript/${id}`),
  remove: (request, { id }) =>
    id === undefined ? [] : [api.request(request.access, 'DELETE', `/v2/transcript/${id}`)],
  resultOf,
});

/** The members of a job beside the file. A language and its detection exclude each other. */
function jobOf(request: BatchRequest): Record<string, unknown> {
  const { model, language, diarization } = request;
  const { speech_models, language_detection, speaker_labels } = options.honoured(request.params, model, 'batch');
  const isNamed = language !== undefined && language !== 'auto';
  const detects = language === 'auto' || (!isNamed && language_detection === true);
  return {
    speech_models: [model, ...(speech_models ?? [])],
    ...(isNamed ? { language_code: codeOf(language) } : {}),
    ...(detects ? { language_detection: true } : {}),
    ...(diarization || speaker_labels === true ? { speaker_labels: true } : {}),
    ...options.wire(request.params, model, 'batch'),
  };
}

function resultOf(_: BatchRequest, json: JsonObject): BatchResult {
  const speakers = newSpeakers();
  const parts = listIn(json.utterances).flatMap((each) => utteranceIn(objectIn(each), speakers));
  const words = wordsOf(json.words, speakers);
  return {
    utterances:
      parts.length > 0 ? parts : sentencesOf(words, textIn(json.text)?.trim() ?? '', fractionIn(json.confidence)),
    language: languageOf(json.language_code),
    seconds: numberIn(json.audio_duration),
    warnings: [],
  };
}

/** A turn of a speaker or a channel, where they were requested. */
function utteranceIn(
  { text, start, end, words: raw, speaker, confidence }: JsonObject,
  speakers: Speakers,
): Utterance[] {
  const said = textIn(text)?.trim() ?? '';
  if (said === '') return [];
  const number = speakers.numberOf(speaker);
  const words = wordsOf(raw, speakers);
  const from = secondsIn(start) ?? words[0]?.start ?? 0;
  const until = Math.max(from, secondsIn(end) ?? words.at(-1)?.end ?? from);
  return [utteranceOf(said, from, until, { confidence: fractionIn(confidence), speaker: number, words })];
}
