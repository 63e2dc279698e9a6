"""The events of a session as its consumer sees them: the gateway's, and those of this side."""

from dataclasses import dataclass
from typing import Any, Literal

from .types.events import (
    Discontinuity,
    ErrorEvent,
    EventHead,
    Failover,
    SessionEnded,
    SessionStarted,
    SpeakersRestarted,
    SpeechStarted,
    Transcript,
    TurnEagerEnd,
    TurnEnded,
    TurnResumed,
    WarningEvent,
)
from .types.reading import read

# What the gateway says. Events that this version does not know are passed over.
ServerEvent = (
    SessionStarted
    | SpeechStarted
    | Transcript
    | TurnEagerEnd
    | TurnResumed
    | TurnEnded
    | SpeakersRestarted
    | Failover
    | WarningEvent
    | Discontinuity
    | ErrorEvent
    | SessionEnded
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconnecting(EventHead):
    """The connection broke, or could not be made again: another attempt follows. Audio that is given meanwhile is kept."""

    type: Literal["reconnecting"] = "reconnecting"
    attempt: int
    """Number of the attempt that follows, from 1."""
    wait_seconds: float
    """Seconds until then."""
    reason: str
    """Why: code of the error that the gateway gave, else `close_` and the close code, as `close_1006`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconnected(EventHead):
    """The connection broke, and another session goes on where the last final ended: no final comes twice, and no word is lost.
    Where more audio without a final was sent than `replay_seconds_max`, a `discontinuity` that follows says what is not heard
    again."""

    type: Literal["reconnected"] = "reconnected"
    attempt: int
    """Number of the attempt that succeeded, from 1."""
    replayed_seconds: float
    """Seconds of audio that were sent again; the gateway bills them again."""
    reason: str
    """What broke the session before, in the words of the first `reconnecting`."""


SessionEvent = ServerEvent | Reconnecting | Reconnected

_BY_TYPE: dict[str, type[EventHead]] = {
    "session_started": SessionStarted,
    "speech_started": SpeechStarted,
    "transcript": Transcript,
    "turn_eager_end": TurnEagerEnd,
    "turn_resumed": TurnResumed,
    "turn_ended": TurnEnded,
    "speakers_restarted": SpeakersRestarted,
    "failover": Failover,
    "warning": WarningEvent,
    "discontinuity": Discontinuity,
    "error": ErrorEvent,
    "session_ended": SessionEnded,
}


def event_of(data: Any) -> ServerEvent | None:
    """None for an event that this version does not know. Raises a ValueError for one that has not what it has to have."""
    cls = _BY_TYPE.get(data.get("type", "")) if isinstance(data, dict) else None
    return None if cls is None else read(cls, data)
