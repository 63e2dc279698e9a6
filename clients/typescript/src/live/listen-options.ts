// The options of `client.listen`, checked, and as the query that the gateway reads.
import { invalidOption } from '../errors.ts';
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
import { integerOf, refuseUnknown } from '../settings.ts';
import { type Tags, tagsText } from '../tags.ts';
import type { Encoding } from '../types/answers.ts';
import { VOCABULARY, type VocabularyOptions, vocabularyTexts } from '../vocabulary.ts';
import { type ReconnectOptions, reconnectOf } from './reconnection/reconnect.ts';

export interface ListenOptions<Slug extends ModelSlug = ModelSlug> extends VocabularyOptions {
  /** Slug `<provider>/<model>`, or `auto`: the gateway chooses. */
  model: Slug;
  /** Models to go on with when one fails, at most 8; `auto` adds two that the gateway chooses. */
  fallbacks?: readonly Fallback[];
  /** What `auto` is chosen by. */
  prefer?: Preference;
  /** What prices decide about the models. */
  price?: PriceRule;
  /** Hertz of the audio that you send: 8,000 to 48,000; 16,000 when absent. The gateway resamples. */
  sampleRate?: number;
  /** `linear16` when absent: 16-bit samples, little-endian, one channel. */
  encoding?: Encoding;
  /** BCP-47, or `auto`. */
  language?: string;
  /** False: finals only. */
  interimResults?: boolean;
  diarization?: boolean;
  /** True: `speech_started` before each turn, `turn_eager_end` and `turn_resumed` where the model tells them, `turn_ended` behind each final. */
  turnEvents?: boolean;
  /** Options of the model's provider. */
  providerParams?: ParamsOf<Slug>;
  /** True: after a failover, the session returns to its first model once that works again. */
  returnToPrimary?: boolean;
  /** True: the first fallback stays connected, where its provider neither bills nor ends a connection without audio. */
  standby?: boolean;
  /** Seconds without audio after which the gateway lets go of the provider's connection: 1 to 3,600; 20 when absent. */
  suspendSeconds?: number;
  /** How long audio may be gathered before the gateway sends it on: `balanced` when absent. */
  latency?: 'low' | 'balanced' | 'throughput';
  /**
   * What happens to text for audio without speech: `mark` sets `no_speech` on its final, `drop` also empties it. `mark` for Whisper models
   * and `off` for all others when absent.
   */
  speechGate?: SpeechGate;
  /** The most that the session may be charged, in USD; it ends with `max_cost_reached` when more audio would cost more. */
  maxCost?: string | number;
  /** The longest duration of the session, in whole seconds. */
  maxSeconds?: number;
  /** Refuses what the model cannot do instead of warning of it. */
  strict?: boolean;
  tags?: Tags;
  /** Ends the session at once. */
  signal?: AbortSignal;
  /** How a connection that breaks is replaced; false: not at all. */
  reconnect?: ReconnectOptions | false;
  /** From dialling to the open session, in milliseconds: 100 to 120,000; 10,000 when absent. */
  connectTimeoutMs?: number;
  /** Events that may wait to be read: 16 to 100,000; 1,024 when absent. More end the session with `event_queue_full`. */
  eventsMax?: number;
}

/** Half of what a gateway takes of URL and headers together, as long as nobody configures it otherwise. */
const QUERY_LENGTH_MAX = 4_096;

/** The first message of a connection whose URL says `start=message`: the parameters of the URL. */
export type StartMessage = { type: 'start' } & Record<string, unknown>;

const KNOWN: readonly (keyof ListenOptions)[] = [
  'model',
  'fallbacks',
  'prefer',
  'price',
  'sampleRate',
  'encoding',
  'language',
  'interimResults',
  'diarization',
  ...VOCABULARY,
  'turnEvents',
  'providerParams',
  'returnToPrimary',
  'standby',
  'suspendSeconds',
  'latency',
  'speechGate',
  'maxCost',
  'maxSeconds',
  'strict',
  'tags',
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
    ...askedOf(options),
    sampleRate: integerOf('sampleRate', options.sampleRate, 16_000, 8_000, 48_000),
    bytesPerSample: encoding === 'linear16' ? 2 : 1,
    reconnect: reconnectOf(options.reconnect),
    connectTimeoutMs: integerOf('connectTimeoutMs', options.connectTimeoutMs, 10_000, 100, 120_000),
    eventsMax: integerOf('eventsMax', options.eventsMax, 1_024, 16, 100_000),
    signal: options.signal,
  };
}

/** What stands in the URL, and the first message where that would be longer than servers and proxies take. */
function askedOf(options: ListenOptions): { query: string; start: StartMessage | undefined } {
  const all: Record<string, string | number | boolean | undefined> = {
    model: options.model,
    fallbacks: fallbacksText(options.fallbacks),
    prefer: options.prefer,
    price: options.price,
    sample_rate: options.sampleRate,
    encoding: options.encoding,
    language: options.language,
    interim_results: options.interimResults,
    diarization: options.diarization,
    ...vocabularyTexts(options),
    turn_events: options.turnEvents,
    provider_params: paramsText(options.providerParams),
    return_to_primary: options.returnToPrimary,
    standby: options.standby,
    suspend_seconds: options.suspendSeconds,
    latency: options.latency,
    speech_gate: options.speechGate,
    max_cost: options.maxCost,
    max_seconds: options.maxSeconds,
    strict: options.strict,
    tags: tagsText(options.tags),
  };
  const given = Object.entries(all).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString();
  if (query.length <= QUERY_LENGTH_MAX) return { query, start: undefined };
  const start = { type: 'start' as const, ...Object.fromEntries(given), provider_params: options.providerParams };
  return { query: 'start=message', start };
}
