"""What calls are made with: the options by name, their checks, and how the gateway reads them."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from .errors import invalid_option
from .types.answers import Encoding


class FallbackModel(TypedDict, total=False):
    """A fallback with options of its provider."""

    model: str
    provider_params: Mapping[str, Any]
    credential: Literal["own", "service"]


# A model to go on with when those before it fail: its slug, or the slug with options.
Fallback = str | FallbackModel

# Classes that the gateway finds itself, with any model, and kinds that providers find; True is personal data.
Redaction = Literal[
    "card", "iban", "phone", "email", "national_id", "date_of_birth", "name", "address", "pii", "pci", "phi", "numbers"
]
Redact = bool | Sequence[Redaction]


class VocabularyOptions(TypedDict, total=False):
    """What is asked of all models in the same words: the gateway maps it for each of them."""

    languages: Sequence[str]
    """BCP-47 tags of languages that may be spoken, the likeliest first."""
    prompt: str
    """Text in the style, or with the words, that are expected."""
    keyterms: Sequence[str]
    """Names and terms that may come up, at most 100; the ones that matter most first."""
    redact: Redact
    """What is blacked out; True for personal data."""
    vocabulary_boost: float
    """How much likelier `keyterms` are made, from 0 to 1, where a model can be told."""
    replace: Sequence[str | Mapping[str, str]]
    """Replacement rules for words and phrases, with any model: at most 200 rules, each `from:to` or an object with
    `from`, `to` and, where wanted, `match` (`word` or `literal`) and `language`. Times of words follow."""


class ModelOptions(VocabularyOptions, total=False):
    """What files and live sessions have in common."""

    fallbacks: Sequence[Fallback]
    """Models to go on with when one fails, at most 8; `auto` adds two that the gateway chooses."""
    prefer: Literal["reliability", "latency", "price", "accuracy"]
    """What `model="auto"` and `fallbacks=["auto"]` are chosen by; `reliability` when absent."""
    price: Literal["never_dearer", "cheapest"]
    """What prices decide: a fallback dearer than the first model is left out, or the cheapest model comes first."""
    language: str
    """BCP-47; live also `auto`."""
    diarization: bool
    """Tells speakers apart: integers from 0 in the order of first appearance."""
    provider_params: Mapping[str, Any]
    """Options of the model's provider."""
    speech_gate: Literal["off", "mark", "drop"]
    """What happens to text for audio without a voice: `mark` sets `no_speech`, `drop` leaves the text out. `mark` for
    Whisper models and `off` for all others when absent."""
    max_cost: str | float
    """The most that the session or file may be charged, in USD: the session ends, or the file is refused, with
    `max_cost_reached`."""
    max_seconds: int
    """The longest duration of a live session, in seconds; a longer file is refused."""
    strict: bool
    """Refuses what the model cannot do instead of warning of it."""
    tags: Mapping[str, str]
    """Up to ten pairs, by which usage is added up: `{"customer": "acme"}`. Tags of the API key and the client token are added,
    and cannot be changed."""


@dataclass(frozen=True, slots=True)
class AnswerInfo:
    """What came beside an answer."""

    status: int
    request_id: str | None
    """Quote it when you ask about a failure."""
    warnings: tuple[str, ...]
    """Codes of what was not done as asked."""
    attempts: int
    """How often it was sent."""
    headers: Mapping[str, str]
    """Names in lower case."""


class CallOptions(TypedDict, total=False):
    """Of every call over HTTP."""

    timeout: float
    """Seconds without a byte of the gateway, from 0.001 to 3,600; those of the client when absent."""
    retries_max: int
    """How often it is sent again where it failed, from 0 to 10; that of the client when absent."""
    on_answer: Callable[[AnswerInfo], None]
    """Told what came beside the answer, before the call returns."""


class TokenOptions(CallOptions, total=False):
    """Of `tokens.create`."""

    models: Sequence[str]
    """Models that the token may use, such as `deepgram/*`; those of the key when absent."""
    max_seconds: int
    """The longest duration of each session, and of a file."""
    max_cost: str | float
    """The most that each session or file may be charged, in USD."""
    languages: Sequence[str]
    """BCP-47 tags; the request then has to name its `language`."""
    single_use: bool
    """True: the token opens one session or uploads one file."""
    tags: Mapping[str, str]
    """Tags of all that is done with the token, which its holder cannot change."""
    replace: Sequence[str | Mapping[str, str]]
    """Replacement rules of all that is done with the token: `from:to` or objects. They come after those of the request."""


class TranscribeOptions(ModelOptions, CallOptions, total=False):
    """Of `transcribe`."""

    audio_url: str
    """In the place of a file, where the gateway fetches the audio: `https://…`, or `s3://bucket/key` where the operator allows
    it."""
    file_name: str
    """Seen by the gateway only; the file's own, or `audio`, when absent."""
    content_type: str
    """`audio/l16;rate=16000` for headerless samples; containers are recognised by themselves."""
    temperature: float
    timestamp_granularities: Sequence[Literal["word", "segment"]]
    idempotency_key: str
    """Two requests with the same key are one, and charged once. A random one when absent; retries have the same."""


class JobOptions(TranscribeOptions, total=False):
    """Of `jobs.create`."""

    retention_seconds: int
    """How long the job can be fetched after its end, up to 30 days; 24 hours when absent."""
    webhook_url: str
    """Receives `job.completed` or `job.failed` of this job."""
    webhook_secret: str
    """Signs what is posted there: `whsec_` and the base64 of 24 to 64 random bytes. Posts are unsigned when absent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconnect:
    """How a connection that breaks is replaced."""

    attempts_max: int = 200
    """Attempts without progress: from 0 to 1,000. As many as usual let the time decide."""
    total_seconds: float = 120
    """Time without progress, from 0 to 3,600: usually longer than a node takes to drain."""
    replay_seconds_max: float = 60
    """Audio that is kept to be sent again, from 0 to 600. `send` and `pipe` wait before more than that is without its final;
    where none comes, as in a long silence, they go on at the pace of speech. 0: nothing is kept."""

    def __post_init__(self) -> None:
        number_of("reconnect.attempts_max", self.attempts_max, 0, 1_000, whole=True)
        number_of("reconnect.total_seconds", self.total_seconds, 0, 3_600)
        number_of("reconnect.replay_seconds_max", self.replay_seconds_max, 0, 600)


class ListenOptions(ModelOptions, total=False):
    """Of `listen`."""

    sample_rate: int
    """Hertz of the audio that you send: 8,000 to 48,000; 16,000 when absent. The gateway resamples."""
    encoding: Encoding
    """`linear16` when absent: 16-bit samples, little-endian, one channel."""
    interim_results: bool
    """False: finals only."""
    turn_events: bool
    """True: `speech_started` before each turn, `turn_eager_end` and `turn_resumed` where the model tells them, `turn_ended`
    behind each final."""
    return_to_primary: bool
    """True: after a failover, the session returns to its first model once that works again."""
    standby: bool
    """True: the first fallback stays connected, where its provider neither bills nor ends a connection without audio."""
    suspend_seconds: float
    """Seconds without audio after which the gateway lets go of the provider's connection: 1 to 3,600; 20 when absent."""
    latency: Literal["low", "balanced", "throughput"]
    """How long audio may be gathered before the gateway sends it on: `balanced` when absent."""
    reconnect: Reconnect | Literal[False]
    """How a connection that breaks is replaced; False: not at all."""
    connect_timeout: float
    """Seconds from dialling to the open session: 0.1 to 120; 10 when absent."""
    events_max: int
    """Events that may wait to be read: 16 to 100,000; 1,024 when absent. More end the session with `event_queue_full`."""


class ConfigureOptions(TypedDict, total=False):
    """Of `configure`, with the meaning that they have for `listen`: None takes an option back, and what is absent stays."""

    model: str
    """Slug `<provider>/<model>`. Another model begins without `provider_params`."""
    fallbacks: Sequence[Fallback] | None
    prefer: Literal["reliability", "latency", "price", "accuracy"] | None
    price: Literal["never_dearer", "cheapest"] | None
    provider_params: Mapping[str, Any] | None
    return_to_primary: bool | None
    standby: bool | None
    language: str | None
    languages: Sequence[str] | None
    prompt: str | None
    keyterms: Sequence[str] | None
    redact: Redact | None
    vocabulary_boost: float | None
    replace: Sequence[str | Mapping[str, str]] | None


def refuse_unknown(what: str, options: Mapping[str, Any], *known: type) -> None:
    """A mistyped option is never silent."""
    names = [name for each in known for name in each.__annotations__]
    unknown = next((name for name in options if name not in names), None)
    if unknown is not None:
        raise invalid_option(unknown, f"`{unknown}` is not an option of {what}; known are {', '.join(names)}.")


def number_of(name: str, value: Any, least: float, most: float, *, whole: bool = False) -> Any:
    """The number, where it is one within its bounds."""
    is_number = isinstance(value, int) or (isinstance(value, float) and not whole)
    if is_number and not isinstance(value, bool) and least <= value <= most:
        return value
    kind = "an integer" if whole else "a number"
    raise invalid_option(name, f"`{name}` is {value}; it is {kind} from {least:,} to {most:,}.")


def slug_of(model: Any) -> str:
    if isinstance(model, str) and model:
        return model
    raise invalid_option("model", "`model` is missing: a slug `<provider>/<model>`.")


def texts_of(options: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The options that were given, as a query or a form has them: lists and objects as text."""
    return {name: _text_of(name, options[name]) for name in names if options.get(name) is not None}


def _text_of(name: str, value: Any) -> Any:
    if name == "fallbacks" and all(isinstance(each, str) for each in value):
        return ",".join(value)
    if isinstance(value, (str, bool, int, float)):
        return value
    return json.dumps(value if isinstance(value, Mapping) else list(value))


def written(value: Any) -> str:
    """A value in a query or a form."""
    return str(value).lower() if isinstance(value, bool) else str(value)


# The options that models are asked for, in the gateway's own names.
MODEL_NAMES = (*ModelOptions.__annotations__,)
