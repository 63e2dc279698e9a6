"""What the gateway says in a live session. Generated from src/api by `npx tsx scripts/generate.ts python-types`."""

from dataclasses import dataclass
from typing import Literal

from .answers import AskedOfModel, Encoding, ErrorCode, ErrorType, UsageRow, Word

__all__ = [
    "EventHead",
    "SessionStartedFallback",
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
    """Number of the event: rises by one, without gaps."""
    at: str
    """When it was sent: ISO 8601 UTC, with milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStartedFallback:
    """A part of SessionStarted."""

    model: str
    """Slug `<provider>/<model>`."""
    degrades: list[str]
    """What would be lost on this fallback, in the words of `warning.code`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStartedContinues:
    """Of a session that `resume` was to go on with, and that is gone: this one is new."""

    session_id: str
    """The session that is gone."""
    from_bytes: int | None = None
    """The same in bytes of audio; absent where it is Opus."""
    from_seconds: float
    """Where the last final ended that you said you have: send the audio from there. Times of this session begin at
    zero again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStartedLimits:
    """A part of SessionStarted."""

    idle_seconds: float
    """Without audio or keepalive for so long the session ends."""
    suspend_seconds: float
    """After so long without audio the connection to the provider is let go of; the next audio makes another."""
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
    """Quote it when you report a fault; also in the header `X-Request-Id` of the handshake’s answer."""
    model: str
    """Slug `<provider>/<model>`."""
    sample_rate: int
    """Hertz of the audio that you send; of what it is decoded to, where that is Opus."""
    encoding: Encoding
    """`linear16` (little-endian), `mulaw` and `alaw` are samples, those of several `channels` interleaved. `opus` is
    one packet of Opus in each binary message; `ogg-opus` an Ogg stream with Opus in it, and `webm-opus` one in WebM
    or Matroska, as the recorder of a browser makes it: both from their beginning, cut into messages anywhere. `auto`
    is WebM or Ogg with Opus, or WAV, recognised by its first bytes. Two channels of these are mixed to one."""
    fallbacks: list[SessionStartedFallback]
    """The models that are tried when the first one fails, in order."""
    chain: list[AskedOfModel]
    """What the first model, and then each fallback, is asked of `language`, `languages`, `prompt`, `keyterms`,
    `diarization`, `redact` and `vocabulary_boost`, where the request has them."""
    channels: int | None = None
    """How many channels are heard; absent where it is one."""
    channel_sessions: list[str] | None = None
    """Each channel by itself, as `GET /v1/sessions/{id}` and the console know it, in their order; the first is
    `session_id`. Absent where there is one channel."""
    resume_token: str | None
    """With `resume=on`: opens a socket that goes on with this session when the present one breaks. Null without
    it."""
    continues: SessionStartedContinues | None = None
    """Of a session that `resume` was to go on with, and that is gone: this one is new."""
    limits: SessionStartedLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechStarted(EventHead):
    """Speech was heard; `start` in seconds of session audio."""

    type: Literal["speech_started"] = "speech_started"
    channel: int | None = None
    """The channel that it is about, from 0; absent where the session has one, or where it is about all of them."""
    start: float
    """Seconds from the beginning of the audio."""
    turn: int | None = None
    """With `turn_events=true`: number of the turn that the words will be, if words come of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript(EventHead):
    """Text of a turn: any number of interims, then exactly one final."""

    type: Literal["transcript"] = "transcript"
    channel: int | None = None
    """The channel that it is about, from 0; absent where the session has one, or where it is about all of them."""
    text: str
    """The text of the turn so far."""
    is_final: bool
    """True once for each turn: nothing changes any more."""
    turn: int
    """Number of the turn: from 0, without gaps; of each channel by itself, where there are several."""
    start: float
    """Seconds from the beginning of the audio."""
    end: float
    """Seconds from the beginning of the audio."""
    model: str
    """Slug of the model that heard it."""
    confidence: float | None = None
    """From 0 to 1; absent where the provider tells none."""
    speaker: int | None = None
    """Numbered from 0 in the order of first appearance. The same person has one number up to the next
    `speakers_restarted`."""
    language: str | None = None
    """BCP-47, where the provider tells it."""
    words: list[Word] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEagerEnd(EventHead):
    """The turn may be over with these words: `turn_ended` or `turn_resumed` follows."""

    type: Literal["turn_eager_end"] = "turn_eager_end"
    channel: int | None = None
    """The channel that it is about, from 0; absent where the session has one, or where it is about all of them."""
    turn: int
    """Number of the turn: from 0, without gaps; of each channel by itself, where there are several."""
    text: str
    """The text of the turn so far."""
    start: float
    """Seconds from the beginning of the audio."""
    end: float
    """Seconds from the beginning of the audio."""
    model: str
    """Slug `<provider>/<model>`."""
    end_of_turn_confidence: float | None = None
    """How sure the provider is that the turn is over, from 0 to 1; absent where it tells none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResumed(EventHead):
    """The turn was not over at its last `turn_eager_end`, or not with these words."""

    type: Literal["turn_resumed"] = "turn_resumed"
    channel: int | None = None
    """The channel that it is about, from 0; absent where the session has one, or where it is about all of them."""
    turn: int
    """Number of the turn: from 0, without gaps; of each channel by itself, where there are several."""
    reason: str
    """`speech`: the speaker goes on; `revised`: the final has other words; `reheard`: the connection that heard the
    turn was lost, and it is heard again or stays without a final. Reasons may be added."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded(EventHead):
    """The turn is over: right behind its final."""

    type: Literal["turn_ended"] = "turn_ended"
    channel: int | None = None
    """The channel that it is about, from 0; absent where the session has one, or where it is about all of them."""
    turn: int
    """Number of the turn: from 0, without gaps; of each channel by itself, where there are several."""
    start: float
    """Seconds from the beginning of the audio."""
    end: float
    """Seconds from the beginning of the audio."""
    end_of_turn_confidence: float | None = None
    """How sure the provider is that the turn is over, from 0 to 1; absent where it tells none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeakersRestarted(EventHead):
    """From there on the same people have new speaker numbers."""

    type: Literal["speakers_restarted"] = "speakers_restarted"
    channel: int | None = None
    """The channel that it is about, from 0; absent where the session has one, or where it is about all of them."""
    start: float
    """Seconds from the beginning of the audio."""
    first_speaker: int
    """The lowest number from there on: all below it were given before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failover(EventHead):
    """Another model goes on with the session; no word is lost or doubled."""

    type: Literal["failover"] = "failover"
    channel: int | None = None
    """The channel that it is about, from 0; absent where the session has one, or where it is about all of them."""
    from_: str
    """Slug of the model that failed."""
    to: str
    """Slug of the model that goes on."""
    reason: Literal[
        "upstream_closed",
        "upstream_error",
        "connect_failed",
        "connect_timeout",
        "stalled",
        "circuit_open",
        "empty_result",
    ]
    replayed_seconds: float
    """Seconds of audio that are sent again; they are not billed twice."""
    attempt: int
    """Number of the attempt, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Configured(EventHead):
    """What was asked for in mid-session is in force."""

    type: Literal["configured"] = "configured"
    channel: int | None = None
    """The channel that it is about, from 0; absent where the session has one, or where it is about all of them."""
    model: str
    """Slug `<provider>/<model>`."""
    fallbacks: list[str]
    """The models that are tried when it fails, in order."""
    chain: list[AskedOfModel]
    """What the first model, and then each fallback, is asked of `language`, `languages`, `prompt`, `keyterms`,
    `diarization`, `redact` and `vocabulary_boost`, where the request has them."""
    from_: float
    """Seconds from the beginning of the audio: from there on it is heard so."""
    replayed_seconds: float
    """Seconds of audio that are sent again; they are not billed twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WarningEvent(EventHead):
    """Something was not done as asked; the session goes on."""

    type: Literal["warning"] = "warning"
    channel: int | None = None
    """The channel that it is about, from 0; absent where the session has one, or where it is about all of them."""
    code: str
    """For programs. Codes may be added."""
    message: str
    """For people: it may change."""
    param: str | None = None
    """Name of the parameter that it is about."""
    reconnect_within_seconds: float | None = None
    """Of `node_draining`: the session is closed with 4200 at the end of the turn, at the latest after so many
    seconds. Connect again then: another node answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Discontinuity(EventHead):
    """Seconds of audio that no final will cover, and why."""

    type: Literal["discontinuity"] = "discontinuity"
    channel: int | None = None
    """The channel that it is about, from 0; absent where the session has one, or where it is about all of them."""
    from_: float
    """Seconds from the beginning of the audio."""
    to: float
    """Seconds from the beginning of the audio."""
    reason: str
    """Why, for programs. Reasons may be added."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorEventErrorDetail:
    """An attempt at a model that gave no result."""

    model: str
    """Slug of the model that was tried."""
    reason: str
    """Why it gave no result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorEventError:
    """Why something was refused, or has failed."""

    type: ErrorType
    """The family of the error."""
    code: ErrorCode
    """What was refused, for programs. Codes may be added."""
    message: str
    """What was wrong, what is accepted and what to do. For people: it may change."""
    param: str | None
    """Name of the field at fault, or null."""
    request_id: str
    """Quote it when you report a fault; also in the header `X-Request-Id`."""
    details: list[ErrorEventErrorDetail] | None = None
    """Of `upstream_error`: every attempt, in the order they were made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorEvent(EventHead):
    """Something went wrong."""

    type: Literal["error"] = "error"
    channel: int | None = None
    """The channel that it is about, from 0; absent where the session has one, or where it is about all of them."""
    error: ErrorEventError
    """Why something was refused, or has failed."""
    fatal: Literal[False] | None = None
    """The session goes on. Absent where it ends by this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Received(EventHead):
    """So much of the audio need not be sent again when the socket breaks."""

    type: Literal["received"] = "received"
    bytes: int
    """Bytes of audio that were taken since the session began, on all of its sockets together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionResumedLimits:
    """A part of SessionResumed."""

    binary_frame_bytes: int
    """Largest binary frame on this socket; less than at the start where the node that it has reached is busy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionResumed(EventHead):
    """The session goes on with this socket: audio follows from there."""

    type: Literal["session_resumed"] = "session_resumed"
    received_bytes: int
    """Bytes of audio that were taken since the session began, on all of its sockets together."""
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
    """Seconds of audio that arrived; of each channel, where there are several."""
    usage: list[UsageRow]
    """By model and price, of all channels together."""
    cost_usd: str
    """USD, decimal."""
    dropped_bytes: int | None = None
    """Bytes that could not be part of a sample (a lone last byte, a packet that was cut off); absent when there were
    none."""
