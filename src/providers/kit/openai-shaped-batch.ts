// Files by `POST /v1/audio/transcriptions` as OpenAI shaped it, and many after it: each model is asked for the richest answer
// it gives, and that is read. Answers differ in what they leave out.
import type { Utterance, Word } from '../../../machines/events.ts';
import type { TokenLogprob } from '../../api/transcriptions.ts';
import type { BatchRequest, BatchResult, ChannelBilling, HttpBatchCodec } from '../provider.ts';
import { formOf } from '../urls.ts';
import type { ProviderApi } from './api.ts';
import { requestBatch } from './batch.ts';
import type { FailureTable, RefusalWords } from './failures.ts';
import { listIn, type Members, numberIn, objectIn, textIn } from './json.ts';
import type { OptionRows, OptionTable } from './options.ts';
import { baseLanguage, languageCode } from './whisper-languages.ts';
import { Speakers, utteranceOf, wordOf } from './words.ts';

interface Settings<Rows extends OptionRows> {
  /** The provider's part of the slug. */
  provider: string;
  api: ProviderApi;
  path?: string;
  options: OptionTable<Rows>;
  failures: FailureTable;
  /** The richest answer that a model gives to a file. */
  formatOf(model: string): 'json' | 'verbose_json' | 'diarized_json';
  /** Fields beside the common ones, or in their place; undefined leaves one out. */
  fields?(request: BatchRequest): Readonly<Record<string, unknown>>;
  /** File formats, where they are told apart by the extension of the file's name. */
  extensions?: readonly string[];
  /** The most that a whole form may have, where that is limited and not the file alone. */
  formBytesMax?: number;
  answerMs?: number;
  /** Cite the public document. */
  billsChannels: ChannelBilling;
}

/** What the body of a refusal says, in OpenAI's shape. */
export function openaiShapedRefusal(body: Members): RefusalWords {
  const { code, message, param } = objectIn(body.error);
  return { code: textIn(code) || undefined, words: textIn(message), param: textIn(param) };
}

export function openaiShapedBatch<Rows extends OptionRows>(settings: Settings<Rows>): HttpBatchCodec {
  const { provider, api, path = '/audio/transcriptions', options, failures, extensions } = settings;
  const { formBytesMax = Number.POSITIVE_INFINITY } = settings;

  const fieldsOf = (request: BatchRequest): [string, string][] => {
    const { model, params } = request;
    const response_format = settings.formatOf(model);
    const { timestamp_granularities } = options.honoured(params, model, 'batch') as Members;
    const granularities = new Set([
      'segment',
      ...listIn(timestamp_granularities),
      ...(request.wordTimestamps ? ['word'] : []),
    ]);
    return formOf({
      model,
      response_format,
      language: baseLanguage(request.language),
      prompt: options.honours('prompt', model, 'batch') ? request.prompt : undefined,
      temperature: request.temperature,
      ...settings.fields?.(request),
      // A member of `provider_params` goes before the request's own of the same name.
      ...options.wire(params, model, 'batch'),
      'timestamp_granularities[]': response_format === 'verbose_json' ? [...granularities] : undefined,
    });
  };

  const warningsOf = ({ model, prompt }: BatchRequest): BatchResult['warnings'] =>
    prompt === undefined || options.honours('prompt', model, 'batch')
      ? []
      : [{ code: 'prompt_unsupported', message: `${provider}/${model} takes no prompt.`, param: 'prompt' }];

  return requestBatch({
    failures,
    needsLength: true,
    // The answer begins when all of the file was heard. OpenAI's own clients wait as long.
    answerMs: settings.answerMs ?? 600_000,
    billsChannels: settings.billsChannels,

    requestOf(request) {
      if (extensions?.includes(extensionOf(request.file.name)) === false) return failures.named('unsupported_format');
      const fields = fieldsOf(request);
      if (formBytesOf(fields, request.file.bytes) > formBytesMax) return failures.named('file_too_large');
      const body = { kind: 'multipart', fields, fileField: 'file' } as const;
      return api.request(request.access, 'POST', path, body);
    },

    resultOf(request, answer) {
      const result = resultOf(answer, request.file.seconds);
      return result && { ...result, warnings: warningsOf(request) };
    },
  });
}

/** At most so much stands around a field, its name included. */
const FIELD_BYTES = 256;

const formBytesOf = (fields: readonly (readonly [string, string])[], fileBytes = 0): number =>
  fields.reduce((bytes, [, value]) => bytes + FIELD_BYTES + Buffer.byteLength(value), fileBytes + FIELD_BYTES);

const extensionOf = (name: string): string => /\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? '';

function resultOf(answer: Members, fileSeconds: number | undefined): Omit<BatchResult, 'warnings'> | undefined {
  const text = textIn(answer.text)?.trim();
  if (text === undefined) return undefined;
  const usage = objectIn(answer.usage);
  const seconds = numberIn(answer.duration) ?? (usage.type === 'duration' ? numberIn(usage.seconds) : undefined);
  const language = languageOf(answer);
  const parts = segmentsOf(answer.segments);
  // Without segments there are no times; what was said was said somewhere in the file.
  const utterances = parts.length > 0 || text === '' ? parts : [utteranceOf(text, 0, seconds ?? fileSeconds ?? 0)];
  placeWords(utterances, wordsOf(answer.words));
  const logprobs = logprobsOf(answer.logprobs);
  const confidence = confidenceOf(logprobs);
  for (const utterance of utterances) {
    if (language !== undefined) utterance.language = language;
    if (confidence !== undefined) utterance.confidence = confidence;
  }
  return { utterances, language, seconds, ...(logprobs.length === 0 ? {} : { logprobs }) };
}

/** `language` is an English name or a code; `languages` are codes, the first heard first. */
export function languageOf({ language, languages }: Members): string | undefined {
  const told = textIn(language) ?? textIn(objectIn(listIn(languages)[0]).code);
  return told === undefined ? undefined : languageCode(told);
}

/** Segments with words in them. */
function segmentsOf(segments: unknown): Utterance[] {
  const speakers = new Speakers(['?']);
  return listIn(segments).flatMap((each) => {
    const { text, start: from, end: until, speaker, speaker_id } = objectIn(each);
    const [said, start, end] = [textIn(text)?.trim() ?? '', numberIn(from), numberIn(until)];
    if (said === '' || start === undefined || end === undefined) return [];
    return [utteranceOf(said, start, Math.max(start, end), { speaker: speakers.numberOf(speaker ?? speaker_id) })];
  });
}

const wordsOf = (words: unknown): Word[] =>
  listIn(words).flatMap((each) => {
    const { word, start: from, end: until } = objectIn(each);
    const [said, start, end] = [textIn(word), numberIn(from), numberIn(until)];
    return said === undefined || start === undefined || end === undefined ? [] : [wordOf(said.trim(), start, end)];
  });

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
const logprobsOf = (logprobs: unknown): TokenLogprob[] =>
  listIn(logprobs).flatMap((each) => {
    const { token, bytes, logprob } = objectIn(each);
    if (typeof logprob !== 'number' || !Number.isFinite(logprob)) return [];
    const isBytes = Array.isArray(bytes) && bytes.every(Number.isInteger);
    return [{ token: textIn(token) ?? '', ...(isBytes ? { bytes } : {}), logprob }];
  });

/** The geometric mean of what the tokens were worth to the model. */
function confidenceOf(logprobs: readonly TokenLogprob[]): number | undefined {
  if (logprobs.length === 0) return undefined;
  const mean = logprobs.reduce((sum, { logprob }) => sum + logprob, 0) / logprobs.length;
  return Math.min(1, Math.exp(mean));
}
