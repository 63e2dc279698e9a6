// `GET /v1/listen`: what a live client may ask for, say and hear. The wire form of both directions is decided here alone,
// so that another vendor's dialect can be put beside it.
import { type Static, Type } from '@sinclair/typebox';
import { ErrorObject } from './error-body.ts';
import { Candidate, ProviderParams } from './listen/candidate.ts';
import { Configure, Configured } from './listen/configuring.ts';
import { LATENCIES } from './listen/latency.ts';
import {
  Channel,
  Common,
  Slug,
  SpeakersRestarted,
  SpeechStarted,
  Transcript,
  TurnEagerEnd,
  TurnEnded,
  TurnResumed,
} from './listen/turn-events.ts';

export {
  SpeakersRestarted,
  SpeechStarted,
  Transcript,
  TurnEagerEnd,
  TurnEnded,
  TurnResumed,
  Word,
} from './listen/turn-events.ts';

import { Continues, Received, SessionResumed } from './listen/resume-events.ts';
import { AskedOfModels, type Vocabulary } from './listen/vocabulary.ts';
import type { PlaceRule } from './places/place-rule.ts';

export {
  type CodedEncoding,
  DECODED_RATES,
  ENCODINGS,
  Encoding,
  isCoded,
  type RawEncoding,
} from './listen/encoding.ts';
export { Received, SessionResumed } from './listen/resume-events.ts';
export { Candidate, Configure, Configured, ProviderParams };

import { Encoding } from './listen/encoding.ts';

export const Latency = Type.Unsafe<(typeof LATENCIES)[number]>(
  Type.Union(LATENCIES.map((latency) => Type.Literal(latency))),
);
export type Latency = Static<typeof Latency>;

export const SAMPLE_RATE = { min: 8000, max: 48000, default: 16000 } as const;
export const CHANNELS = { min: 1, max: 8 } as const;
export const SUSPEND_SECONDS = { min: 1, max: 3600 } as const;

/** Names that stand for a chain: a model, and its fallbacks behind it. */
export type Aliases = Readonly<Record<string, readonly Candidate[]>>;

/** A checked `/v1/listen` request. */
export interface ListenRequest {
  model: string;
  fallbacks: Candidate[];
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
  rule?: PlaceRule | undefined;
  /** How long no audio may come before the provider's connection is let go of; undefined for the gateway's own setting. */
  suspendSeconds?: number | undefined;
  latency?: Latency | undefined;
  /** Whether it waits for its client when the socket breaks. */
  isResumable?: boolean;
}

/** Text frames a client may send. */
const message = <Name extends string>(type: Name, description: string) =>
  Type.Object({ type: Type.Literal(type) }, { additionalProperties: false, description });

export const Finalize = message('finalize', 'Ends the current turn now.');
export const Close = message(
  'close',
  'Ends the audio. The remaining finals are delivered, then the session ends with close code 1000.',
);
export const Keepalive = message('keepalive', 'Keeps a session open that sends no audio.');

export const ClientMessage = Type.Union([Finalize, Close, Keepalive, Configure]);
export type ClientMessage = Static<typeof ClientMessage>;

const Usd = Type.String({ description: 'USD, decimal.' });

export const ConnectionSeconds = Type.Optional(
  Type.Number({
    description:
      'Seconds that connections to the model were open, if its price is metered by them. The larger of both values is billed.',
  }),
);

export const UsageRow = Type.Object({
  model: Slug,
  seconds: Type.Number({
    description: 'Seconds of audio. Each second counts once, at the model that produced its final.',
  }),
  connection_seconds: ConnectionSeconds,
  cost_usd: Usd,
  byok: Type.Boolean({ description: 'Whether it ran on your own provider key and was free here.' }),
});
export type UsageRow = Static<typeof UsageRow>;

export const SessionStarted = Type.Object(
  {
    type: Type.Literal('session_started'),
    ...Common,
    request_id: Type.String({
      description: 'Quote it when you report a problem. Also in the header `X-Request-Id` of the handshake’s response.',
    }),
    model: Slug,
    sample_rate: Type.Integer({
      description: 'Sample rate of your audio, in hertz. For Opus, the rate after decoding.',
    }),
    encoding: Encoding,
    fallbacks: Type.Array(
      Type.Object({
        model: Slug,
        degrades: Type.Array(Type.String(), {
          description: 'Options that this fallback would lose, as values of `warning.code`.',
        }),
      }),
      { description: 'The models to use when the first one fails, in order.' },
    ),
    chain: AskedOfModels,
    channels: Type.Optional(
      Type.Integer({ minimum: 2, description: 'Number of transcribed channels; absent if there is one.' }),
    ),
    channel_sessions: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'The id of each channel in `GET /v1/sessions/{id}` and in the console, in order; the first is `session_id`. Absent if there is one channel.',
      }),
    ),
    resume_token: Type.Union([Type.String(), Type.Null()], {
      description:
        'With `resume=on`: opens a socket that continues this session when the current one breaks. Otherwise null.',
    }),
    continues: Type.Optional(Continues),
    limits: Type.Object({
      idle_seconds: Type.Number({ description: 'The session ends after this time without audio or keepalive.' }),
      suspend_seconds: Type.Number({
        description:
          'The gateway closes the connection to the provider after this time without audio. The next audio opens a new one.',
      }),
      session_seconds: Type.Number({ description: 'Longest duration of the session.' }),
      binary_frame_bytes: Type.Integer({ description: 'Largest binary frame.' }),
      text_frame_bytes: Type.Integer({ description: 'Largest text frame.' }),
    }),
  },
  {
    description:
      'The session is open. This is the first event, unless the session is refused. You may send audio before it.',
  },
);

export const Failover = Type.Object(
  {
    type: Type.Literal('failover'),
    ...Common,
    channel: Channel,
    from: Type.String({ description: 'Slug of the model that failed.' }),
    to: Type.String({ description: 'Slug of the model that continues.' }),
    reason: Type.Union([
      Type.Literal('upstream_closed'),
      Type.Literal('upstream_error'),
      Type.Literal('connect_failed'),
      Type.Literal('connect_timeout'),
      Type.Literal('stalled'),
      Type.Literal('circuit_open'),
      Type.Literal('empty_result'),
    ]),
    replayed_seconds: Type.Number({ description: 'Seconds of audio that are replayed. They are not billed twice.' }),
    attempt: Type.Integer({ description: 'Number of the attempt, from 1.' }),
  },
  { description: 'The model failed, and another one continues with the audio that has no final yet.' },
);

export const Warning = Type.Object(
  {
    type: Type.Literal('warning'),
    ...Common,
    channel: Channel,
    code: Type.String({ description: 'For programs. Codes may be added.' }),
    message: Type.String({ description: 'A message for people. It may change.' }),
    param: Type.Optional(Type.String({ description: 'Name of the parameter concerned.' })),
    reconnect_within_seconds: Type.Optional(
      Type.Number({
        description:
          'With `node_draining`: the session is closed with 4200 at the end of the turn, at the latest after this many seconds. Reconnect then: another node answers.',
      }),
    ),
  },
  { description: 'An option is not honoured, or the session will end soon. The session continues.' },
);

export const Discontinuity = Type.Object(
  {
    type: Type.Literal('discontinuity'),
    ...Common,
    channel: Channel,
    from: Type.Number({ description: 'Seconds from the beginning of the audio.' }),
    to: Type.Number({ description: 'Seconds from the beginning of the audio.' }),
    reason: Type.String({ description: 'The reason, for programs. Reasons may be added.' }),
  },
  { description: 'Audio that no final will cover.' },
);

export const ErrorEvent = Type.Object(
  {
    ...{ type: Type.Literal('error'), ...Common, channel: Channel, error: ErrorObject },
    fatal: Type.Optional(
      Type.Literal(false, { description: 'False if the session continues. Absent if this error ends it.' }),
    ),
  },
  {
    description:
      'A refusal or a failure. It precedes every abnormal close. After a malformed message or a refused change, the session continues (`fatal`).',
  },
);

export const SessionEnded = Type.Object(
  {
    type: Type.Literal('session_ended'),
    ...Common,
    reason: Type.Union([
      Type.Literal('client_closed'),
      Type.Literal('idle'),
      Type.Literal('too_long'),
      Type.Literal('credit'),
      Type.Literal('ledger'),
      Type.Literal('upstream'),
      Type.Literal('draining'),
      Type.Literal('error'),
    ]),
    audio_seconds: Type.Number({
      description: 'Seconds of audio received, per channel.',
    }),
    usage: Type.Array(UsageRow, { description: 'By model and price, of all channels together.' }),
    cost_usd: Usd,
    dropped_bytes: Type.Optional(
      Type.Integer({
        description:
          'Bytes that did not form a sample (a single last byte, a truncated packet); absent if there were none.',
      }),
    ),
  },
  { description: 'The last event: the session is over. It contains the cost.' },
);

export const ServerEvent = Type.Union([
  SessionStarted,
  SpeechStarted,
  TurnEagerEnd,
  TurnResumed,
  TurnEnded,
  Transcript,
  SpeakersRestarted,
  Failover,
  Configured,
  Warning,
  Discontinuity,
  ErrorEvent,
  Received,
  SessionResumed,
  SessionEnded,
]);
export type ServerEvent = Static<typeof ServerEvent>;

/** An event before it is numbered and stamped; `seq` and `at` are given when it leaves. */
export type Unstamped<Event> = Event extends unknown ? Omit<Event, 'session_id' | 'seq' | 'at'> : never;
export type OutgoingEvent = Exclude<Unstamped<ServerEvent>, { type: 'session_resumed' }>;
export type TranscriptEvent = Unstamped<Static<typeof Transcript>>;
