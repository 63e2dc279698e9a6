// What the gateway says in a live session, as plain types. Generated from src/api by `npx tsx scripts/generate.ts client-types`.

import type { AskedOfModel, Encoding, ErrorCode, ErrorType, UsageRow, Word } from './answers.ts';

/** The members that every event has. */
export interface EventHead {
  /** The session. */
  session_id: string;
  /** Number of the event: increases by one, without gaps. */
  seq: number;
  /** Time when it was sent: ISO 8601 UTC, with milliseconds. */
  at: string;
}

/** The session is open. */
export interface SessionStarted extends EventHead {
  type: 'session_started';
  /** Quote it when you report a problem. Also in the header `X-Request-Id` of the handshake’s response. */
  request_id: string;
  /** Slug `<provider>/<model>`. */
  model: string;
  /** Sample rate of your audio, in hertz. For Opus, the rate after decoding. */
  sample_rate: number;
  /** `linear16` (little-endian), `mulaw` and `alaw` are samples; several `channels` are interleaved. `opus` is one Opus packet in each binary message. `ogg-opus` is an Ogg stream with Opus, and `webm-opus` a WebM or Matroska stream, such as the output of a browser’s recorder. Send both from their beginning, cut into messages anywhere. `auto` is WebM or Ogg with Opus, or WAV, recognised by its first bytes. Two channels of these are mixed to one. */
  encoding: Encoding;
  /** The models to use when the first one fails, in order. */
  fallbacks: {
    /** Slug `<provider>/<model>`. */
    model: string;
    /** Options that this fallback would lose, as values of `warning.code`. */
    degrades: string[];
  }[];
  /** How the first model, and then each fallback, applies `language`, `languages`, `prompt`, `keyterms`, `diarization`, `redact` and `vocabulary_boost`, if the request has them. */
  chain: AskedOfModel[];
  /** The models that the gateway chose, in order. Absent without `auto`. */
  choice?: {
    /** Slug `<provider>/<model>`. */
    model: string;
    /** Why it precedes the next candidate, for people. It may change. */
    reason: string;
    /** USD, decimal, with the requested add-ons; absent where the price is per session. */
    price_per_minute?: string;
    /** Live: median time from the first audio of a turn until its first words. */
    first_word_ms?: number;
    /** Files: median time until the answer, for each second of audio. */
    answer_ms_per_second?: number;
    /** Share of attempts that failed or were empty, from 0 to 1; absent without attempts. */
    error_rate?: number;
    /** With `prefer=accuracy`: what the operator has measured in the language of the request; absent for a model without a measurement. */
    accuracy?: {
      /** Errors for each word or character. */
      error_rate: number;
      unit: 'words' | 'characters';
      /** Number of words or characters that were compared. */
      units: number;
    };
    /** Number of attempts at it in the last six hours, on all nodes; 1000 stands for 1000 or more. */
    measured: number;
  }[];
  /** Number of transcribed channels; absent if there is one. */
  channels?: number;
  /** The id of each channel in `GET /v1/sessions/{id}` and in the console, in order; the first is `session_id`. Absent if there is one channel. */
  channel_sessions?: string[];
  /** With `resume=on`: opens a socket that continues this session when the current one breaks. Otherwise null. */
  resume_token: string | null;
  /** Present if the session named by `resume` is gone: this session is new. */
  continues?: {
    /** The session that is gone. */
    session_id: string;
    /** The same position in bytes of audio; absent for Opus. */
    from_bytes?: number;
    /** The end of the last final that you reported. Send the audio from there. Times of this session start at zero again. */
    from_seconds: number;
  };
  /** Tags of the session: those of its request, client token and API key. Absent without any. */
  tags?: Record<string, string>;
  limits: {
    /** The session ends after this time without audio or keepalive. */
    idle_seconds: number;
    /** The gateway closes the connection to the provider after this time without audio. The next audio opens a new one. */
    suspend_seconds: number;
    /** Longest duration of the session. */
    session_seconds: number;
    /** Largest binary frame. */
    binary_frame_bytes: number;
    /** Largest text frame. */
    text_frame_bytes: number;
  };
}

/** Speech was heard; `start` in seconds of session audio. */
export interface SpeechStarted extends EventHead {
  type: 'speech_started';
  /** The number of the channel, from 0. Absent if the session has one channel, or if the event is about all of them. */
  channel?: number;
  /** Seconds from the beginning of the audio. */
  start: number;
  /** With `turn_events=true`: number of the turn that will contain the words, if there are any. */
  turn?: number;
}

/** Text of a turn: any number of interims, then exactly one final. */
export interface Transcript extends EventHead {
  type: 'transcript';
  /** The number of the channel, from 0. Absent if the session has one channel, or if the event is about all of them. */
  channel?: number;
  /** The text of the turn so far. */
  text: string;
  /** True exactly once per turn: the text no longer changes. */
  is_final: boolean;
  /** Number of the turn: from 0, without gaps, separately for each channel. */
  turn: number;
  /** Seconds from the beginning of the audio. */
  start: number;
  /** Seconds from the beginning of the audio. */
  end: number;
  /** Slug of the model that transcribed it. */
  model: string;
  /** From 0 to 1; absent if the provider does not report it. */
  confidence?: number;
  /** Numbered from 0 in the order of first appearance. The same person has one number up to the next `speakers_restarted`. */
  speaker?: number;
  /** BCP-47, if the provider reports it. */
  language?: string;
  words?: Word[];
  /** Only on finals, and only with a speech gate (`speech_gate`): the audio has no voice, so the model invented the text. With `speech_gate=drop`, `text` is empty. */
  no_speech?: true;
}

/** The turn may be over with these words: `turn_ended` or `turn_resumed` follows. */
export interface TurnEagerEnd extends EventHead {
  type: 'turn_eager_end';
  /** The number of the channel, from 0. Absent if the session has one channel, or if the event is about all of them. */
  channel?: number;
  /** Number of the turn: from 0, without gaps, separately for each channel. */
  turn: number;
  /** The text of the turn so far. */
  text: string;
  /** Seconds from the beginning of the audio. */
  start: number;
  /** Seconds from the beginning of the audio. */
  end: number;
  /** Slug `<provider>/<model>`. */
  model: string;
  /** The provider’s confidence that the turn is over, from 0 to 1; absent if the provider does not report it. */
  end_of_turn_confidence?: number;
}

/** The turn was not over at its last `turn_eager_end`, or not with these words. */
export interface TurnResumed extends EventHead {
  type: 'turn_resumed';
  /** The number of the channel, from 0. Absent if the session has one channel, or if the event is about all of them. */
  channel?: number;
  /** Number of the turn: from 0, without gaps, separately for each channel. */
  turn: number;
  /** `speech`: the speaker continues. `revised`: the final has other words. `reheard`: the connection was lost, and the turn is replayed or gets no final. Reasons may be added. */
  reason: string;
}

/** The turn is over: right behind its final. */
export interface TurnEnded extends EventHead {
  type: 'turn_ended';
  /** The number of the channel, from 0. Absent if the session has one channel, or if the event is about all of them. */
  channel?: number;
  /** Number of the turn: from 0, without gaps, separately for each channel. */
  turn: number;
  /** Seconds from the beginning of the audio. */
  start: number;
  /** Seconds from the beginning of the audio. */
  end: number;
  /** The provider’s confidence that the turn is over, from 0 to 1; absent if the provider does not report it. */
  end_of_turn_confidence?: number;
}

/** From there on the same people have new speaker numbers. */
export interface SpeakersRestarted extends EventHead {
  type: 'speakers_restarted';
  /** The number of the channel, from 0. Absent if the session has one channel, or if the event is about all of them. */
  channel?: number;
  /** Seconds from the beginning of the audio. */
  start: number;
  /** The lowest number from here on. Lower numbers were used before. */
  first_speaker: number;
}

/** Another model goes on with the session; no word is lost or doubled. */
export interface Failover extends EventHead {
  type: 'failover';
  /** The number of the channel, from 0. Absent if the session has one channel, or if the event is about all of them. */
  channel?: number;
  /** Slug of the model that failed, or with `returned` and `spend_ceiling`, of the one before. */
  from: string;
  /** Slug of the model that continues. */
  to: string;
  reason:
    | 'upstream_closed'
    | 'upstream_error'
    | 'connect_failed'
    | 'connect_timeout'
    | 'stalled'
    | 'circuit_open'
    | 'streams_full'
    | 'empty_result'
    | 'returned'
    | 'spend_ceiling';
  /** Seconds of audio that are replayed. They are not billed twice. */
  replayed_seconds: number;
  /** Number of the attempt, from 1. */
  attempt: number;
}

/** What was asked for in mid-session is in force. */
export interface Configured extends EventHead {
  type: 'configured';
  /** The number of the channel, from 0. Absent if the session has one channel, or if the event is about all of them. */
  channel?: number;
  /** Slug `<provider>/<model>`. */
  model: string;
  /** The models to use when it fails, in order. */
  fallbacks: string[];
  /** How the first model, and then each fallback, applies `language`, `languages`, `prompt`, `keyterms`, `diarization`, `redact` and `vocabulary_boost`, if the request has them. */
  chain: AskedOfModel[];
  /** The models that the gateway chose, in order. Absent without `auto`. */
  choice?: {
    /** Slug `<provider>/<model>`. */
    model: string;
    /** Why it precedes the next candidate, for people. It may change. */
    reason: string;
    /** USD, decimal, with the requested add-ons; absent where the price is per session. */
    price_per_minute?: string;
    /** Live: median time from the first audio of a turn until its first words. */
    first_word_ms?: number;
    /** Files: median time until the answer, for each second of audio. */
    answer_ms_per_second?: number;
    /** Share of attempts that failed or were empty, from 0 to 1; absent without attempts. */
    error_rate?: number;
    /** With `prefer=accuracy`: what the operator has measured in the language of the request; absent for a model without a measurement. */
    accuracy?: {
      /** Errors for each word or character. */
      error_rate: number;
      unit: 'words' | 'characters';
      /** Number of words or characters that were compared. */
      units: number;
    };
    /** Number of attempts at it in the last six hours, on all nodes; 1000 stands for 1000 or more. */
    measured: number;
  }[];
  /** The position from which on the change applies, in seconds from the beginning of the audio. */
  from: number;
  /** Seconds of audio that are replayed. They are not billed twice. */
  replayed_seconds: number;
}

/** Something was not done as asked; the session goes on. */
export interface Warning extends EventHead {
  type: 'warning';
  /** The number of the channel, from 0. Absent if the session has one channel, or if the event is about all of them. */
  channel?: number;
  /** For programs. Codes may be added. */
  code: string;
  /** A message for people. It may change. */
  message: string;
  /** Name of the parameter concerned. */
  param?: string;
  /** With `node_draining`: the session is closed with 4200 at the end of the turn, at the latest after this many seconds. Reconnect then: another node answers. */
  reconnect_within_seconds?: number;
}

/** Seconds of audio that no final will cover, and why. */
export interface Discontinuity extends EventHead {
  type: 'discontinuity';
  /** The number of the channel, from 0. Absent if the session has one channel, or if the event is about all of them. */
  channel?: number;
  /** Seconds from the beginning of the audio. */
  from: number;
  /** Seconds from the beginning of the audio. */
  to: number;
  /** The reason, for programs. Reasons may be added. */
  reason: string;
}

/** Something went wrong. */
export interface ErrorEvent extends EventHead {
  type: 'error';
  /** The number of the channel, from 0. Absent if the session has one channel, or if the event is about all of them. */
  channel?: number;
  /** The reason for a refusal or a failure. */
  error: {
    /** The family of the error. */
    type: ErrorType;
    /** The reason, for programs. Codes may be added. */
    code: ErrorCode;
    /** A message for people: what was wrong, what is accepted and what to do. It may change. */
    message: string;
    /** Name of the field at fault, or null. */
    param: string | null;
    /** Quote it when you report a problem. Also in the header `X-Request-Id`. */
    request_id: string;
    /** With `upstream_error`: every attempt, in order. */
    details?: {
      /** Slug of the model that was tried. */
      model: string;
      /** The reason for the failure. */
      reason: string;
    }[];
  };
  /** False if the session continues. Absent if this error ends it. */
  fatal?: false;
}

/** So much of the audio need not be sent again when the socket breaks. */
export interface Received extends EventHead {
  type: 'received';
  /** Bytes of audio accepted since the session began, on all of its sockets together. */
  bytes: number;
}

/** The session goes on with this socket: audio follows from there. */
export interface SessionResumed extends EventHead {
  type: 'session_resumed';
  /** Bytes of audio accepted since the session began, on all of its sockets together. */
  received_bytes: number;
  /** Number of the event that follows. */
  next_seq: number;
  limits?: {
    /** Largest binary frame on this socket. It may be smaller than at the start if this node is busy. */
    binary_frame_bytes: number;
  };
}

/** The last event: what was heard and what it costs. */
export interface SessionEnded extends EventHead {
  type: 'session_ended';
  reason: 'client_closed' | 'idle' | 'too_long' | 'credit' | 'ledger' | 'upstream' | 'draining' | 'error';
  /** Seconds of audio received, per channel. */
  audio_seconds: number;
  /** By model and price, of all channels together. */
  usage: UsageRow[];
  /** USD, decimal. */
  cost_usd: string;
  /** How often the gateway has redacted each class in finals; absent if it has redacted nothing. */
  redactions?: Record<string, number>;
  /** Bytes that did not form a sample (a single last byte, a truncated packet); absent if there were none. */
  dropped_bytes?: number;
}
