// `GET /v1/listen`: what a live client may request and send. Its wire form is decided here alone, so that another vendor's protocol can
// be served as well.
import { type Static, Type } from '@sinclair/typebox';
import { CONFIGURATIONS_MAX, FALLBACKS_MAX, LATENCIES, SPEECH_GATES } from './bounds.ts';
import { Prefer, type Preference, PriceOrder, type PriceRule } from './choice.ts';
import type { RedactionClass } from './redaction.ts';
import { type Replacement, Replacements } from './replacements.ts';
import type { RequestLimits } from './request-limits.ts';
import type { DataResidencyRule } from './residency-rule.ts';
import type { Tags } from './tags.ts';
import { Vocabulary } from './vocabulary.ts';

/** A checked `/v1/listen` request. */
export interface ListenRequest {
  model: string;
  fallbacks: Candidate[];
  /** What models are chosen by, where they are. */
  prefer?: Preference | undefined;
  /** What prices decide about the chain. */
  price?: PriceRule | undefined;
  /** So many of the models, from the first on, are those of an alias. */
  aliased?: number;
  sampleRate: number;
  encoding: Encoding;
  /** Interleaved, each a session of its own; one when absent. */
  channels?: number;
  /** BCP-47, `auto`, or undefined for the model's default. */
  language: string | undefined;
  interimResults: boolean;
  diarization: boolean;
  /** Whether the bounds of turns are told as events of their own. */
  turnEvents?: boolean;
  /** What is asked of all models in the same words. */
  common?: Vocabulary;
  providerParams: Record<string, unknown>;
  /** Whose account at the provider of `model` is used; undefined for one's own where there is one. */
  credential?: Candidate['credential'];
  strict: boolean;
  /** Where the audio may go. */
  rule?: DataResidencyRule | undefined;
  /** How long no audio may come before the provider's connection is released; undefined for the gateway's own setting. */
  suspendSeconds?: number | undefined;
  latency?: Latency | undefined;
  /** Whether it returns to its first model after a failover; undefined for the gateway's own setting. */
  returnToPrimary?: boolean | undefined;
  /** Whether its first fallback is kept connected. */
  standby?: boolean | undefined;
  /** Undefined for the model's own default. */
  speechGate?: SpeechGateMode | undefined;
  /** What the gateway itself redacts; undefined for nothing. */
  redacted?: readonly RedactionClass[] | undefined;
  /** How long a final may wait for the rest of a number; undefined for the default. */
  redactHoldMs?: number | undefined;
  /** What is written in another way: the rules of the request, and then those of its key. Undefined for none. */
  replacements?: readonly Replacement[] | undefined;
  /** Whether it waits for its client when the socket breaks. */
  isResumable?: boolean;
  /** What the session may spend. */
  limits?: RequestLimits | undefined;
  tags?: Tags | undefined;
}

export const SAMPLE_RATE = { min: 8000, max: 48000, default: 16000 } as const;
export const CHANNELS = { min: 1, max: 8 } as const;
export const SUSPEND_SECONDS = { min: 1, max: 3600 } as const;

export const Latency = Type.Unsafe<(typeof LATENCIES)[number]>(
  Type.Union(LATENCIES.map((latency) => Type.Literal(latency))),
);
export type Latency = Static<typeof Latency>;

export const SpeechGateMode = Type.Unsafe<(typeof SPEECH_GATES)[number]>(
  Type.Union(SPEECH_GATES.map((mode) => Type.Literal(mode))),
);
export type SpeechGateMode = Static<typeof SpeechGateMode>;

/** Samples of one channel. */
const RAW = ['linear16', 'mulaw', 'alaw'] as const;
/** Opus: a packet in each message, or a container that is cut into messages anywhere. `auto`: the first bytes name the container. */
const CODED_ENCODINGS = ['opus', 'ogg-opus', 'webm-opus', 'auto'] as const;

export type RawEncoding = (typeof RAW)[number];
export type CodedEncoding = (typeof CODED_ENCODINGS)[number];

export const ENCODINGS: readonly (RawEncoding | CodedEncoding)[] = [...RAW, ...CODED_ENCODINGS];

export const Encoding = Type.Unsafe<RawEncoding | CodedEncoding>(
  Type.Union(
    ENCODINGS.map((encoding) => Type.Literal(encoding)),
    {
      description:
        '`linear16` (little-endian), `mulaw` and `alaw` are samples; several `channels` are interleaved. `opus` is one Opus packet in each binary message. `ogg-opus` is an Ogg stream with Opus, and `webm-opus` a WebM or Matroska stream, such as the output of a browser’s recorder. Send both from their beginning, cut into messages anywhere. `auto` is WebM or Ogg with Opus, or WAV, recognised by its first bytes. Two channels of these are mixed to one.',
    },
  ),
);
export type Encoding = Static<typeof Encoding>;

/** Hertz that Opus and containers are decoded to. */
export const DECODED_RATES: readonly number[] = [8_000, 12_000, 16_000, 24_000, 48_000];

export const isCoded = (encoding: Encoding): encoding is CodedEncoding =>
  (CODED_ENCODINGS as readonly string[]).includes(encoding);

/** Typed by the provider; each has a schema of its own. */
export const ProviderParams = Type.Record(Type.String(), Type.Unknown(), {
  description:
    'Options of the model’s provider, as a JSON object. The schema for a model is `provider_params` of `GET /v1/models`.',
});

/** One member of the chain: the model and the options typed by its provider. */
export const Candidate = Type.Object(
  {
    model: Type.String({ description: 'Slug `<provider>/<model>`.' }),
    provider_params: Type.Optional(ProviderParams),
    credential: Type.Optional(
      Type.Union([Type.Literal('own'), Type.Literal('service')], {
        description:
          'Whose account at the provider is used: without it your own, where you have saved a key, else the service’s.',
      }),
    ),
  },
  { additionalProperties: false, description: 'A model to fall back to, with options of its own.' },
);
export type Candidate = Static<typeof Candidate>;

/** Names that stand for a chain: a model, and its fallbacks behind it. */
export type Aliases = Readonly<Record<string, readonly Candidate[]>>;

/** Text frames a client may send. */
const message = <Name extends string>(type: Name, description: string) =>
  Type.Object({ type: Type.Literal(type) }, { additionalProperties: false, description });

export const Finalize = message('finalize', 'Ends the current turn now.');
export const Close = message(
  'close',
  'Ends the audio. The remaining finals are delivered, then the session ends with close code 1000.',
);
export const Keepalive = message('keepalive', 'Keeps a session open that sends no audio.');

const { languages, keyterms, prompt, redact, vocabulary_boost } = Vocabulary.properties;

export const Configure = Type.Object(
  {
    type: Type.Literal('configure'),
    model: Type.Optional(
      Type.String({
        description:
          'Slug or alias of the model to use from now on, or `auto`. Without `provider_params`, it does not inherit those of the model before.',
      }),
    ),
    fallbacks: Type.Optional(
      Type.Union([Type.String(), Type.Array(Type.Union([Type.String(), Candidate]))], {
        description: `At most ${FALLBACKS_MAX}, or \`auto\`; an empty list removes all fallbacks.`,
      }),
    ),
    prefer: Type.Optional(Prefer),
    price: Type.Optional(PriceOrder),
    provider_params: Type.Optional(ProviderParams),
    return_to_primary: Type.Optional(
      Type.Boolean({ description: 'Whether the session returns to its first model after a failover.' }),
    ),
    standby: Type.Optional(
      Type.Boolean({ description: 'Whether the first fallback stays connected while the first model transcribes.' }),
    ),
    language: Type.Optional(Type.String({ description: 'BCP-47 tag, or `auto`.' })),
    ...{ languages, keyterms, prompt, redact, vocabulary_boost },
    replace: Type.Optional(Replacements),
  },
  {
    additionalProperties: false,
    description: `Changes the options that it names, and no others; null resets an option. The change takes effect at once if model and price stay and the provider accepts it on the open connection. Otherwise it takes effect at the end of the turn. A turn that does not end within 30 s ends there. \`configured\` reports the position. No word is lost. Changes take effect at most once a second, and ${CONFIGURATIONS_MAX} times per session. If several wait, the last one counts.`,
  },
);
export type Configure = Static<typeof Configure>;

export const ClientMessage = Type.Union([Finalize, Close, Keepalive, Configure]);
export type ClientMessage = Static<typeof ClientMessage>;
