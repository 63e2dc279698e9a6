// The codec of `POST /v1/audio/transcriptions`: each model is asked for the richest answer it gives, and that is read.
import type { Utterance, Word } from '../../../machines/events.ts';
import type { TokenLogprob } from '../../api/transcriptions.ts';
import type { BatchRequest, BatchResult, BatchStep, HttpBatchCodec, HttpRequest } from '../provider.ts';
import { objectOf } from '../refusals.ts';
import { urlOf } from '../urls.ts';
import { failureOf, failureOfRefusal } from './failures.ts';
import { baseLanguage, languageCode } from './languages.ts';
import { FILE_EXTENSIONS, traitsOf } from './models.ts';
import { honoured, honours } from './options.ts';
import { apiBase } from './urls.ts';

interface State {
  /** Of the file, where its container says so. */
  seconds: number | undefined;
  warnings: BatchResult['warnings'];
}

type Members = Readonly<Record<string, unknown>>;

export const batch: HttpBatchCodec<State> = {
  kind: 'http',
  needsLength: true,
  // The answer begins when all of the file was heard. OpenAI's own clients wait as long.
  answerMs: 600_000,
  // Audio is mixed down, and billed by its duration: https://developers.openai.com/api/docs/pricing
  billsChannels: 'never',

  begin(request) {
    const { file, model, prompt } = request;
    const state: State = { seconds: file.seconds, warnings: [] };
    if (!FILE_EXTENSIONS.includes(extensionOf(file.name))) {
      return { state, step: { type: 'failed', failure: failureOf('unsupported_format') } };
    }
    if (prompt !== undefined && !honours('prompt', model, 'batch')) {
      state.warnings.push({
        code: 'prompt_unsupported',
        message: `openai/${model} takes no prompt.`,
        param: 'prompt',
      });
    }
    return { state, step: { type: 'request', request: requestOf(request) } };
  },

  read(state, { body }) {
    const result = resultOf(objectOf(body), state.seconds);
    if (result === undefined) return { type: 'failed', failure: failureOf('bad_answer') };
    return { type: 'done', result: { ...result, warnings: state.warnings } } satisfies BatchStep;
  },

  refused: (_, refusal) => failureOfRefusal(refusal),
};

const extensionOf = (name: string): string => /\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? '';

function requestOf(request: BatchRequest): HttpRequest {
  const { access } = request;
  return {
    method: 'POST',
    url: urlOf('http', apiBase(access.baseUrl), '/audio/transcriptions'),
    headers: { authorization: `Bearer ${access.credential ?? ''}` },
    body: { kind: 'multipart', fields: fieldsOf(request), fileField: 'file' },
  };
}

/** The form, without the file. A member of `provider_params` goes before the request's own of the same name. */
function fieldsOf(request: BatchRequest): [string, string][] {
  const { model, params, wordTimestamps } = request;
  const options = honoured(params, model, 'batch');
  const format = traitsOf(model)?.file ?? 'json';
  const prompt = options.prompt ?? (honours('prompt', model, 'batch') ? request.prompt : undefined);
  const temperature = options.temperature ?? request.temperature;
  const language = options.languages === undefined ? baseLanguage(request.language) : undefined;
  const granularities = new Set(['segment', ...(options.timestamp_granularities ?? [])]);
  if (wordTimestamps) granularities.add('word');
  const chunking = options.chunking_strategy ?? (format === 'diarized_json' ? 'auto' : undefined);
  return [
    ['model', model],
    ['response_format', format],
    ...one('language', language),
    ...many('languages[]', options.languages),
    ...many('keywords[]', options.keywords),
    ...one('prompt', prompt),
    ...one('temperature', temperature?.toString()),
    ...(format === 'verbose_json' ? many('timestamp_granularities[]', [...granularities]) : []),
    ...one('chunking_strategy', typeof chunking === 'object' ? JSON.stringify(chunking) : chunking),
    ...many('known_speaker_names[]', options.known_speaker_names),
    ...many('known_speaker_references[]', options.known_speaker_references),
    ...many('include[]', options.include),
  ];
}

const many = (name: string, values: readonly string[] | undefined): [string, string][] =>
  (values ?? []).map((value) => [name, value]);

const one = (name: string, value: string | undefined): [string, string][] =>
  value === undefined ? [] : [[name, value]];

/** Any of the three JSON answers: they differ in what they leave out. */
function resultOf(answer: Members, fileSeconds: number | undefined): Omit<BatchResult, 'warnings'> | undefined {
  if (typeof answer.text !== 'string') return undefined;
  const seconds = secondsOf(answer);
  const language = languageOf(answer);
  const words = wordsOf(answer.words);
  const parts = segmentsOf(answer.segments);
  const text = answer.text.trim();
  // Without segments there are no times; what was said was said somewhere in the file.
  const utterances =
    parts.length > 0 || text === '' ? parts : [{ text, start: 0, end: seconds ?? fileSeconds ?? 0 } as Utterance];
  placeWords(utterances, words);
  const logprobs = logprobsOf(answer.logprobs);
  const confidence = confidenceOf(logprobs);
  for (const utterance of utterances) {
    if (language !== undefined) utterance.language = language;
    if (confidence !== undefined) utterance.confidence = confidence;
  }
  return { utterances, language, seconds, ...(logprobs.length === 0 ? {} : { logprobs }) };
}

function secondsOf({ duration, usage }: Members): number | undefined {
  const { type, seconds } = membersOf(usage);
  if (isTime(duration)) return duration;
  return type === 'duration' && isTime(seconds) ? seconds : undefined;
}

/** `language` is an English name; `languages` are codes, the first heard first. */
function languageOf({ language, languages }: Members): string | undefined {
  if (typeof language === 'string') return languageCode(language);
  const { code } = membersOf(Array.isArray(languages) ? languages[0] : undefined);
  return typeof code === 'string' ? languageCode(code) : undefined;
}

/** Segments with words in them. Speakers count from 0 in the order they are first heard. */
function segmentsOf(segments: unknown): Utterance[] {
  const utterances: Utterance[] = [];
  const speakers: string[] = [];
  for (const each of Array.isArray(segments) ? segments : []) {
    const { text, start, end, speaker } = membersOf(each);
    if (typeof text !== 'string' || text.trim() === '' || !isTime(start) || !isTime(end)) continue;
    const utterance: Utterance = { text: text.trim(), start, end: Math.max(start, end) };
    if (typeof speaker === 'string') {
      if (!speakers.includes(speaker)) speakers.push(speaker);
      utterance.speaker = speakers.indexOf(speaker);
    }
    utterances.push(utterance);
  }
  return utterances;
}

function wordsOf(words: unknown): Word[] {
  return (Array.isArray(words) ? words : []).flatMap((each) => {
    const { word, start, end } = membersOf(each);
    if (typeof word !== 'string' || !isTime(start) || !isTime(end)) return [];
    return [{ word: word.trim(), start, end: Math.max(start, end) }];
  });
}

/** Words come beside the segments, both in order: each belongs to the first that ends behind its beginning, else to the last. */
function placeWords(utterances: Utterance[], words: readonly Word[]): void {
  let at = 0;
  for (const word of words) {
    while (at < utterances.length - 1 && word.start >= (utterances[at] as Utterance).end) at++;
    const utterance = utterances[at];
    if (utterance === undefined) return;
    utterance.words ??= [];
    utterance.words.push(word);
  }
}

/** The tokens that say what they were worth. */
function logprobsOf(logprobs: unknown): TokenLogprob[] {
  return (Array.isArray(logprobs) ? logprobs : []).flatMap((each) => {
    const { token, bytes, logprob } = membersOf(each);
    if (typeof logprob !== 'number' || !Number.isFinite(logprob)) return [];
    const isBytes = Array.isArray(bytes) && bytes.every(Number.isInteger);
    return [{ token: typeof token === 'string' ? token : '', ...(isBytes ? { bytes } : {}), logprob }];
  });
}

/** The geometric mean of what the tokens were worth to the model. */
function confidenceOf(logprobs: readonly TokenLogprob[]): number | undefined {
  if (logprobs.length === 0) return undefined;
  const mean = logprobs.reduce((sum, { logprob }) => sum + logprob, 0) / logprobs.length;
  return Math.min(1, Math.exp(mean));
}

const membersOf = (value: unknown): Members => (typeof value === 'object' && value !== null ? (value as Members) : {});

const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0;
