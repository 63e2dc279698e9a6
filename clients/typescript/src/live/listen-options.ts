// The options of `client.listen`, checked, and as the query that the gateway reads.
import { invalidOption } from '../errors.ts';
import { type Fallback, fallbacksText, type ModelSlug, type ParamsOf, paramsText } from '../params.ts';
import { integerOf, refuseUnknown } from '../settings.ts';
import type { Encoding } from '../types/answers.ts';
import { type ReconnectOptions, reconnectOf } from './reconnect.ts';

export interface ListenOptions<Slug extends ModelSlug = ModelSlug> {
  /** Slug `<provider>/<model>`. */
  model: Slug;
  /** Models to go on with when one fails, at most 8. */
  fallbacks?: readonly Fallback[];
  /** Hertz of the audio that you send: 8,000 to 48,000; 16,000 when absent. The gateway resamples. */
  sampleRate?: number;
  /** `linear16` when absent: 16-bit samples, little-endian, one channel. */
  encoding?: Encoding;
  /** BCP-47, or `auto`. */
  language?: string;
  /** False: finals only. */
  interimResults?: boolean;
  diarization?: boolean;
  /** Options of the model's provider. */
  providerParams?: ParamsOf<Slug>;
  /** Refuses what the model cannot do instead of warning of it. */
  strict?: boolean;
  /** Ends the session at once. */
  signal?: AbortSignal;
  /** How a connection that breaks is replaced; false: not at all. */
  reconnect?: ReconnectOptions | false;
  /** From dialling to the open session, in milliseconds: 100 to 120,000; 10,000 when absent. */
  connectTimeoutMs?: number;
  /** Events that may wait to be read: 16 to 100,000; 1,024 when absent. More end the session with `event_queue_full`. */
  eventsMax?: number;
}

const KNOWN: readonly (keyof ListenOptions)[] = [
  'model',
  'fallbacks',
  'sampleRate',
  'encoding',
  'language',
  'interimResults',
  'diarization',
  'providerParams',
  'strict',
  'signal',
  'reconnect',
  'connectTimeoutMs',
  'eventsMax',
];

/** Throws an InvalidRequestError that names the option. */
export function readListenOptions(options: ListenOptions) {
  refuseUnknown('listen', options, KNOWN);
  if (typeof options.model !== 'string')
    throw invalidOption('model', '`model` is missing: a slug `<provider>/<model>`.');
  const { encoding = 'linear16' } = options;
  return {
    query: queryOf(options),
    sampleRate: integerOf('sampleRate', options.sampleRate, 16_000, 8_000, 48_000),
    bytesPerSample: encoding === 'linear16' ? 2 : 1,
    reconnect: reconnectOf(options.reconnect),
    connectTimeoutMs: integerOf('connectTimeoutMs', options.connectTimeoutMs, 10_000, 100, 120_000),
    eventsMax: integerOf('eventsMax', options.eventsMax, 1_024, 16, 100_000),
    signal: options.signal,
  };
}

function queryOf(options: ListenOptions): string {
  const all: Record<string, string | number | boolean | undefined> = {
    model: options.model,
    fallbacks: fallbacksText(options.fallbacks),
    sample_rate: options.sampleRate,
    encoding: options.encoding,
    language: options.language,
    interim_results: options.interimResults,
    diarization: options.diarization,
    provider_params: paramsText(options.providerParams),
    strict: options.strict,
  };
  const given = Object.entries(all).filter(([, value]) => value !== undefined);
  return new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString();
}
