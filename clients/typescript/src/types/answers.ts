// What the gateway answers, as plain types. Generated from src/api by `npx tsx scripts/generate.ts client-types`.

/** The closed set of `error.type`. */
export type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'billing_error'
  | 'permission_error'
  | 'rate_limit_error'
  | 'upstream_error'
  | 'server_error';

/** Every `error.code` of this version; later ones may have more. */
export type ErrorCode =
  | 'invalid_request'
  | 'invalid_provider_params'
  | 'missing_file'
  | 'duplicate_parameter'
  | 'unsupported_audio'
  | 'audio_url_not_allowed'
  | 'audio_url_failed'
  | 'missing_credential'
  | 'invalid_api_key'
  | 'invalid_token'
  | 'token_expired'
  | 'token_used'
  | 'key_revoked'
  | 'key_expired'
  | 'invalid_login'
  | 'login_required'
  | 'insufficient_credit'
  | 'max_cost_reached'
  | 'token_not_allowed'
  | 'scope_not_allowed'
  | 'model_not_allowed'
  | 'language_not_allowed'
  | 'region_not_allowed'
  | 'retention_not_allowed'
  | 'origin_not_allowed'
  | 'account_suspended'
  | 'email_not_verified'
  | 'role_not_allowed'
  | 'operator_only'
  | 'password_required'
  | 'cross_site_request'
  | 'invalid_link'
  | 'model_not_found'
  | 'not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'session_idle'
  | 'session_too_long'
  | 'idempotency_conflict'
  | 'job_not_over'
  | 'job_cancelled'
  | 'last_owner'
  | 'file_too_large'
  | 'audio_too_long'
  | 'uri_too_long'
  | 'unsupported_media_type'
  | 'unsupported_parameter'
  | 'upstream_not_configured'
  | 'model_not_priced'
  | 'redaction_unavailable'
  | 'no_model_available'
  | 'message_too_big'
  | 'audio_backlog_exceeded'
  | 'slow_consumer'
  | 'rate_limit_exceeded'
  | 'spend_ceiling_reached'
  | 'too_many_sessions'
  | 'upstream_failed'
  | 'upstream_exhausted'
  | 'upstream_bad_response'
  | 'overloaded'
  | 'ledger_unavailable'
  | 'upstream_account'
  | 'upstream_timeout'
  | 'node_draining'
  | 'internal_error';

/** How audio of a live session is written; always mono, little-endian. */
export type Encoding = 'linear16' | 'mulaw' | 'alaw' | 'opus' | 'ogg-opus' | 'webm-opus' | 'auto';

/** The form of a transcription. */
export type ResponseFormat = 'json' | 'text' | 'verbose_json' | 'srt' | 'vtt' | 'diarized_json';

/** How a model is used: with files, or live. */
export type Mode = 'batch' | 'live';

/** A word with its times in seconds. */
export interface Word {
  word: string;
  /** Seconds from the beginning of the audio. */
  start: number;
  /** Seconds from the beginning of the audio. */
  end: number;
  /** From 0 to 1; absent if the provider does not report it. */
  confidence?: number;
  /** Numbered from 0 in the order of first appearance. The same person has one number up to the next `speakers_restarted`. */
  speaker?: number;
  /** Only in transcripts of files: a word of text for audio without speech. */
  no_speech?: true;
}

/** A member of the request that a model is not asked as it stands. */
export interface AskedOtherwise {
  /** Its name. */
  param: string;
  /** A message for people. It may change. */
  message: string;
}

/** What a model is asked of what was asked for. */
export interface AskedOfModel {
  /** Slug `<provider>/<model>`. */
  model: string;
  /** Applied as requested, under the provider’s own name. */
  honoured: string[];
  /** Applied in another way or in part. The message says how. */
  mapped: AskedOtherwise[];
  /** Not sent to the model. */
  dropped: AskedOtherwise[];
  /** Who redacts what. Absent if nothing is redacted. */
  redaction?: {
    /** Kinds that the model redacts. */
    by_model: string[];
    /** Classes that the gateway redacts in its text. */
    by_gateway: (
      | 'pii'
      | 'pci'
      | 'phi'
      | 'numbers'
      | 'card'
      | 'iban'
      | 'phone'
      | 'email'
      | 'national_id'
      | 'date_of_birth'
      | 'name'
      | 'address'
    )[];
  };
}

/** What one model heard, and what that costs. */
export interface UsageRow {
  /** Slug `<provider>/<model>`. */
  model: string;
  /** Seconds of audio. Each second counts once, at the model that produced its final. */
  seconds: number;
  /** Seconds that connections to the model were open, if its price is metered by them. The larger of both values is billed. */
  connection_seconds?: number;
  /** USD, decimal. */
  cost_usd: string;
  /** Whether it ran on your own provider key and was free here. */
  byok: boolean;
}

/** What a model costs in a mode. */
export interface Price {
  /** Per minute of audio, counted in milliseconds; or once for each session. */
  unit: 'minute' | 'session';
  /** USD for each unit, decimal. */
  amount: string;
  /** USD, decimal: the least that is charged once anything was heard; where add-ons are asked for, more by the same part. */
  minimum?: string;
  /** Where present, minutes are those that the connection to the provider is open, or of the audio where that is more. It is let go of while you send no audio. */
  metered?: 'connection';
  /** What costs more where it is asked for; each is charged once for each minute. */
  add_ons?: {
    /** What it is, for people. */
    name: string;
    /** USD for each minute beside the price, decimal. */
    amount: string;
    /** What of a request asks for it, any of them: `diarization`, a member with a value as `language=auto`, or `provider_params.<name>`. */
    asked_by: string[];
  }[];
  /** USD that is billed where your own provider key is used. */
  byok: '0.00';
  /** True where the price is zero on purpose. */
  free?: boolean;
}

/** A model of the catalogue. */
export interface Model {
  /** Slug `<provider>/<model>`, or an alias of the caller’s. */
  id: string;
  object: 'model';
  /** Epoch seconds. */
  created: number;
  /** The provider; `alias` of an alias, which is shown as its first model is. */
  owned_by: string;
  /** For people. */
  name: string;
  /** A short description. */
  description: string;
  modes: Mode[];
  /** Of models with a live mode. `gateway`: the model hears files only; the gateway cuts the audio at silences, and each utterance is one turn, with a final and no interim results. */
  live_turns?: 'model' | 'gateway';
  /** BCP-47, or ["*"]. */
  languages: string[];
  /** What a model can do. */
  capabilities: {
    /** Tells speakers apart. */
    diarization: boolean;
    /** Tells the times of words. */
    word_timestamps: boolean;
    /** False where a file is answered with its text alone, without any times. True when absent. */
    segment_timestamps?: boolean;
    /** Shows text while a turn goes on. */
    interim_results: boolean;
    /** Writes punctuation, casing and digits. */
    formatting: boolean;
    /** Can take personal data out. */
    redaction: boolean;
    /** Finds out which language is spoken. */
    language_detection: boolean;
  };
  /** Where its audio is processed, and what is kept of it. */
  processing: {
    /** Where audio is processed. `europe`: in the European Economic Area or Switzerland; `self`: on a machine of whoever runs the gateway; `global`: anywhere. */
    region:
      | 'us'
      | 'ca'
      | 'br'
      | 'eu'
      | 'europe'
      | 'uk'
      | 'ch'
      | 'no'
      | 'in'
      | 'jp'
      | 'kr'
      | 'sg'
      | 'au'
      | 'za'
      | 'ae'
      | 'self'
      | 'global'
      | 'unknown';
    /** The provider’s own names for its endpoints there, as the field `region` of a provider key has them. Absent: where audio goes without such a name. */
    endpoints?: string[];
    /** Absent: all modes of the model. */
    modes?: Mode[];
    /** What the provider keeps of audio and text once the answer is given. `kept`: for a time, or for its own use. */
    retention: 'none' | 'kept' | 'unknown';
    /** Members of `provider_params` without which it is not so; the gateway sets them where a rule needs them. */
    params?: Record<string, unknown>;
    /** Only for accounts that have agreed so with the provider. */
    agreement?: true;
    source: {
      /** Where the provider says so. */
      url: string;
      /** When that was read. */
      date: string;
    };
  }[];
  audio: {
    /** Hertz that it is sent; other rates are resampled. */
    sample_rates: number[];
    /** What it is sent; the gateway converts. */
    encodings: string[];
    /** Largest file, or null. */
    max_file_bytes: number | null;
    /** Longest audio, or null. */
    max_seconds: number | null;
    /** Kinds of files that it takes, by their usual extension: others are refused before they are sent. Absent where the provider does not list them. */
    file_formats?: (
      | 'wav'
      | 'mp3'
      | 'flac'
      | 'ogg'
      | 'webm'
      | 'm4a'
      | 'aac'
      | 'mp2'
      | 'aiff'
      | 'au'
      | 'caf'
      | 'w64'
      | 'rifx'
      | 'amr'
      | 'wma'
    )[];
  };
  pricing: {
    currency: 'USD';
    /** What a model costs in a mode. */
    batch?: Price;
    /** What a model costs in a mode. */
    live?: Price;
  };
  /** JSON Schema of `provider_params` for this model. */
  provider_params: unknown;
  /** A credential exists for the caller, its own or the service’s. */
  available: boolean;
  /** How it has been doing for your organisation: `down` models are skipped for a while. */
  status: 'up' | 'degraded' | 'down';
}

/** A client token: opens live sessions until it expires. */
export interface Token {
  /** Opens `/v1/listen`, and nothing else. */
  token: string;
  /** When it stops being accepted for a handshake: ISO 8601 UTC. */
  expires_at: string;
  /** Seconds from now to `expires_at`. */
  ttl_seconds: number;
}

/** What an organisation has used. */
export interface Usage {
  object: 'list';
  /** ISO 8601 UTC. */
  from: string;
  /** ISO 8601 UTC. */
  to: string;
  group_by: 'model' | 'provider' | 'day' | 'key' | string;
  data: {
    /** A slug, a provider, a day, the id of a key, or the value of a tag; null without this tag. */
    group: string | null;
    /** Whether it ran on your own provider keys. */
    byok: boolean;
    /** Live sessions and files; one that several models heard counts at each. */
    sessions: number;
    /** Seconds of audio. */
    audio_seconds: number;
    /** Seconds that connections to the model were open, if its price is metered by them. The larger of both values is billed. */
    connection_seconds?: number;
    /** USD, decimal. */
    cost_usd: string;
    /** With your own provider keys, where there are spend ceilings: what counts under them, in USD. It is not charged. */
    counted_usd?: string;
  }[];
  total: {
    /** Seconds of audio. */
    audio_seconds: number;
    /** USD, decimal. */
    cost_usd: string;
    /** How often the gateway has redacted each class, in sessions and files that have ended; absent if it has redacted nothing. */
    redactions?: Record<string, number>;
  };
}

/** What an organisation has left. */
export interface Balance {
  object: 'balance';
  currency: 'USD';
  /** What there is: USD, decimal. */
  balance_usd: string;
  /** Set aside for work under way: USD, decimal. */
  held_usd: string;
  /** Left to spend: USD, decimal; null without a limit. */
  available_usd: string | null;
  /** How far below zero the balance may go: USD, decimal; null without a limit. */
  credit_limit_usd: string | null;
}
