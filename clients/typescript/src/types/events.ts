// What the gateway says in a live session, as plain types. Generated from src/api by `npx tsx scripts/generate.ts client-types`.

import type { AskedOfModel, Encoding, ErrorCode, ErrorType, UsageRow, Word } from './answers.ts';

/** The members that every event has. */
export interface EventHead {
  /** The session. */
  session_id: string;
  /** Number of the event: rises by one, without gaps. */
  seq: number;
  /** When it was sent: ISO 8601 UTC, with milliseconds. */
  at: string;
}

/** The session is open. */
export interface SessionStarted extends EventHead {
  type: 'session_started';
  /** Quote it when you report a fault; also in the header `X-Request-Id` of the handshake’s answer. */
  request_id: string;
  /** Slug `<provider>/<model>`. */
  model: string;
  /** Hertz of the audio that you send; of what it is decoded to, where that is Opus. */
  sample_rate: number;
  /** `linear16` (little-endian), `mulaw` and `alaw` are samples, those of several `channels` interleaved. `opus` is one packet of Opus in each binary message; `ogg-opus` an Ogg stream with Opus in it, and `webm-opus` one in WebM or Matroska, as the recorder of a browser makes it: both from their beginning, cut into messages anywhere. `auto` is WebM or Ogg with Opus, or WAV, recognised by its first bytes. Two channels of these are mixed to one. */
  encoding: Encoding;
  /** The models that are tried when the first one fails, in order. */
  fallbacks: {
    /** Slug `<provider>/<model>`. */
    model: string;
    /** What would be lost on this fallback, in the words of `warning.code`. */
    degrades: string[];
  }[];
  /** What the first model, and then each fallback, is asked of `language`, `languages`, `prompt`, `keyterms`, `diarization`, `redact` and `vocabulary_boost`, where the request has them. */
  chain: AskedOfModel[];
  /** How many channels are heard; absent where it is one. */
  channels?: number;
  /** Each channel by itself, as `GET /v1/sessions/{id}` and the console know it, in their order; the first is `session_id`. Absent where there is one channel. */
  channel_sessions?: string[];
  /** With `resume=on`: opens a socket that goes on with this session when the present one breaks. Null without it. */
  resume_token: string | null;
  /** Of a session that `resume` was to go on with, and that is gone: this one is new. */
  continues?: {
    /** The session that is gone. */
    session_id: string;
    /** The same in bytes of audio; absent where it is Opus. */
    from_bytes?: number;
    /** Where the last final ended that you said you have: send the audio from there. Times of this session begin at zero again. */
    from_seconds: number;
  };
  limits: {
    /** Without audio or keepalive for so long the session ends. */
    idle_seconds: number;
    /** After so long without audio the connection to the provider is let go of; the next audio makes another. */
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
  /** The channel that it is about, from 0; absent where the session has one, or where it is about all of them. */
  channel?: number;
  /** Seconds from the beginning of the audio. */
  start: number;
  /** With `turn_events=true`: number of the turn that the words will be, if words come of it. */
  turn?: number;
}

/** Text of a turn: any number of interims, then exactly one final. */
export interface Transcript extends EventHead {
  type: 'transcript';
  /** The channel that it is about, from 0; absent where the session has one, or where it is about all of them. */
  channel?: number;
  /** The text of the turn so far. */
  text: string;
  /** True once for each turn: nothing changes any more. */
  is_final: boolean;
  /** Number of the turn: from 0, without gaps; of each channel by itself, where there are several. */
  turn: number;
  /** Seconds from the beginning of the audio. */
  start: number;
  /** Seconds from the beginning of the audio. */
  end: number;
  /** Slug of the model that heard it. */
  model: string;
  /** From 0 to 1; absent where the provider tells none. */
  confidence?: number;
  /** Numbered from 0 in the order of first appearance. The same person has one number up to the next `speakers_restarted`. */
  speaker?: number;
  /** BCP-47, where the provider tells it. */
  language?: string;
  words?: Word[];
}

/** The turn may be over with these words: `turn_ended` or `turn_resumed` follows. */
export interface TurnEagerEnd extends EventHead {
  type: 'turn_eager_end';
  /** The channel that it is about, from 0; absent where the session has one, or where it is about all of them. */
  channel?: number;
  /** Number of the turn: from 0, without gaps; of each channel by itself, where there are several. */
  turn: number;
  /** The text of the turn so far. */
  text: string;
  /** Seconds from the beginning of the audio. */
  start: number;
  /** Seconds from the beginning of the audio. */
  end: number;
  /** Slug `<provider>/<model>`. */
  model: string;
  /** How sure the provider is that the turn is over, from 0 to 1; absent where it tells none. */
  end_of_turn_confidence?: number;
}

/** The turn was not over at its last `turn_eager_end`, or not with these words. */
export interface TurnResumed extends EventHead {
  type: 'turn_resumed';
  /** The channel that it is about, from 0; absent where the session has one, or where it is about all of them. */
  channel?: number;
  /** Number of the turn: from 0, without gaps; of each channel by itself, where there are several. */
  turn: number;
  /** `speech`: the speaker goes on; `revised`: the final has other words; `reheard`: the connection that heard the turn was lost, and it is heard again or stays without a final. Reasons may be added. */
  reason: string;
}

/** The turn is over: right behind its final. */
export interface TurnEnded extends EventHead {
  type: 'turn_ended';
  /** The channel that it is about, from 0; absent where the session has one, or where it is about all of them. */
  channel?: number;
  /** Number of the turn: from 0, without gaps; of each channel by itself, where there are several. */
  turn: number;
  /** Seconds from the beginning of the audio. */
  start: number;
  /** Seconds from the beginning of the audio. */
  end: number;
  /** How sure the provider is that the turn is over, from 0 to 1; absent where it tells none. */
  end_of_turn_confidence?: number;
}

/** From there on the same people have new speaker numbers. */
export interface SpeakersRestarted extends EventHead {
  type: 'speakers_restarted';
  /** The channel that it is about, from 0; absent where the session has one, or where it is about all of them. */
  channel?: number;
  /** Seconds from the beginning of the audio. */
  start: number;
  /** The lowest number from there on: all below it were given before. */
  first_speaker: number;
}

/** Another model goes on with the session; no word is lost or doubled. */
export interface Failover extends EventHead {
  type: 'failover';
  /** The channel that it is about, from 0; absent where the session has one, or where it is about all of them. */
  channel?: number;
  /** Slug of the model that failed. */
  from: string;
  /** Slug of the model that goes on. */
  to: string;
  reason:
    | 'upstream_closed'
    | 'upstream_error'
    | 'connect_failed'
    | 'connect_timeout'
    | 'stalled'
    | 'circuit_open'
    | 'empty_result';
  /** Seconds of audio that are sent again; they are not billed twice. */
  replayed_seconds: number;
  /** Number of the attempt, from 1. */
  attempt: number;
}

/** What was asked for in mid-session is in force. */
export interface Configured extends EventHead {
  type: 'configured';
  /** The channel that it is about, from 0; absent where the session has one, or where it is about all of them. */
  channel?: number;
  /** Slug `<provider>/<model>`. */
  model: string;
  /** The models that are tried when it fails, in order. */
  fallbacks: string[];
  /** What the first model, and then each fallback, is asked of `language`, `languages`, `prompt`, `keyterms`, `diarization`, `redact` and `vocabulary_boost`, where the request has them. */
  chain: AskedOfModel[];
  /** Seconds from the beginning of the audio: from there on it is heard so. */
  from: number;
  /** Seconds of audio that are sent again; they are not billed twice. */
  replayed_seconds: number;
}

/** Something was not done as asked; the session goes on. */
export interface Warning extends EventHead {
  type: 'warning';
  /** The channel that it is about, from 0; absent where the session has one, or where it is about all of them. */
  channel?: number;
  /** For programs. Codes may be added. */
  code: string;
  /** For people: it may change. */
  message: string;
  /** Name of the parameter that it is about. */
  param?: string;
  /** Of `node_draining`: the session is closed with 4200 at the end of the turn, at the latest after so many seconds. Connect again then: another node answers. */
  reconnect_within_seconds?: number;
}

/** Seconds of audio that no final will cover, and why. */
export interface Discontinuity extends EventHead {
  type: 'discontinuity';
  /** The channel that it is about, from 0; absent where the session has one, or where it is about all of them. */
  channel?: number;
  /** Seconds from the beginning of the audio. */
  from: number;
  /** Seconds from the beginning of the audio. */
  to: number;
  /** Why, for programs. Reasons may be added. */
  reason: string;
}

/** Something went wrong. */
export interface ErrorEvent extends EventHead {
  type: 'error';
  /** The channel that it is about, from 0; absent where the session has one, or where it is about all of them. */
  channel?: number;
  /** Why something was refused, or has failed. */
  error: {
    /** The family of the error. */
    type: ErrorType;
    /** What was refused, for programs. Codes may be added. */
    code: ErrorCode;
    /** What was wrong, what is accepted and what to do. For people: it may change. */
    message: string;
    /** Name of the field at fault, or null. */
    param: string | null;
    /** Quote it when you report a fault; also in the header `X-Request-Id`. */
    request_id: string;
    /** Of `upstream_error`: every attempt, in the order they were made. */
    details?: {
      /** Slug of the model that was tried. */
      model: string;
      /** Why it gave no result. */
      reason: string;
    }[];
  };
  /** The session goes on. Absent where it ends by this. */
  fatal?: false;
}

/** So much of the audio need not be sent again when the socket breaks. */
export interface Received extends EventHead {
  type: 'received';
  /** Bytes of audio that were taken since the session began, on all of its sockets together. */
  bytes: number;
}

/** The session goes on with this socket: audio follows from there. */
export interface SessionResumed extends EventHead {
  type: 'session_resumed';
  /** Bytes of audio that were taken since the session began, on all of its sockets together. */
  received_bytes: number;
  /** Number of the event that follows. */
  next_seq: number;
  limits?: {
    /** Largest binary frame on this socket; less than at the start where the node that it has reached is busy. */
    binary_frame_bytes: number;
  };
}

/** The last event: what was heard and what it costs. */
export interface SessionEnded extends EventHead {
  type: 'session_ended';
  reason: 'client_closed' | 'idle' | 'too_long' | 'credit' | 'ledger' | 'upstream' | 'draining' | 'error';
  /** Seconds of audio that arrived; of each channel, where there are several. */
  audio_seconds: number;
  /** By model and price, of all channels together. */
  usage: UsageRow[];
  /** USD, decimal. */
  cost_usd: string;
  /** Bytes that could not be part of a sample (a lone last byte, a packet that was cut off); absent when there were none. */
  dropped_bytes?: number;
}
