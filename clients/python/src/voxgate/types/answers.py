"""What the gateway answers. Generated from src/api by `npx tsx scripts/generate.ts python-types`."""

from dataclasses import dataclass
from typing import Any, Literal

__all__ = [
    "ErrorType",
    "ErrorCode",
    "Encoding",
    "ResponseFormat",
    "Mode",
    "Word",
    "AskedOtherwise",
    "AskedOfModelRedaction",
    "AskedOfModel",
    "UsageRow",
    "PriceAddOn",
    "Price",
    "ModelCapabilities",
    "ModelProcessingSource",
    "ModelProcessing",
    "ModelAudio",
    "ModelPricing",
    "Model",
    "Token",
    "UsageData",
    "UsageTotal",
    "Usage",
    "Balance",
]


# The closed set of `error.type`.
ErrorType = Literal[
        "invalid_request_error",
        "authentication_error",
        "billing_error",
        "permission_error",
        "rate_limit_error",
        "upstream_error",
        "server_error",
    ]


# Every `error.code` of this version; later ones may have more.
ErrorCode = Literal[
        "invalid_request",
        "invalid_provider_params",
        "missing_file",
        "duplicate_parameter",
        "unsupported_audio",
        "audio_url_not_allowed",
        "audio_url_failed",
        "missing_credential",
        "invalid_api_key",
        "invalid_token",
        "token_expired",
        "token_used",
        "key_revoked",
        "key_expired",
        "invalid_login",
        "login_required",
        "insufficient_credit",
        "max_cost_reached",
        "token_not_allowed",
        "scope_not_allowed",
        "model_not_allowed",
        "language_not_allowed",
        "region_not_allowed",
        "retention_not_allowed",
        "origin_not_allowed",
        "account_suspended",
        "email_not_verified",
        "role_not_allowed",
        "operator_only",
        "password_required",
        "cross_site_request",
        "invalid_link",
        "model_not_found",
        "not_found",
        "method_not_allowed",
        "request_timeout",
        "session_idle",
        "session_too_long",
        "idempotency_conflict",
        "job_not_over",
        "job_cancelled",
        "last_owner",
        "file_too_large",
        "audio_too_long",
        "uri_too_long",
        "unsupported_media_type",
        "unsupported_parameter",
        "upstream_not_configured",
        "model_not_priced",
        "redaction_unavailable",
        "no_model_available",
        "message_too_big",
        "audio_backlog_exceeded",
        "slow_consumer",
        "rate_limit_exceeded",
        "spend_ceiling_reached",
        "too_many_sessions",
        "upstream_failed",
        "upstream_exhausted",
        "upstream_bad_response",
        "overloaded",
        "ledger_unavailable",
        "upstream_account",
        "upstream_timeout",
        "node_draining",
        "internal_error",
    ]


# How audio of a live session is written; always mono, little-endian.
Encoding = Literal[
        "linear16",
        "mulaw",
        "alaw",
        "opus",
        "ogg-opus",
        "webm-opus",
        "auto",
    ]


# The form of a transcription.
ResponseFormat = Literal[
        "json",
        "text",
        "verbose_json",
        "srt",
        "vtt",
        "diarized_json",
    ]


# How a model is used: with files, or live.
Mode = Literal["batch", "live"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A word with its times in seconds."""

    word: str
    start: float
    """Seconds from the beginning of the audio."""
    end: float
    """Seconds from the beginning of the audio."""
    confidence: float | None = None
    """From 0 to 1; absent if the provider does not report it."""
    speaker: int | None = None
    """Numbered from 0 in the order of first appearance. The same person has one number up to the next
    `speakers_restarted`."""
    no_speech: Literal[True] | None = None
    """Only in transcripts of files: a word of text for audio without speech."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedOtherwise:
    """A member of the request that a model is not asked as it stands."""

    param: str
    """Its name."""
    message: str
    """A message for people. It may change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedOfModelRedaction:
    """Who redacts what. Absent if nothing is redacted."""

    by_model: list[str]
    """Kinds that the model redacts."""
    by_gateway: list[Literal[
        "pii",
        "pci",
        "phi",
        "numbers",
        "card",
        "iban",
        "phone",
        "email",
        "national_id",
        "date_of_birth",
        "name",
        "address",
    ]]
    """Classes that the gateway redacts in its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedOfModel:
    """What a model is asked of what was asked for."""

    model: str
    """Slug `<provider>/<model>`."""
    honoured: list[str]
    """Applied as requested, under the provider’s own name."""
    mapped: list[AskedOtherwise]
    """Applied in another way or in part. The message says how."""
    dropped: list[AskedOtherwise]
    """Not sent to the model."""
    redaction: AskedOfModelRedaction | None = None
    """Who redacts what. Absent if nothing is redacted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageRow:
    """What one model heard, and what that costs."""

    model: str
    """Slug `<provider>/<model>`."""
    seconds: float
    """Seconds of audio. Each second counts once, at the model that produced its final."""
    connection_seconds: float | None = None
    """Seconds that connections to the model were open, if its price is metered by them. The larger of both values is
    billed."""
    cost_usd: str
    """USD, decimal."""
    byok: bool
    """Whether it ran on your own provider key and was free here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceAddOn:
    """A part of PriceAdd."""

    name: str
    """What it is, for people."""
    amount: str
    """USD for each minute beside the price, decimal."""
    asked_by: list[str]
    """What of a request asks for it, any of them: `diarization`, a member with a value as `language=auto`, or
    `provider_params.<name>`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a model costs in a mode."""

    unit: Literal["minute", "session"]
    """Per minute of audio, counted in milliseconds; or once for each session."""
    amount: str
    """USD for each unit, decimal."""
    minimum: str | None = None
    """USD, decimal: the least that is charged once anything was heard; where add-ons are asked for, more by the same
    part."""
    metered: Literal["connection"] | None = None
    """Where present, minutes are those that the connection to the provider is open, or of the audio where that is
    more. It is let go of while you send no audio."""
    add_ons: list[PriceAddOn] | None = None
    """What costs more where it is asked for; each is charged once for each minute."""
    byok: Literal["0.00"] = "0.00"
    """USD that is billed where your own provider key is used."""
    free: bool | None = None
    """True where the price is zero on purpose."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCapabilities:
    """What a model can do."""

    diarization: bool
    """Tells speakers apart."""
    word_timestamps: bool
    """Tells the times of words."""
    segment_timestamps: bool | None = None
    """False where a file is answered with its text alone, without any times. True when absent."""
    interim_results: bool
    """Shows text while a turn goes on."""
    formatting: bool
    """Writes punctuation, casing and digits."""
    redaction: bool
    """Can take personal data out."""
    language_detection: bool
    """Finds out which language is spoken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelProcessingSource:
    """A part of ModelProcessing."""

    url: str
    """Where the provider says so."""
    date: str
    """When that was read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelProcessing:
    """Where audio is processed, and what is kept of it, by endpoint."""

    region: Literal[
        "us",
        "ca",
        "br",
        "eu",
        "europe",
        "uk",
        "ch",
        "no",
        "in",
        "jp",
        "kr",
        "sg",
        "au",
        "za",
        "ae",
        "self",
        "global",
        "unknown",
    ]
    """Where audio is processed. `europe`: in the European Economic Area or Switzerland; `self`: on a machine of
    whoever runs the gateway; `global`: anywhere."""
    endpoints: list[str] | None = None
    """The provider’s own names for its endpoints there, as the field `region` of a provider key has them. Absent:
    where audio goes without such a name."""
    modes: list[Mode] | None = None
    """Absent: all modes of the model."""
    retention: Literal["none", "kept", "unknown"]
    """What the provider keeps of audio and text once the answer is given. `kept`: for a time, or for its own use."""
    params: dict[str, Any] | None = None
    """Members of `provider_params` without which it is not so; the gateway sets them where a rule needs them."""
    agreement: Literal[True] | None = None
    """Only for accounts that have agreed so with the provider."""
    source: ModelProcessingSource


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAudio:
    """A part of Model."""

    sample_rates: list[int]
    """Hertz that it is sent; other rates are resampled."""
    encodings: list[str]
    """What it is sent; the gateway converts."""
    max_file_bytes: int | None
    """Largest file, or null."""
    max_seconds: int | None
    """Longest audio, or null."""
    file_formats: list[Literal[
        "wav",
        "mp3",
        "flac",
        "ogg",
        "webm",
        "m4a",
        "aac",
        "mp2",
        "aiff",
        "au",
        "caf",
        "w64",
        "rifx",
        "amr",
        "wma",
    ]] | None = None
    """Kinds of files that it takes, by their usual extension: others are refused before they are sent. Absent where
    the provider does not list them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPricing:
    """A part of Model."""

    currency: Literal["USD"] = "USD"
    batch: Price | None = None
    """What a model costs in a mode."""
    live: Price | None = None
    """What a model costs in a mode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A model of the catalogue."""

    id: str
    """Slug `<provider>/<model>`, or an alias of the caller’s."""
    object: Literal["model"] = "model"
    created: int
    """Epoch seconds."""
    owned_by: str
    """The provider; `alias` of an alias, which is shown as its first model is."""
    name: str
    """For people."""
    description: str
    """A short description."""
    modes: list[Mode]
    live_turns: Literal["model", "gateway"] | None = None
    """Of models with a live mode. `gateway`: the model hears files only; the gateway cuts the audio at silences, and
    each utterance is one turn, with a final and no interim results."""
    languages: list[str]
    """BCP-47, or ["*"]."""
    capabilities: ModelCapabilities
    """What a model can do."""
    processing: list[ModelProcessing]
    """Where its audio is processed, and what is kept of it."""
    audio: ModelAudio
    pricing: ModelPricing
    provider_params: Any
    """JSON Schema of `provider_params` for this model."""
    available: bool
    """A credential exists for the caller, its own or the service’s."""
    status: Literal["up", "degraded", "down"]
    """How it has been doing for your organisation: `down` models are skipped for a while."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A client token: opens live sessions until it expires."""

    token: str
    """Opens `/v1/listen`, and nothing else."""
    expires_at: str
    """When it stops being accepted for a handshake: ISO 8601 UTC."""
    ttl_seconds: int
    """Seconds from now to `expires_at`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageData:
    """A part of Usage."""

    group: str | None
    """A slug, a provider, a day, the id of a key, or the value of a tag; null without this tag."""
    byok: bool
    """Whether it ran on your own provider keys."""
    sessions: int
    """Live sessions and files; one that several models heard counts at each."""
    audio_seconds: float
    """Seconds of audio."""
    connection_seconds: float | None = None
    """Seconds that connections to the model were open, if its price is metered by them. The larger of both values is
    billed."""
    cost_usd: str
    """USD, decimal."""
    counted_usd: str | None = None
    """With your own provider keys, where there are spend ceilings: what counts under them, in USD. It is not
    charged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageTotal:
    """A part of Usage."""

    audio_seconds: float
    """Seconds of audio."""
    cost_usd: str
    """USD, decimal."""
    redactions: dict[str, int] | None = None
    """How often the gateway has redacted each class, in sessions and files that have ended; absent if it has redacted
    nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What an organisation has used."""

    object: Literal["list"] = "list"
    from_: str
    """ISO 8601 UTC."""
    to: str
    """ISO 8601 UTC."""
    group_by: Literal["model"] | Literal["provider"] | Literal["day"] | Literal["key"] | str
    data: list[UsageData]
    total: UsageTotal


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """What an organisation has left."""

    object: Literal["balance"] = "balance"
    currency: Literal["USD"] = "USD"
    balance_usd: str
    """What there is: USD, decimal."""
    held_usd: str
    """Set aside for work under way: USD, decimal."""
    available_usd: str | None
    """Left to spend: USD, decimal; null without a limit."""
    credit_limit_usd: str | None
    """How far below zero the balance may go: USD, decimal; null without a limit."""
