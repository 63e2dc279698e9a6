// AssemblyAI's files: uploaded, made a job, and asked about until it is done. Requests and answers only; the host sends them,
// streams the file and keeps the deadlines.
import type { LegFailure, Utterance } from '../../../machines/events.ts';
import type { BatchRequest, BatchResult, BatchStep, HttpAnswer, HttpBatchCodec, HttpRequest } from '../provider.ts';
import { objectOf } from '../refusals.ts';
import { urlOf } from '../urls.ts';
import { failureNamed, failureOfFileRefusal, failureOfJob } from './failures.ts';
import { codeOf, languageOf } from './languages.ts';
import { honoured } from './options.ts';
import { confidenceOf, type HeardWord, isFraction, plainWords, Speakers, secondsOf, textOf, wordsOf } from './words.ts';

export const PUBLIC_URL = 'https://api.assemblyai.com';
/** A client waits for the answer, so a job is asked about soon, and then less and less often. */
const POLL_MS = { first: 500, growth: 1.5, most: 3_000 };

interface State {
  request: BatchRequest;
  uploaded: boolean;
  jobId: string | undefined;
  pollMs: number;
}

export const batch: HttpBatchCodec<State> = {
  kind: 'http',
  // The file is sent once, and may be sent without a length, as AssemblyAI's own client does.
  needsLength: false,
  answerMs: 60_000,
  // Each channel is transcribed by itself: https://www.assemblyai.com/docs/pre-recorded-audio/multichannel
  billsChannels: { whenAsked: 'multichannel' },

  begin: (request) => {
    const state: State = { request, uploaded: false, jobId: undefined, pollMs: POLL_MS.first };
    const upload = requestOf(request, 'POST', '/v2/upload', { kind: 'file' });
    upload.headers['Content-Type'] = 'application/octet-stream';
    return { state, step: { type: 'request', request: upload } };
  },

  read: (state, answer) => (state.uploaded ? job(state, answer) : create(state, answer)),

  refused: (_, refusal) => failureOfFileRefusal(refusal),

  abandon: ({ request, jobId }) =>
    jobId === undefined ? undefined : requestOf(request, 'DELETE', `/v2/transcript/${jobId}`),
};

/** The file is there: it is made a job. */
function create(state: State, answer: HttpAnswer): BatchStep {
  const { upload_url } = objectOf(answer.body);
  if (typeof upload_url !== 'string' || upload_url === '') return failed(failureNamed('bad_answer'));
  state.uploaded = true;
  const body = { kind: 'json' as const, json: { audio_url: upload_url, ...jobOf(state.request) } };
  return { type: 'request', request: requestOf(state.request, 'POST', '/v2/transcript', body) };
}

/** What a job is, or has come to. */
function job(state: State, answer: HttpAnswer): BatchStep {
  const json = objectOf(answer.body);
  const { id, status, error } = json;
  if (typeof id === 'string' && /^[\w-]{1,128}$/.test(id)) state.jobId ??= id;
  if (state.jobId === undefined) return failed(failureNamed('bad_answer'));
  if (status === 'error') return failed(failureOfJob(typeof error === 'string' ? error : ''));
  if (status === 'completed') return { type: 'done', result: resultOf(state.request, json) };
  if (status !== 'queued' && status !== 'processing') return failed(failureNamed('bad_answer'));
  const afterMs = state.pollMs;
  state.pollMs = Math.min(POLL_MS.most, Math.round(afterMs * POLL_MS.growth));
  return { type: 'request', request: requestOf(state.request, 'GET', `/v2/transcript/${state.jobId}`), afterMs };
}

const failed = (failure: LegFailure): BatchStep => ({ type: 'failed', failure });

function requestOf(
  { access }: BatchRequest,
  method: HttpRequest['method'],
  path: string,
  body: HttpRequest['body'] = { kind: 'none' },
): HttpRequest {
  return {
    method,
    url: urlOf('http', access.baseUrl ?? PUBLIC_URL, path),
    // The bare key: with `Bearer` before it, it is refused.
    headers: access.credential === undefined ? {} : { Authorization: access.credential },
    body,
  };
}

/** The members of a job beside the file. A language and its detection exclude each other. */
function jobOf(request: BatchRequest): Record<string, unknown> {
  const { model, language, diarization, prompt, temperature } = request;
  const { speech_models, language_detection, speaker_labels, ...params } = honoured(request.params, model, 'batch');
  const isNamed = language !== undefined && language !== 'auto';
  const detects = language === 'auto' || (!isNamed && language_detection === true);
  const isPrompted = takesPrompts(model);
  return {
    speech_models: [model, ...((speech_models ?? []) as string[])],
    ...(isNamed ? { language_code: codeOf(language) } : {}),
    ...(detects ? { language_detection: true } : {}),
    ...(diarization || speaker_labels === true ? { speaker_labels: true } : {}),
    ...(isPrompted && prompt !== undefined ? { prompt } : {}),
    ...(isPrompted && temperature !== undefined ? { temperature } : {}),
    ...params,
  };
}

const takesPrompts = (model: string): boolean => model !== 'universal-2';

function resultOf(request: BatchRequest, json: Readonly<Record<string, unknown>>): BatchResult {
  const { text, utterances, words, confidence, language_code, audio_duration } = json;
  const speakers = new Speakers();
  const parts = Array.isArray(utterances) ? utterancesOf(utterances, speakers) : [];
  return {
    utterances:
      parts.length > 0
        ? parts
        : sentencesOf(wordsOf(words, speakers), typeof text === 'string' ? text.trim() : '', confidence),
    language: languageOf(language_code),
    seconds: typeof audio_duration === 'number' && audio_duration >= 0 ? audio_duration : undefined,
    warnings: takesPrompts(request.model) ? [] : unprompted(request),
  };
}

/** The turns of speakers or channels, where they were asked for. */
function utterancesOf(raw: readonly unknown[], speakers: Speakers): Utterance[] {
  return raw.flatMap((each) => {
    if (typeof each !== 'object' || each === null) return [];
    const { text, start, end, words, speaker, confidence } = each as Record<string, unknown>;
    if (typeof text !== 'string' || text.trim() === '') return [];
    const number = speakers.numberOf(speaker);
    const heard = wordsOf(words, speakers);
    const from = secondsOf(start) ?? heard[0]?.start ?? 0;
    return {
      text: text.trim(),
      start: from,
      end: Math.max(from, secondsOf(end) ?? heard.at(-1)?.end ?? from),
      ...(isFraction(confidence) ? { confidence } : {}),
      ...(number === undefined ? {} : { speaker: number }),
      words: plainWords(heard),
    };
  });
}

/**
 * A transcript without utterances, cut where sentences end: captions of a whole file in one piece are of no use. Where the
 * words do not make up the text (there are no spaces, say) it stays whole.
 */
function sentencesOf(words: HeardWord[], text: string, confidence: unknown): Utterance[] {
  if (text === '') return [];
  const whole = pieceOf(words, text, isFraction(confidence) ? confidence : undefined);
  if (textOf(words) !== text) return [whole];
  const pieces: Utterance[] = [];
  let from = 0;
  for (const [index, { word }] of words.entries()) {
    if (!/[.?!…]["”’)]?$/.test(word) && index < words.length - 1) continue;
    const sentence = words.slice(from, index + 1);
    pieces.push(pieceOf(sentence, textOf(sentence), undefined));
    from = index + 1;
  }
  return pieces;
}

function pieceOf(words: HeardWord[], text: string, known: number | undefined): Utterance {
  const confidence = known ?? confidenceOf(words);
  return {
    text,
    start: words[0]?.start ?? 0,
    end: words.at(-1)?.end ?? 0,
    ...(confidence === undefined ? {} : { confidence }),
    words: plainWords(words),
  };
}

/** What Universal-2 was asked and cannot do. */
function unprompted({ model, prompt, temperature }: BatchRequest): BatchResult['warnings'] {
  return Object.entries({ prompt, temperature }).flatMap(([param, value]) =>
    value === undefined
      ? []
      : { code: `${param}_unsupported`, message: `assemblyai/${model} takes no \`${param}\`.`, param },
  );
}
