// `client.transcribe`: the options as a form, and the answer in the type of its format. How a call is sent is http.ts.

import { ConnectionError, errorOf, invalidOption } from '../errors.ts';
import {
  type Fallback,
  fallbacksText,
  type ModelSlug,
  type ParamsOf,
  type Preference,
  type PriceRule,
  paramsText,
  type SpeechGate,
} from '../params.ts';
import { refuseUnknown } from '../settings.ts';
import { type Tags, tagsText } from '../tags.ts';
import type { ResponseFormat } from '../types/answers.ts';
import type {
  DiarizedTranscription,
  Transcription,
  TranscriptionEvent,
  VerboseTranscription,
} from '../types/transcriptions.ts';
import { VOCABULARY, type VocabularyOptions, vocabularyTexts } from '../vocabulary.ts';
import { type Answer, answerOf } from './answer.ts';
import { type AudioInput, addressUpload, randomText, type Upload, uploadOf } from './file-body.ts';
import {
  CALL_OPTIONS,
  type Call,
  type CallOptions,
  type CallTimer,
  checkCall,
  failureOf,
  type Http,
  readJson,
} from './http.ts';
import { serverEvents } from './server-events.ts';

/** Exactly one of `file` and `audioUrl` is the audio. */
export type TranscribeOptions<
  Slug extends ModelSlug = ModelSlug,
  Format extends ResponseFormat = ResponseFormat,
> = AudioInput & TranscriptionSettings<Slug, Format>;

/** All but the audio. */
export interface TranscriptionSettings<
  Slug extends ModelSlug = ModelSlug,
  Format extends ResponseFormat = ResponseFormat,
> extends CallOptions,
    VocabularyOptions {
  /** Slug `<provider>/<model>`, or `auto`: the gateway chooses. */
  model: Slug;
  /** `json` when absent. */
  responseFormat?: Format;
  /** BCP-47. */
  language?: string;
  temperature?: number;
  timestampGranularities?: readonly ('word' | 'segment')[];
  /** Tells speakers apart: integers from 0 in the order of first appearance. */
  diarization?: boolean;
  /** Models to try when the first one fails, at most 8; `auto` adds two that the gateway chooses. */
  fallbacks?: readonly Fallback[];
  /** What `auto` is chosen by. */
  prefer?: Preference;
  /** What prices decide about the models. */
  price?: PriceRule;
  /** Options of the model's provider. */
  providerParams?: ParamsOf<Slug>;
  /**
   * What happens to text for audio without speech: `mark` sets `no_speech` on its segments and words, `drop` leaves them out. `mark` for
   * Whisper models and `off` for all others when absent.
   */
  speechGate?: SpeechGate;
  /** The most that the file may be charged, in USD: one that may cost more is refused with `max_cost_reached`. */
  maxCost?: string | number;
  /** A longer file is refused with `audio_too_long`: whole seconds. */
  maxSeconds?: number;
  /** Refuses what the model cannot do instead of warning of it. */
  strict?: boolean;
  tags?: Tags;
  /** The text as it comes. */
  stream?: boolean;
  /** Two requests with the same key are one, and charged once. A random one when absent. */
  idempotencyKey?: string;
}

/** The types of the answers that are JSON. */
interface Transcriptions {
  json: Transcription;
  verbose_json: VerboseTranscription;
  diarized_json: DiarizedTranscription;
}

/** The type of an answer by its format. */
export type TranscriptionOf<Format extends ResponseFormat> = Format extends keyof Transcriptions
  ? Transcriptions[Format]
  : string;

export const JSON_FORMATS: Readonly<Record<keyof Transcriptions, true>> = {
  json: true,
  verbose_json: true,
  diarized_json: true,
};

export const TRANSCRIBE_OPTIONS: readonly (keyof TranscribeOptions)[] = [
  'model',
  'file',
  'fileName',
  'contentType',
  'audioUrl',
  'responseFormat',
  'language',
  ...VOCABULARY,
  'temperature',
  'timestampGranularities',
  'diarization',
  'fallbacks',
  'prefer',
  'price',
  'providerParams',
  'speechGate',
  'maxCost',
  'maxSeconds',
  'strict',
  'tags',
  'stream',
  'idempotencyKey',
  ...CALL_OPTIONS,
];

/** The call, as an answer or as events. */
export function transcribe(
  http: Http,
  options: TranscribeOptions,
): Answer<TranscriptionOf<ResponseFormat> | AsyncIterable<TranscriptionEvent>> {
  const { responseFormat = 'json', stream = false } = options;
  const call = callOf(options);
  if (stream) {
    return answerOf(
      call.then((ready) =>
        http.send(ready, async (response, timer) => {
          // The time runs while events are waited for, not while the consumer is at work.
          timer.hold();
          return eventsOf(response, timer, options);
        }),
      ),
    );
  }
  const isJson = Object.hasOwn(JSON_FORMATS, responseFormat);
  const read = isJson ? readJson<Transcriptions[keyof Transcriptions]> : (response: Response) => response.text();
  return answerOf(call.then((ready) => http.send<TranscriptionOf<ResponseFormat>>(ready, read)));
}

async function callOf(options: TranscribeOptions): Promise<Call> {
  refuseUnknown('transcribe', options, TRANSCRIBE_OPTIONS);
  const { stream = false } = options;
  return { ...(await uploadCall('/v1/audio/transcriptions', options)), takesTokens: true, isStreamed: stream };
}

/** The form of a file or an address, to this path. Rejects with an InvalidRequestError that names the option. */
export async function uploadCall(
  path: string,
  options: TranscribeOptions,
  more: readonly [string, string][] = [],
): Promise<Call> {
  checkCall(options);
  if (typeof options.model !== 'string')
    throw invalidOption('model', '`model` is missing: a slug `<provider>/<model>`.');
  const { isRepeatable, make } = await audioOf([...fieldsOf(options), ...more], options);
  const { signal, timeoutMs, retriesMax } = options;
  return {
    method: 'POST',
    path,
    headers: { 'Idempotency-Key': options.idempotencyKey ?? randomText() },
    body: make,
    isRepeatable,
    ...(signal === undefined ? {} : { signal }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(retriesMax === undefined ? {} : { retriesMax }),
  };
}

async function audioOf(fields: [string, string][], audio: AudioInput): Promise<Upload> {
  if (audio.audioUrl === undefined) {
    if (typeof audio.file === 'object' && audio.file !== null) return uploadOf(fields, audio);
    throw invalidOption(
      'file',
      'Give `file` or `audioUrl`. In Node `fileFromPath` of @voxgate/client/node opens a path for `file`.',
    );
  }
  const { file, fileName, contentType, audioUrl } = audio;
  if (typeof audioUrl !== 'string' || audioUrl === '') {
    throw invalidOption('audioUrl', '`audioUrl` is a text: the address of the audio.');
  }
  if (file !== undefined) throw invalidOption('audioUrl', 'Give one of `file` and `audioUrl`, not both.');
  for (const [name, value] of Object.entries({ fileName, contentType })) {
    if (value !== undefined) throw invalidOption(name, `\`${name}\` goes with \`file\`, not with \`audioUrl\`.`);
  }
  return addressUpload(fields, audio);
}

function fieldsOf(options: TranscribeOptions): [string, string][] {
  const { timestampGranularities = [] } = options;
  const single: Record<string, string | number | boolean | undefined> = {
    model: options.model,
    response_format: options.responseFormat,
    language: options.language,
    ...vocabularyTexts(options),
    temperature: options.temperature,
    diarization: options.diarization,
    fallbacks: fallbacksText(options.fallbacks),
    prefer: options.prefer,
    price: options.price,
    provider_params: paramsText(options.providerParams),
    speech_gate: options.speechGate,
    max_cost: options.maxCost,
    max_seconds: options.maxSeconds,
    strict: options.strict,
    tags: tagsText(options.tags),
    stream: options.stream,
  };
  const given = Object.entries(single).filter(([, value]) => value !== undefined);
  return [
    ...given.map(([name, value]): [string, string] => [name, String(value)]),
    ...timestampGranularities.map((each): [string, string] => ['timestamp_granularities[]', each]),
  ];
}

/** The events of a stream. When the reader stops, the request ends. */
async function* eventsOf(
  response: Response,
  timer: CallTimer,
  options: TranscribeOptions,
): AsyncGenerator<TranscriptionEvent> {
  const requestId = response.headers.get('x-request-id') ?? undefined;
  try {
    if (response.body === null) return;
    timer.touch();
    let isDone = false;
    for await (const event of serverEvents(response.body)) {
      timer.hold();
      const { error, type } = event as { error?: unknown; type?: unknown };
      if (error !== undefined) throw errorOf(error, { status: response.status, requestId });
      isDone ||= type === 'transcript.text.done';
      yield event as TranscriptionEvent;
      timer.touch();
    }
    if (!isDone) throw new ConnectionError('The stream ended too early.', { code: 'connection_lost', requestId });
  } catch (error) {
    throw failureOf(error, timer, options);
  } finally {
    timer.cancel();
  }
}
