"""What the gateway says in a live session. Generated from src/api by `npx tsx scripts/generate.ts python-types`."""

from dataclasses import dataclass
from typing import Literal

from .answers import AskedOfModel, Encoding, ErrorCode, ErrorType, UsageRow, Word

__all__ = [
    "EventHead",
    "SessionStartedFallback",
    "SessionStartedChoiceAccuracy",
    "SessionStartedChoice",
    "SessionStartedContinues",
    "SessionStartedLimits",
    "SessionStarted",
    "SpeechStarted",
    "Transcript",
    "TurnEagerEnd",
    "TurnResumed",
    "TurnEnded",
    "SpeakersRestarted",
    "Failover",
    "Configured",
    "WarningEvent",
    "Discontinuity",
    "ErrorEventErrorDetail",
    "ErrorEventError",
    "ErrorEvent",
    "Received",
    "SessionResumedLimits",
    "SessionResumed",
    "SessionEnded",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventHead:
    """The members that every event has."""

    session_id: str
    """The session."""
    seq: int
    """Number of the event: increases by one, without gaps."""
    at: str
    """Time when it was sent: ISO 8601 UTC, with milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStartedFallback:
    """A part of SessionStarted."""

    model: str
    """Slug `<provider>/<model>`."""
    degrades: list[str]
    """Options that this fallback would lose, as values of `warning.code`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStartedChoiceAccuracy:
    """With `prefer=accuracy`: what the operator has measured in the language of the request; absent for a model
    without a measurement."""

    error_rate: float
    """Errors for each word or character."""
    unit: Literal["words", "characters"]
    units: int
    """Number of words or characters that were compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStartedChoice:
    """A part of SessionStarted."""

    model: str
    """Slug `<provider>/<model>`."""
    reason: str
    """Why it precedes the next candidate, for people. It may change."""
    price_per_minute: str | None = None
    """USD, decimal, with the requested add-ons; absent where the price is per session."""
    first_word_ms: float | None = None
    """Live: median time from the first audio of a turn until its first words."""
    answer_ms_per_second: float | None = None
    """Files: median time until the answer, for each second of audio."""
    error_rate: float | None = None
    """Share of attempts that failed or were empty, from 0 to 1; absent without attempts."""
    accuracy: SessionStartedChoiceAccuracy | None = None
    """With `prefer=accuracy`: what the operator has measured in the language of the request; absent for a model
    without a measurement."""
    measured: int
    """Number of attempts at it in the last six hours, on all nodes; 1000 stands for 1000 or more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStartedContinues:
    """Present if the session named by `resume` is gone: this session is new."""

    session_id: str
    """The session that is gone."""
    from_bytes: int | None = None
    """The same position in bytes of audio; absent for Opus."""
    from_seconds: float
    """The end of the last final that you reported. Send the audio from there. Times of this session start at zero
    again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStartedLimits:
    """A part of SessionStarted."""

    idle_seconds: float
    """The session ends after this time without audio or keepalive."""
    suspend_seconds: float
    """The gateway closes the connection to the provider after this time without audio. The next audio opens a new
    one."""
    session_seconds: float
    """Longest duration of the session."""
    binary_frame_bytes: int
    """Largest binary frame."""
    text_frame_bytes: int
    """Largest text frame."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStarted(EventHead):
    """The session is open."""

    type: Literal["session_started"] = "session_started"
    request_id: str
    """Quote it when you report a problem. Also in the header `X-Request-Id` of the handshake’s response."""
    model: str
    """Slug `<provider>/<model>`."""
    sample_rate: int
    """Sample rate of your audio, in hertz. For Opus, the rate after decoding."""
    encoding: Encoding
    """`linear16` (little-endian), `mulaw` and `alaw` are samples; several `channels` are interleaved. `opus` is one
    Opus packet in each binary message. `ogg-opus` is an Ogg stream with Opus, and `webm-opus` a WebM or Matroska
    stream, such as the output of a browser’s recorder. Send both from their beginning, cut into messages anywhere.
    `auto` is WebM or Ogg with Opus, or WAV, recognised by its first bytes. Two channels of these are mixed to one."""
    fallbacks: list[SessionStartedFallback]
    """The models to use when the first one fails, in order."""
    chain: list[AskedOfModel]
    """How the first model, and then each fallback, applies `language`, `languages`, `prompt`, `keyterms`,
    `diarization`, `redact` and `vocabulary_boost`, if the request has them."""
    choice: list[SessionStartedChoice] | None = None
    """The models that the gateway chose, in order. Absent without `auto`."""
    channels: int | None = None
    """Number of transcribed channels; absent if there is one."""
    channel_sessions: list[str] | None = None
    """The id of each channel in `GET /v1/sessions/{id}` and in the console, in order; the first is `session_id`.
    Absent if there is one channel."""
    resume_token: str | None
    """With `resume=on`: opens a socket that continues this session when the current one breaks. Otherwise null."""
    continues: SessionStartedContinues | None = None
    """Present if the session named by `resume` is gone: this session is new."""
    tags: dict[str, str] | None = None
    """Tags of the session: those of its request, client token and API key. Absent without any."""
    limits: SessionStartedLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechStarted(EventHead):
    """Speech was heard; `start` in seconds of session audio."""

    type: Literal["speech_started"] = "speech_started"
    channel: int | None = None
    """The number of the channel, from 0. Absent if the session has one channel, or if the event is about all of
    them."""
    start: float
    """Seconds from the beginning of the audio."""
    turn: int | None = None
    """With `turn_events=true`: number of the turn that will contain the words, if there are any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript(EventHead):
    """Text of a turn: any number of interims, then exactly one final."""

    type: Literal["transcript"] = "transcript"
    channel: int | None = None
    """The number of the channel, from 0. Absent if the session has one channel, or if the event is about all of
    them."""
    text: str
    """The text of the turn so far."""
    is_final: bool
    """True exactly once per turn: the text no longer changes."""
    turn: int
    """Number of the turn: from 0, without gaps, separately for each channel."""
    start: float
    """Seconds from the beginning of the audio."""
    end: float
    """Seconds from the beginning of the audio."""
    model: str
    """Slug of the model that transcribed it."""
    confidence: float | None = None
    """From 0 to 1; absent if the provider does not report it."""
    speaker: int | None = None
    """Numbered from 0 in the order of first appearance. The same person has one number up to the next
    `speakers_restarted`."""
    language: str | None = None
    """BCP-47, if the provider reports it."""
    words: list[Word] | None = None
    no_speech: Literal[True] | None = None
    """Only on finals, and only with a speech gate (`speech_gate`): the audio has no voice, so the model invented the
    text. With `speech_gate=drop`, `text` is empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEagerEnd(EventHead):
    """The turn may be over with these words: `turn_ended` or `turn_resumed` follows."""

    type: Literal["turn_eager_end"] = "turn_eager_end"
    channel: int | None = None
    """The number of the channel, from 0. Absent if the session has one channel, or if the event is about all of
    them."""
    turn: int
    """Number of the turn: from 0, without gaps, separately for each channel."""
    text: str
    """The text of the turn so far."""
    start: float
    """Seconds from the beginning of the audio."""
    end: float
    """Seconds from the beginning of the audio."""
    model: str
    """Slug `<provider>/<model>`."""
    end_of_turn_confidence: float | None = None
    """The provider’s confidence that the turn is over, from 0 to 1; absent if the provider does not report it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResumed(EventHead):
    """The turn was not over at its last `turn_eager_end`, or not with these words."""

    type: Literal["turn_resumed"] = "turn_resumed"
    channel: int | None = None
    """The number of the channel, from 0. Absent if the session has one channel, or if the event is about all of
    them."""
    turn: int
    """Number of the turn: from 0, without gaps, separately for each channel."""
    reason: str
    """`speech`: the speaker continues. `revised`: the final has other words. `reheard`: the connection was lost, and
    the turn is replayed or gets no final. Reasons may be added."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded(EventHead):
    """The turn is over: right behind its final."""

    type: Literal["turn_ended"] = "turn_ended"
    channel: int | None = None
    """The number of the channel, from 0. Absent if the session has one channel, or if the event is about all of
    them."""
    turn: int
    """Number of the turn: from 0, without gaps, separately for each channel."""
    start: float
    """Seconds from the beginning of the audio."""
    end: float
    """Seconds from the beginning of the audio."""
    end_of_turn_confidence: float | None = None
    """The provider’s confidence that the turn is over, from 0 to 1; absent if the provider does not report it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeakersRestarted(EventHead):
    """From there on the same people have new speaker numbers."""

    type: Literal["speakers_restarted"] = "speakers_restarted"
    channel: int | None = None
    """The number of the channel, from 0. Absent if the session has one channel, or if the event is about all of
    them."""
    start: float
    """Seconds from the beginning of the audio."""
    first_speaker: int
    """The lowest number from here on. Lower numbers were used before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failover(EventHead):
    """Another model goes on with the session; no word is lost or doubled."""

    type: Literal["failover"] = "failover"
    channel: int | None = None
    """The number of the channel, from 0. Absent if the session has one channel, or if the event is about all of
    them."""
    from_: str
    """Slug of the model that failed, or with `returned` and `spend_ceiling`, of the one before."""
    to: str
    """Slug of the model that continues."""
    reason: Literal[
        "upstream_closed",
        "upstream_error",
        "connect_failed",
        "connect_timeout",
        "stalled",
        "circuit_open",
        "streams_full",
        "empty_result",
        "returned",
        "spend_ceiling",
    ]
    replayed_seconds: float
    """Seconds of audio that are replayed. They are not billed twice."""
    attempt: int
    """Number of the attempt, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Configured(EventHead):
    """What was asked for in mid-session is in force."""

    type: Literal["configured"] = "configured"
    channel: int | None = None
    """The number of the channel, from 0. Absent if the session has one channel, or if the event is about all of
    them."""
    model: str
    """Slug `<provider>/<model>`."""
    fallbacks: list[str]
    """The models to use when it fails, in order."""
    chain: list[AskedOfModel]
    """How the first model, and then each fallback, applies `language`, `languages`, `prompt`, `keyterms`,
    `diarization`, `redact` and `vocabulary_boost`, if the request has them."""
    choice: list[SessionStartedChoice] | None = None
    """The models that the gateway chose, in order. Absent without `auto`."""
    from_: float
    """The position from which on the change applies, in seconds from the beginning of the audio."""
    replayed_seconds: float
    """Seconds of audio that are replayed. They are not billed twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WarningEvent(EventHead):
    """Something was not done as asked; the session goes on."""

    type: Literal["warning"] = "warning"
    channel: int | None = None
    """The number of the channel, from 0. Absent if the session has one channel, or if the event is about all of
    them."""
    code: str
    """For programs. Codes may be added."""
    message: str
    """A message for people. It may change."""
    param: str | None = None
    """Name of the parameter concerned."""
    reconnect_within_seconds: float | None = None
    """With `node_draining`: the session is closed with 4200 at the end of the turn, at the latest after this many
    seconds. Reconnect then: another node answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Discontinuity(EventHead):
    """Seconds of audio that no final will cover, and why."""

    type: Literal["discontinuity"] = "discontinuity"
    channel: int | None = None
    """The number of the channel, from 0. Absent if the session has one channel, or if the event is about all of
    them."""
    from_: float
    """Seconds from the beginning of the audio."""
    to: float
    """Seconds from the beginning of the audio."""
    reason: str
    """The reason, for programs. Reasons may be added."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorEventErrorDetail:
    """An attempt at a model without a result."""

    model: str
    """Slug of the model that was tried."""
    reason: str
    """The reason for the failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorEventError:
    """The reason for a refusal or a failure."""

    type: ErrorType
    """The family of the error."""
    code: ErrorCode
    """The reason, for programs. Codes may be added."""
    message: str
    """A message for people: what was wrong, what is accepted and what to do. It may change."""
    param: str | None
    """Name of the field at fault, or null."""
    request_id: str
    """Quote it when you report a problem. Also in the header `X-Request-Id`."""
    details: list[ErrorEventErrorDetail] | None = None
    """With `upstream_error`: every attempt, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorEvent(EventHead):
    """Something went wrong."""

    type: Literal["error"] = "error"
    channel: int | None = None
    """The number of the channel, from 0. Absent if the session has one channel, or if the event is about all of
    them."""
    error: ErrorEventError
    """The reason for a refusal or a failure."""
    fatal: Literal[False] | None = None
    """False if the session continues. Absent if this error ends it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Received(EventHead):
    """So much of the audio need not be sent again when the socket breaks."""

    type: Literal["received"] = "received"
    bytes: int
    """Bytes of audio accepted since the session began, on all of its sockets together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionResumedLimits:
    """A part of SessionResumed."""

    binary_frame_bytes: int
    """Largest binary frame on this socket. It may be smaller than at the start if this node is busy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionResumed(EventHead):
    """The session goes on with this socket: audio follows from there."""

    type: Literal["session_resumed"] = "session_resumed"
    received_bytes: int
    """Bytes of audio accepted since the session began, on all of its sockets together."""
    next_seq: int
    """Number of the event that follows."""
    limits: SessionResumedLimits | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnded(EventHead):
    """The last event: what was heard and what it costs."""

    type: Literal["session_ended"] = "session_ended"
    reason: Literal[
        "client_closed",
        "idle",
        "too_long",
        "credit",
        "ledger",
        "upstream",
        "draining",
        "error",
    ]
    audio_seconds: float
    """Seconds of audio received, per channel."""
    usage: list[UsageRow]
    """By model and price, of all channels together."""
    cost_usd: str
    """USD, decimal."""
    redactions: dict[str, int] | None = None
    """How often the gateway has redacted each class in finals; absent if it has redacted nothing."""
    dropped_bytes: int | None = None
    """Bytes that did not form a sample (a single last byte, a truncated packet); absent if there were none."""
