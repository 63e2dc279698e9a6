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
  'No more audio: what is left is delivered, then the session ends with close code 1000.',
);
export const Keepalive = message('keepalive', 'Keeps a session open that sends no audio.');

export const ClientMessage = Type.Union([Finalize, Close, Keepalive, Configure]);
export type ClientMessage = Static<typeof ClientMessage>;

const Usd = Type.String({ description: 'USD, decimal.' });

export const ConnectionSeconds = Type.Optional(
  Type.Number({
    description:
      'Seconds that connections to the model were open, where its price is metered by them: of a session the larger of both is billed.',
  }),
);

export const UsageRow = Type.Object({
  model: Slug,
  seconds: Type.Number({ description: 'Seconds of audio, each counted once, at the model that made its final.' }),
  connection_seconds: ConnectionSeconds,
  cost_usd: Usd,
  byok: Type.Boolean({ description: 'Whether it ran on your own provider key, and cost nothing here.' }),
});
export type UsageRow = Static<typeof UsageRow>;

export const SessionStarted = Type.Object(
  {
    type: Type.Literal('session_started'),
    ...Common,
    request_id: Type.String({
      description: 'Quote it when you report a fault; also in the header `X-Request-Id` of the handshake’s answer.',
    }),
    model: Slug,
    sample_rate: Type.Integer({
      description: 'Hertz of the audio that you send; of what it is decoded to, where that is Opus.',
    }),
    encoding: Encoding,
    fallbacks: Type.Array(
      Type.Object({
        model: Slug,
        degrades: Type.Array(Type.String(), {
          description: 'What would be lost on this fallback, in the words of `warning.code`.',
        }),
      }),
      { description: 'The models that are tried when the first one fails, in order.' },
    ),
    chain: AskedOfModels,
    channels: Type.Optional(
      Type.Integer({ minimum: 2, description: 'How many channels are heard; absent where it is one.' }),
    ),
    channel_sessions: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'Each channel by itself, as `GET /v1/sessions/{id}` and the console know it, in their order; the first is `session_id`. Absent where there is one channel.',
      }),
    ),
    resume_token: Type.Union([Type.String(), Type.Null()], {
      description:
        'With `resume=on`: opens a socket that goes on with this session when the present one breaks. Null without it.',
    }),
    continues: Type.Optional(Continues),
    limits: Type.Object({
      idle_seconds: Type.Number({ description: 'Without audio or keepalive for so long the session ends.' }),
      suspend_seconds: Type.Number({
        description:
          'After so long without audio the connection to the provider is let go of; the next audio makes another.',
      }),
      session_seconds: Type.Number({ description: 'Longest duration of the session.' }),
      binary_frame_bytes: Type.Integer({ description: 'Largest binary frame.' }),
      text_frame_bytes: Type.Integer({ description: 'Largest text frame.' }),
    }),
  },
  { description: 'The session is open: the first event, unless the session is refused. Audio may be sent before it.' },
);

export const Failover = Type.Object(
  {
    type: Type.Literal('failover'),
    ...Common,
    channel: Channel,
    from: Type.String({ description: 'Slug of the model that failed.' }),
    to: Type.String({ description: 'Slug of the model that goes on.' }),
    reason: Type.Union([
      Type.Literal('upstream_closed'),
      Type.Literal('upstream_error'),
      Type.Literal('connect_failed'),
      Type.Literal('connect_timeout'),
      Type.Literal('stalled'),
      Type.Literal('circuit_open'),
      Type.Literal('empty_result'),
    ]),
    replayed_seconds: Type.Number({ description: 'Seconds of audio that are sent again; they are not billed twice.' }),
    attempt: Type.Integer({ description: 'Number of the attempt, from 1.' }),
  },
  { description: 'The model failed, and another one goes on with what had no final yet.' },
);

export const Warning = Type.Object(
  {
    type: Type.Literal('warning'),
    ...Common,
    channel: Channel,
    code: Type.String({ description: 'For programs. Codes may be added.' }),
    message: Type.String({ description: 'For people: it may change.' }),
    param: Type.Optional(Type.String({ description: 'Name of the parameter that it is about.' })),
    reconnect_within_seconds: Type.Optional(
      Type.Number({
        description:
          'Of `node_draining`: the session is closed with 4200 at the end of the turn, at the latest after so many seconds. Connect again then: another node answers.',
      }),
    ),
  },
  { description: 'Something asked for is not honoured, or will soon be over. The session goes on.' },
);

export const Discontinuity = Type.Object(
  {
    type: Type.Literal('discontinuity'),
    ...Common,
    channel: Channel,
    from: Type.Number({ description: 'Seconds from the beginning of the audio.' }),
    to: Type.Number({ description: 'Seconds from the beginning of the audio.' }),
    reason: Type.String({ description: 'Why, for programs. Reasons may be added.' }),
  },
  { description: 'Audio that no final will cover.' },
);

export const ErrorEvent = Type.Object(
  {
    ...{ type: Type.Literal('error'), ...Common, channel: Channel, error: ErrorObject },
    fatal: Type.Optional(Type.Literal(false, { description: 'The session goes on. Absent where it ends by this.' })),
  },
  {
    description:
      'Something was refused or has failed. Before every close that is not normal; after a message that was not understood, and a change that is refused, the session goes on (`fatal`).',
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
      description: 'Seconds of audio that arrived; of each channel, where there are several.',
    }),
    usage: Type.Array(UsageRow, { description: 'By model and price, of all channels together.' }),
    cost_usd: Usd,
    dropped_bytes: Type.Optional(
      Type.Integer({
        description:
          'Bytes that could not be part of a sample (a lone last byte, a packet that was cut off); absent when there were none.',
      }),
    ),
  },
  { description: 'The session is over, and what it cost. The last event.' },
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
