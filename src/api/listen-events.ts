// The events of `GET /v1/listen`: what a session sends to its client.
import { type Static, Type } from '@sinclair/typebox';
import { Choice } from './choice.ts';
import { ErrorObject } from './error-body.ts';
import { Encoding } from './listen.ts';
import { Tags } from './tags.ts';
import { AskedOfModels } from './vocabulary.ts';

const Start = Type.Number({ description: 'Seconds from the beginning of the audio.' });
const End = Type.Number({ description: 'Seconds from the beginning of the audio.' });
const Confidence = Type.Number({ description: 'From 0 to 1; absent if the provider does not report it.' });
const Speaker = Type.Integer({
  minimum: 0,
  description:
    'Numbered from 0 in the order of first appearance. The same person has one number up to the next `speakers_restarted`.',
});
const Slug = Type.String({ description: 'Slug `<provider>/<model>`.' });

export const Word = Type.Object({
  word: Type.String(),
  start: Start,
  end: End,
  confidence: Type.Optional(Confidence),
  speaker: Type.Optional(Speaker),
  no_speech: Type.Optional(
    Type.Literal(true, { description: 'Only in transcripts of files: a word of text for audio without speech.' }),
  ),
});

/** The members that every event has. */
const Common = {
  session_id: Type.String({ pattern: '^ses_', description: 'The session.' }),
  seq: Type.Integer({ minimum: 1, description: 'Number of the event: increases by one, without gaps.' }),
  at: Type.String({ description: 'Time when it was sent: ISO 8601 UTC, with milliseconds.' }),
};

/** Of events that are about one channel. */
const Channel = Type.Optional(
  Type.Integer({
    minimum: 0,
    description:
      'The number of the channel, from 0. Absent if the session has one channel, or if the event is about all of them.',
  }),
);

const Turn = Type.Integer({
  minimum: 0,
  description: 'Number of the turn: from 0, without gaps, separately for each channel.',
});

/** Of a session that begins because the one that was to be resumed is gone. */
const Continues = Type.Object(
  {
    session_id: Type.String({ description: 'The session that is gone.' }),
    from_bytes: Type.Optional(
      Type.Integer({ minimum: 0, description: 'The same position in bytes of audio; absent for Opus.' }),
    ),
    from_seconds: Type.Number({
      description:
        'The end of the last final that you reported. Send the audio from there. Times of this session start at zero again.',
    }),
  },
  { description: 'Present if the session named by `resume` is gone: this session is new.' },
);

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
    choice: Type.Optional(Choice),
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
    tags: Type.Optional(
      Type.Unsafe<Tags>({
        ...Tags,
        description: 'Tags of the session: those of its request, client token and API key. Absent without any.',
      }),
    ),
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

export const SpeechStarted = Type.Object(
  {
    type: Type.Literal('speech_started'),
    ...Common,
    channel: Channel,
    start: Start,
    turn: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'With `turn_events=true`: number of the turn that will contain the words, if there are any.',
      }),
    ),
  },
  {
    description:
      'Speech has started, if the provider reports it. With `turn_events=true`, this event comes before the first transcript of each turn, with any provider. It comes again for the same turn if the earlier speech produced no words.',
  },
);

const EndOfTurnConfidence = Type.Optional(
  Type.Number({
    description:
      'The provider’s confidence that the turn is over, from 0 to 1; absent if the provider does not report it.',
  }),
);

export const TurnEagerEnd = Type.Object(
  {
    type: Type.Literal('turn_eager_end'),
    ...Common,
    channel: Channel,
    turn: Turn,
    text: Type.String({ description: 'The text of the turn so far.' }),
    start: Start,
    end: End,
    model: Slug,
    end_of_turn_confidence: EndOfTurnConfidence,
  },
  {
    description:
      'Only with `turn_events=true`, and if the provider reports it: the turn may be over with these words, so you can prepare an answer. Exactly one of two events follows: `turn_ended`, with exactly this text, or `turn_resumed`.',
  },
);

export const TurnResumed = Type.Object(
  {
    type: Type.Literal('turn_resumed'),
    ...Common,
    channel: Channel,
    turn: Turn,
    reason: Type.String({
      description:
        '`speech`: the speaker continues. `revised`: the final has other words. `reheard`: the connection was lost, and the turn is replayed or gets no final. Reasons may be added.',
    }),
  },
  {
    description:
      'Only with `turn_events=true`: the turn was not over at the last `turn_eager_end`, or not with these words. Discard the prepared answer.',
  },
);

export const TurnEnded = Type.Object(
  {
    type: Type.Literal('turn_ended'),
    ...Common,
    channel: Channel,
    turn: Turn,
    start: Start,
    end: End,
    end_of_turn_confidence: EndOfTurnConfidence,
  },
  {
    description:
      'Only with `turn_events=true`: the turn is over. Sent once per turn, immediately after its final transcript.',
  },
);

export const Transcript = Type.Object(
  {
    type: Type.Literal('transcript'),
    ...Common,
    channel: Channel,
    text: Type.String({ description: 'The text of the turn so far.' }),
    is_final: Type.Boolean({ description: 'True exactly once per turn: the text no longer changes.' }),
    turn: Turn,
    start: Start,
    end: End,
    model: Type.String({ description: 'Slug of the model that transcribed it.' }),
    confidence: Type.Optional(Confidence),
    speaker: Type.Optional(Speaker),
    language: Type.Optional(Type.String({ description: 'BCP-47, if the provider reports it.' })),
    words: Type.Optional(Type.Array(Word)),
    no_speech: Type.Optional(
      Type.Literal(true, {
        description:
          'Only on finals, and only with a speech gate (`speech_gate`): the audio has no voice, so the model invented the text. With `speech_gate=drop`, `text` is empty.',
      }),
    ),
  },
  {
    description:
      'The text of a turn: any number of times during the turn, then exactly once with `is_final`. Times keep rising across a failover.',
  },
);

export const SpeakersRestarted = Type.Object(
  {
    type: Type.Literal('speakers_restarted'),
    ...Common,
    channel: Channel,
    start: Start,
    first_speaker: Type.Integer({
      minimum: 1,
      description: 'The lowest number from here on. Lower numbers were used before.',
    }),
  },
  {
    description:
      'From here on, a new connection transcribes (after a failover, a reconnection or a pause). It does not know the earlier speakers: the same people get new numbers, never those of others. This event comes before the first transcript with such a number.',
  },
);

export const Failover = Type.Object(
  {
    type: Type.Literal('failover'),
    ...Common,
    channel: Channel,
    from: Type.String({
      description: 'Slug of the model that failed, or with `returned` and `spend_ceiling`, of the one before.',
    }),
    to: Type.String({ description: 'Slug of the model that continues.' }),
    reason: Type.Union([
      Type.Literal('upstream_closed'),
      Type.Literal('upstream_error'),
      Type.Literal('connect_failed'),
      Type.Literal('connect_timeout'),
      Type.Literal('stalled'),
      Type.Literal('circuit_open'),
      Type.Literal('streams_full'),
      Type.Literal('empty_result'),
      Type.Literal('returned'),
      Type.Literal('spend_ceiling'),
    ]),
    replayed_seconds: Type.Number({ description: 'Seconds of audio that are replayed. They are not billed twice.' }),
    attempt: Type.Integer({ description: 'Number of the attempt, from 1.' }),
  },
  {
    description:
      'The model failed, and another one continues with the audio that has no final yet. Or, with the reason `returned`, the session is back at its first model (`return_to_primary`). With `spend_ceiling`, a spend ceiling is reached, and the session continues with a cheaper model that the ceiling leaves.',
  },
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

export const Configured = Type.Object(
  {
    type: Type.Literal('configured'),
    ...Common,
    channel: Channel,
    model: Slug,
    fallbacks: Type.Array(Slug, { description: 'The models to use when it fails, in order.' }),
    chain: AskedOfModels,
    choice: Type.Optional(Choice),
    from: Type.Number({
      description: 'The position from which on the change applies, in seconds from the beginning of the audio.',
    }),
    replayed_seconds: Type.Number({ description: 'Seconds of audio that are replayed. They are not billed twice.' }),
  },
  { description: 'The change that `configure` requested is in force.' },
);

const ReceivedBytes = Type.Integer({
  minimum: 0,
  description: 'Bytes of audio accepted since the session began, on all of its sockets together.',
});

export const Received = Type.Object(
  { type: Type.Literal('received'), ...Common, bytes: ReceivedBytes },
  {
    description:
      'With `resume=on`, once a second if the value grew. You need not send audio up to this position again when the socket breaks.',
  },
);

export const SessionResumed = Type.Object(
  {
    type: Type.Literal('session_resumed'),
    ...Common,
    seq: Type.Integer({ minimum: 0, description: 'As you said: the number of the last event that you have had.' }),
    received_bytes: ReceivedBytes,
    next_seq: Type.Integer({ minimum: 1, description: 'Number of the event that follows.' }),
    limits: Type.Optional(
      Type.Object({
        binary_frame_bytes: Type.Integer({
          description: 'Largest binary frame on this socket. It may be smaller than at the start if this node is busy.',
        }),
      }),
    ),
  },
  {
    description:
      'The first event of a socket that continues a session. Send the audio from `received_bytes` on. The events that you missed follow.',
  },
);

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
    redactions: Type.Optional(
      Type.Record(Type.String(), Type.Integer({ minimum: 1 }), {
        description: 'How often the gateway has redacted each class in finals; absent if it has redacted nothing.',
      }),
    ),
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
type Unstamped<Event> = Event extends unknown ? Omit<Event, 'session_id' | 'seq' | 'at'> : never;
export type OutgoingEvent = Exclude<Unstamped<ServerEvent>, { type: 'session_resumed' }>;
export type TranscriptEvent = Unstamped<Static<typeof Transcript>>;

export interface EventStamp {
  sessionId: string;
  /** Number of the event: rises by one, without gaps. */
  seq: number;
  at: Date;
}

/** Keeps what it needs of earlier events: one for each session. */
export interface EventEncoder {
  /** The messages that tell of it, in their order; none where the client's protocol has no word for it. */
  encode(event: OutgoingEvent, stamp: EventStamp): readonly string[];
  /** The close frame, out of the gateway's own. `reason`: the error's code, or empty. */
  close(code: number, reason: string): { code: number; reason: string };
}
