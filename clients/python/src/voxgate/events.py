"""The events of a session as its consumer sees them: the gateway's, and those of this side."""

from dataclasses import dataclass
from typing import Any, Literal

from .types.events import (
    Configured,
    Discontinuity,
    ErrorEvent,
    EventHead,
    Failover,
    Received,
    SessionEnded,
    SessionResumed,
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

# What the gateway says. Events that this version does not know are passed over, and so are those that say how a session goes on
# with another connection.
ServerEvent = (
    SessionStarted
    | SpeechStarted
    | Transcript
    | TurnEagerEnd
    | TurnResumed
    | TurnEnded
    | SpeakersRestarted
    | Failover
    | Configured
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
    """The connection broke, and another is there: no final comes twice, and no word is lost. Within a minute the gateway's session
    goes on (`resumed`); else a new one begins where the last final ended. Where more audio without a final was sent than
    `replay_seconds_max`, a `discontinuity` that follows says what is not heard again."""

    type: Literal["reconnected"] = "reconnected"
    attempt: int
    """Number of the attempt that succeeded, from 1."""
    resumed: bool
    """The same session goes on, with its turns, its speakers and its bill; else a new one began."""
    replayed_seconds: float
    """Seconds of audio that were sent again to a new session; the gateway bills them again."""
    reason: str
    """What broke the connection before, in the words of the first `reconnecting`."""


SessionEvent = ServerEvent | Reconnecting | Reconnected

_BY_TYPE: dict[str, type[EventHead]] = {
    "session_started": SessionStarted,
    "session_resumed": SessionResumed,
    "received": Received,
    "speech_started": SpeechStarted,
    "transcript": Transcript,
    "turn_eager_end": TurnEagerEnd,
    "turn_resumed": TurnResumed,
    "turn_ended": TurnEnded,
    "speakers_restarted": SpeakersRestarted,
    "failover": Failover,
    "configured": Configured,
    "warning": WarningEvent,
    "discontinuity": Discontinuity,
    "error": ErrorEvent,
    "session_ended": SessionEnded,
}


def event_of(data: Any) -> EventHead | None:
    """An event; of one that this version does not know its head alone, and None where it has none. Raises a ValueError for an event
    that has not what it has to have."""
    if not isinstance(data, dict):
        return None
    cls = _BY_TYPE.get(data.get("type", ""))
    if cls is not None:
        return read(cls, data)
    return read(EventHead, data) if all(name in data for name in EventHead.__annotations__) else None
