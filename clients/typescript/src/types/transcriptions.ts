// A file's transcription as it is answered, as plain types. Generated from src/api by `npx tsx scripts/generate.ts client-types`.

import type { ErrorCode, ErrorType, ResponseFormat, Word } from './answers.ts';

/** The answer in the format `json`. */
export interface Transcription {
  text: string;
  /** Only with a speech gate (`speech_gate`): no voice was found in the audio of any of the text, so the model invented it. With `speech_gate=drop`, `text` is empty. */
  no_speech?: true;
  /** How often the gateway has redacted each class; absent if it has redacted nothing. */
  redactions?: Record<string, number>;
  /** Where `include[]=logprobs` was asked for and the model gives them. */
  logprobs?: {
    token: string;
    bytes?: number[];
    logprob: number;
  }[];
  usage: {
    type: 'duration';
    /** Seconds that are charged: those of the file, times its channels where the provider bills each of them. */
    seconds: number;
  };
  warnings?: {
    code: string;
    message: string;
    param?: string;
  }[];
}

/** A stretch of a transcription; times in seconds. */
export interface Segment {
  id: number;
  /** OpenAI's; 0 here. */
  seek: number;
  start: number;
  end: number;
  text: string;
  /** OpenAI's; empty here. */
  tokens: number[];
  /** That of the request, or 0. */
  temperature: number;
  /** The logarithm of `confidence`; 0 where the model gives none. */
  avg_logprob: number;
  /** OpenAI's; 1 here. */
  compression_ratio: number;
  /** OpenAI’s; 1 where the segment has `no_speech`, and 0 otherwise. */
  no_speech_prob: number;
  /** Only with a speech gate (`speech_gate`): no voice was found in the audio of the segment, so the model invented it. */
  no_speech?: true;
  speaker?: number;
  confidence?: number;
}

/** The answer in the format `verbose_json`. */
export interface VerboseTranscription {
  text: string;
  task: 'transcribe';
  /** Its English name in lower case, such as `english`, as OpenAI writes it; `und` where nobody knows. Live events have codes. */
  language: string;
  /** Seconds of audio. */
  duration: number;
  /** The slug that answered. */
  model: string;
  /** Left out where `timestamp_granularities[]` asks for words alone. */
  segments?: Segment[];
  /** Left out where `timestamp_granularities[]` asks for segments alone. */
  words?: Word[];
  request_id: string;
  usage: {
    type: 'duration';
    seconds: number;
    cost_usd: string;
    byok: boolean;
  };
  /** Only with a speech gate (`speech_gate`): no voice was found in the audio of any of the text, so the model invented it. With `speech_gate=drop`, `text` is empty. */
  no_speech?: true;
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
  /** How often the gateway has redacted each class; absent if it has redacted nothing. */
  redactions?: Record<string, number>;
  fallback?: {
    model: string;
    reason: string;
  }[];
  warnings?: {
    code: string;
    message: string;
    param?: string;
  }[];
  /** Where `include[]=logprobs` was asked for and the model gives them. */
  logprobs?: {
    token: string;
    bytes?: number[];
    logprob: number;
  }[];
}

/** A stretch of a transcription with its speaker; times in seconds. */
export interface DiarizedSegment {
  type: 'transcript.text.segment';
  id: string;
  start: number;
  end: number;
  text: string;
  /** Only with a speech gate (`speech_gate`): no voice was found in the audio of the segment, so the model invented it. */
  no_speech?: true;
  /** `A`, `B` and so on, in the order of first appearance; `unknown` where the model told none. */
  speaker: string;
}

/** The answer in the format `diarized_json`. */
export interface DiarizedTranscription {
  text: string;
  task: 'transcribe';
  /** Seconds of audio. */
  duration: number;
  segments: DiarizedSegment[];
  /** Only with a speech gate (`speech_gate`): no voice was found in the audio of any of the text, so the model invented it. With `speech_gate=drop`, `text` is empty. */
  no_speech?: true;
  /** How often the gateway has redacted each class; absent if it has redacted nothing. */
  redactions?: Record<string, number>;
  usage: {
    type: 'duration';
    /** Seconds that are charged: those of the file, times its channels where the provider bills each of them. */
    seconds: number;
  };
  warnings?: {
    code: string;
    message: string;
    param?: string;
  }[];
}

/** A further piece of a streamed transcription’s text. */
export interface TranscriptDelta {
  type: 'transcript.text.delta';
  delta: string;
  /** Only with a speech gate (`speech_gate`): no voice was found in the audio of the delta, so the model invented it. */
  no_speech?: true;
  /** With `diarization`: the segment that it belongs to. */
  segment_id?: string;
}

/** A segment of a streamed transcription with its speaker. */
export interface TranscriptSegment {
  type: 'transcript.text.segment';
  id: string;
  start: number;
  end: number;
  text: string;
  /** Only with a speech gate (`speech_gate`): no voice was found in the audio of the segment, so the model invented it. */
  no_speech?: true;
  /** From 0 in the order of first appearance; with `response_format=diarized_json` `A`, `B` and so on, or `unknown`. */
  speaker: number | string;
}

/** The end of a streamed transcription. */
export interface TranscriptDone {
  type: 'transcript.text.done';
  text: string;
  /** Only with a speech gate (`speech_gate`): no voice was found in the audio of any of the text, so the model invented it. With `speech_gate=drop`, `text` is empty. */
  no_speech?: true;
  /** How often the gateway has redacted each class; absent if it has redacted nothing. */
  redactions?: Record<string, number>;
  /** Where `include[]=logprobs` was asked for and the model gives them. */
  logprobs?: {
    token: string;
    bytes?: number[];
    logprob: number;
  }[];
  usage: {
    type: 'duration';
    /** Seconds that are charged: those of the file, times its channels where the provider bills each of them. */
    seconds: number;
  };
  warnings?: {
    code: string;
    message: string;
    param?: string;
  }[];
}

/** What a streamed transcription is told in. */
export type TranscriptionEvent = TranscriptDelta | TranscriptSegment | TranscriptDone;

/** How far a job is. */
export type JobStatus = 'queued' | 'processing' | 'completed' | 'failed' | 'cancelled';

/** A file that is transcribed in the background. */
export interface Job {
  object: 'job';
  id: string;
  status: JobStatus;
  /** As the request named it: a slug, an alias or `auto`. Of a completed job with `auto`, the model that transcribed it. */
  model: string;
  file: {
    name: string;
    /** Null where the audio is at an address. */
    bytes: number | null;
  };
  /** The address of the audio, without its query. */
  audio_url?: string;
  /** The address that the end of the job is posted to, without its query. */
  webhook_url?: string;
  /** What the server at `webhook_url` answered to the last post. Null before that, and without an answer. Not in lists and webhooks. */
  webhook_status?: number | null;
  /** Tags of the request and its API key. Absent without any. */
  tags?: Record<string, string>;
  /** The format of the result where its request names none. */
  response_format: ResponseFormat;
  /** How often it was begun: more than once if its node was restarted meanwhile. */
  attempts: number;
  /** Of a file that is being transcribed in parts, but not in lists. */
  progress?: {
    /** Parts that have their transcript. */
    done: number;
    /** All parts; an estimate until all of the file was cut. */
    parts: number;
  };
  /** When it was accepted. */
  created_at: string;
  ended_at: string | null;
  expires_at: string | null;
  /** Of a completed job, but not in lists. */
  result?: VerboseTranscription;
  /** Of a job that failed or was cancelled. */
  error?: {
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
}

/** A page of jobs, newest first. */
export interface JobList {
  object: 'list';
  data: Job[];
  has_more: boolean;
  /** `before` of what follows; null at the end. */
  next: string | null;
}
