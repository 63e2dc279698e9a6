// Files by `POST /v1/audio/transcriptions` as OpenAI shaped it, and many after it: each model is asked for the richest answer
// it gives, and that is read. Answers differ in what they leave out.

import { modelAt, type ProviderApi } from '../api.ts';
import { requestBatch } from '../batch.ts';
import type { FailureTable } from '../failures.ts';
import { type JsonObject, listIn } from '../json.ts';
import { baseLanguage } from '../languages/whisper-languages.ts';
import type { OptionRows, OptionTable } from '../options.ts';
import type { BatchRequest, BatchResult, ChannelBilling, HttpBatchCodec, HttpRequest } from '../provider.ts';
import { formOf } from '../urls.ts';
import { resultOf } from './answer.ts';

interface Settings<Rows extends OptionRows> {
  /** One, or that of each model. */
  api: ProviderApi | ((model: string) => ProviderApi);
  path?: string;
  /** What a model is called on the wire; its part of the slug where it is absent. */
  nameOf?(model: string): string;
  options: OptionTable<Rows>;
  failures: FailureTable;
  /** The richest answer that a model gives to a file. */
  formatOf(model: string): 'json' | 'verbose_json' | 'diarized_json';
  /** Fields beside the common ones, or in their place; undefined leaves one out. */
  fields?(request: BatchRequest): Readonly<Record<string, unknown>>;
  /** Times are requested by `fields`. */
  ownTimes?: true;
  /** The answer as OpenAI would have given it, and what beside to warn of. */
  shaped?(answer: JsonObject, request: BatchRequest): JsonObject;
  warnings?(request: BatchRequest): BatchResult['warnings'];
  /** File formats, where they are told apart by the extension of the file's name. */
  extensions?: readonly string[];
  /** The most that a whole form may have, where that is limited and not the file alone. */
  formBytesMax?: number;
  answerMs?: number;
  /** Cite the public document. */
  billsChannels: ChannelBilling;
}

export function openaiShapedBatch<Rows extends OptionRows>(settings: Settings<Rows>): HttpBatchCodec {
  const { api, path = '/audio/transcriptions', options, failures, extensions } = settings;
  const { formBytesMax = Number.POSITIVE_INFINITY, nameOf = (model) => model, shaped = (answer) => answer } = settings;

  const plainServers = new PlainServers();
  const isVerbose = ({ model }: BatchRequest) => settings.formatOf(model) === 'verbose_json';

  const fieldsOf = (request: BatchRequest, response_format = settings.formatOf(request.model)): [string, string][] => {
    const { model, params } = request;
    const { timestamp_granularities } = options.honoured(params, model, 'batch') as JsonObject;
    const granularities = new Set([
      'segment',
      ...listIn(timestamp_granularities),
      ...(request.wordTimestamps ? ['word'] : []),
    ]);
    return formOf({
      model: modelAt({ ...request, model: nameOf(model) }),
      response_format,
      language: baseLanguage(request.language),
      ...settings.fields?.(request),
      // A member of `provider_params` goes before the request's own of the same name.
      ...options.wire(params, model, 'batch'),
      'timestamp_granularities[]':
        response_format === 'verbose_json' && !settings.ownTimes ? [...granularities] : undefined,
    });
  };

  const requestOf = (request: BatchRequest, fields: [string, string][]): HttpRequest => {
    const body = { kind: 'multipart', fields, fileField: 'file' } as const;
    return (typeof api === 'function' ? api(request.model) : api).request(request.access, 'POST', path, body);
  };

  return requestBatch({
    failures,
    needsLength: true,
    // The answer begins when all of the file was heard. OpenAI's own clients wait as long.
    answerMs: settings.answerMs ?? 600_000,
    billsChannels: settings.billsChannels,

    requestOf(request) {
      if (extensions?.includes(extensionOf(request.file.name)) === false) return failures.named('unsupported_format');
      const fields =
        isVerbose(request) && plainServers.isPlain(request) ? fieldsOf(request, 'json') : fieldsOf(request);
      if (formBytesOf(fields, request.file.bytes) > formBytesMax) return failures.named('file_too_large');
      return requestOf(request, fields);
    },

    // Some servers give text alone, and say so of what asks for more.
    instead(request, { status, body }) {
      if (!isVerbose(request) || !REFUSES.includes(status) || !ASKED_FOR_MORE.test(body)) return undefined;
      plainServers.refused(request);
      return requestOf(request, fieldsOf(request, 'json'));
    },

    resultOf(request, answer) {
      const result = resultOf(shaped(answer, request), request.file.seconds);
      if (result !== undefined) plainServers.answered(request);
      return result && { ...result, warnings: settings.warnings?.(request) ?? [] };
    },
  });
}

const REFUSES: readonly number[] = [400, 404, 415, 422, 501];
const ASKED_FOR_MORE = /verbose_json|response_format|timestamp_granularities/i;

/** At most so much stands around a field, its name included. */
const FIELD_BYTES = 256;

const formBytesOf = (fields: readonly (readonly [string, string])[], fileBytes = 0): number =>
  fields.reduce((bytes, [, value]) => bytes + FIELD_BYTES + Buffer.byteLength(value), fileBytes + FIELD_BYTES);

const extensionOf = (name: string): string => /\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? '';

/** Files until a server is asked for more again. */
export const PLAIN_FILES = 100;
/** Beyond it the one that was remembered first is forgotten. */
export const PLAIN_SERVERS_MAX = 1_000;

export class PlainServers {
  /** Files that are left, by server, model and whether words are requested. */
  readonly #left = new Map<string, number>();
  readonly #refused = new WeakSet<BatchRequest>();

  /** Whether this file is to be requested in `json`. Counts it. */
  isPlain(request: BatchRequest): boolean {
    const key = keyOf(request);
    const left = this.#left.get(key);
    if (left === undefined || !isUsual(request)) return false;
    if (left === 1) this.#left.delete(key);
    else this.#left.set(key, left - 1);
    return true;
  }

  /** `verbose_json` was refused. */
  refused(request: BatchRequest): void {
    if (isUsual(request)) this.#refused.add(request);
  }

  answered(request: BatchRequest): void {
    if (!this.#refused.delete(request)) return;
    const [first] = this.#left.keys();
    if (this.#left.size >= PLAIN_SERVERS_MAX && first !== undefined) this.#left.delete(first);
    this.#left.set(keyOf(request), PLAIN_FILES);
  }
}

/** Options of one request may be what was refused, and say nothing of those of others. */
const isUsual = ({ params }: BatchRequest): boolean => Object.keys(params).length === 0;

const keyOf = ({ access, model, wordTimestamps }: BatchRequest): string =>
  JSON.stringify([access.baseUrl, access.model, model, wordTimestamps]);
