// `GET /v1/listen`: what a live client may ask for, say and hear. The wire form of both directions is decided here alone,
// so that another vendor's dialect can be put beside it.
import { type Static, Type } from '@sinclair/typebox';

export const Encoding = Type.Union([Type.Literal('linear16'), Type.Literal('mulaw'), Type.Literal('alaw')]);
export type Encoding = Static<typeof Encoding>;

export const SAMPLE_RATE = { min: 8000, max: 48000, default: 16000 } as const;
export const FALLBACKS_MAX = 8;

/** One member of the chain: the model and the options typed by its provider. */
export const Candidate = Type.Object(
  {
    model: Type.String(),
    provider_params: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    /** Whose account at the provider is used: without it your own, where you have saved a key, else the service's. */
    credential: Type.Optional(Type.Union([Type.Literal('own'), Type.Literal('service')])),
  },
  { additionalProperties: false },
);
export type Candidate = Static<typeof Candidate>;

/** A checked `/v1/listen` request. */
export interface ListenRequest {
  model: string;
  fallbacks: Candidate[];
  sampleRate: number;
  encoding: Encoding;
  /** BCP-47, `auto`, or undefined for the model's default. */
  language: string | undefined;
  interimResults: boolean;
  diarization: boolean;
  providerParams: Record<string, unknown>;
  strict: boolean;
}

/** Text frames a client may send. */
export const ClientMessage = Type.Union([
  Type.Object({ type: Type.Literal('finalize') }, { additionalProperties: false }),
  Type.Object({ type: Type.Literal('close') }, { additionalProperties: false }),
  Type.Object({ type: Type.Literal('keepalive') }, { additionalProperties: false }),
]);
export type ClientMessage = Static<typeof ClientMessage>;

export const Word = Type.Object({
  word: Type.String(),
  start: Type.Number(),
  end: Type.Number(),
  confidence: Type.Optional(Type.Number()),
  speaker: Type.Optional(Type.Integer()),
});

const UsageRow = Type.Object({
  model: Type.String(),
  seconds: Type.Number(),
  cost_usd: Type.String(),
  byok: Type.Boolean(),
});
export type UsageRow = Static<typeof UsageRow>;

/** The members that every event has. `seq` rises by one from 1; `at` is ISO 8601 UTC with milliseconds. */
const Common = { session_id: Type.String(), seq: Type.Integer({ minimum: 1 }), at: Type.String() };

export const SessionStarted = Type.Object({
  type: Type.Literal('session_started'),
  ...Common,
  model: Type.String(),
  sample_rate: Type.Integer(),
  encoding: Encoding,
  fallbacks: Type.Array(
    Type.Object({
      model: Type.String(),
      /** What would be lost on this fallback, in the words of `warning.code`. */
      degrades: Type.Array(Type.String()),
    }),
  ),
  /** Null until sessions can be resumed. */
  resume_token: Type.Union([Type.String(), Type.Null()]),
  limits: Type.Object({
    idle_seconds: Type.Number(),
    session_seconds: Type.Number(),
    binary_frame_bytes: Type.Integer(),
    text_frame_bytes: Type.Integer(),
  }),
});

export const SpeechStarted = Type.Object({ type: Type.Literal('speech_started'), ...Common, start: Type.Number() });

export const Transcript = Type.Object({
  type: Type.Literal('transcript'),
  ...Common,
  text: Type.String(),
  is_final: Type.Boolean(),
  turn: Type.Integer({ minimum: 0 }),
  start: Type.Number(),
  end: Type.Number(),
  model: Type.String(),
  confidence: Type.Optional(Type.Number()),
  speaker: Type.Optional(Type.Integer()),
  language: Type.Optional(Type.String()),
  words: Type.Optional(Type.Array(Word)),
});

export const Failover = Type.Object({
  type: Type.Literal('failover'),
  ...Common,
  from: Type.String(),
  to: Type.String(),
  reason: Type.Union([
    Type.Literal('upstream_closed'),
    Type.Literal('upstream_error'),
    Type.Literal('connect_failed'),
    Type.Literal('connect_timeout'),
    Type.Literal('stalled'),
    Type.Literal('circuit_open'),
  ]),
  replayed_seconds: Type.Number(),
  attempt: Type.Integer(),
});

export const Warning = Type.Object({
  type: Type.Literal('warning'),
  ...Common,
  code: Type.String(),
  message: Type.String(),
  param: Type.Optional(Type.String()),
});

export const Discontinuity = Type.Object({
  type: Type.Literal('discontinuity'),
  ...Common,
  from: Type.Number(),
  to: Type.Number(),
  reason: Type.String(),
});

export const ErrorEvent = Type.Object({
  type: Type.Literal('error'),
  ...Common,
  error: Type.Object({
    type: Type.String(),
    code: Type.String(),
    message: Type.String(),
    param: Type.Union([Type.String(), Type.Null()]),
    request_id: Type.String(),
    details: Type.Optional(Type.Array(Type.Object({ model: Type.String(), reason: Type.String() }))),
  }),
});

export const SessionEnded = Type.Object({
  type: Type.Literal('session_ended'),
  ...Common,
  reason: Type.Union([
    Type.Literal('client_closed'),
    Type.Literal('idle'),
    Type.Literal('too_long'),
    Type.Literal('credit'),
    Type.Literal('upstream'),
    Type.Literal('draining'),
    Type.Literal('error'),
  ]),
  audio_seconds: Type.Number(),
  usage: Type.Array(UsageRow),
  cost_usd: Type.String(),
  /** Bytes that could not be part of a sample (a lone last byte); absent when there were none. */
  dropped_bytes: Type.Optional(Type.Integer()),
});

export const ServerEvent = Type.Union([
  SessionStarted,
  SpeechStarted,
  Transcript,
  Failover,
  Warning,
  Discontinuity,
  ErrorEvent,
  SessionEnded,
]);
export type ServerEvent = Static<typeof ServerEvent>;

/** An event before it is numbered and stamped; `seq` and `at` are given when it leaves. */
export type Unstamped<Event> = Event extends unknown ? Omit<Event, 'session_id' | 'seq' | 'at'> : never;
export type OutgoingEvent = Unstamped<ServerEvent>;
export type TranscriptEvent = Unstamped<Static<typeof Transcript>>;
