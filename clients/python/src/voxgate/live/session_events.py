"""What the consumer is told of a session over all its connections: the gateway's events on one timeline, where a connection took the
place of another, and what it cost in the end. Decides nothing about connections: that is link.py."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Any

from ..events import Reconnected, Reconnecting, ServerEvent, SessionEvent
from ..types.events import Discontinuity, ErrorEvent, EventHead, SessionEnded, SessionStarted, Transcript
from .summary import Bill, SessionSummary
from .timeline import Timeline


@dataclass(frozen=True, slots=True)
class Reconnection:
    """How a connection takes the place of one that broke."""

    attempt: int
    reason: str


class SessionEvents:
    def __init__(self, sample_rate: int, tell: Callable[[SessionEvent], None]) -> None:
        self._timeline = Timeline(sample_rate)
        self._tell = tell
        self._bill = Bill()
        # Events that belong to the end of a session, if it ends: told only when another event follows, or the end does.
        self._held: list[Discontinuity | ErrorEvent] = []
        self._ended: SessionEnded | None = None

    @property
    def has_begun(self) -> bool:
        """Whether any session began."""
        return bool(self._bill.session_ids)

    @property
    def covered_sample(self) -> int:
        """Everything before this sample has its final."""
        return self._timeline.covered_sample

    @property
    def heard_seconds(self) -> float:
        """Up to where the current session's own time has finals."""
        return self._timeline.heard_seconds

    @property
    def error(self) -> ErrorEvent | None:
        """The last error that the current session told, if nothing but its end followed."""
        return next((event for event in reversed(self._held) if isinstance(event, ErrorEvent)), None)

    @property
    def end_reason(self) -> str | None:
        """Why the current session ended, if it said so."""
        return None if self._ended is None else self._ended.reason

    def reconnecting(self, by: Reconnection, wait: float) -> None:
        """Another attempt follows after so many seconds. Nothing is told before there was a session."""
        if self.has_begun:
            head: dict[str, Any] = {"session_id": self._bill.session_ids[-1], "seq": 0, "at": _now()}
            self._tell(Reconnecting(**head, attempt=by.attempt, wait_seconds=round(wait, 3), reason=by.reason))

    def began(self, event: SessionStarted, origin: int, replayed: int, by: Reconnection) -> None:
        """A session began that hears from the sample `origin` on, with so many samples that were sent before."""
        self.forget()
        is_first = not self.has_begun
        self._bill.session_ids.append(event.session_id)
        seconds_of = self._timeline.seconds_of
        lost_from, lost_to = seconds_of(self.covered_sample), seconds_of(origin)
        self._timeline.begin(origin)
        if is_first:
            self._tell(replace(event, resume_token=None))
        else:
            self.reconnected(event, by, resumed=False, replayed_seconds=seconds_of(replayed))
        if lost_to > lost_from:
            self._tell(Discontinuity(**_head(event), from_=lost_from, to=lost_to, reason="replay_exceeded"))

    def reconnected(
        self, event: EventHead, by: Reconnection, *, resumed: bool = True, replayed_seconds: float = 0
    ) -> None:
        """The connection is another one."""
        self._bill.reconnections += 1
        how: dict[str, Any] = {"resumed": resumed, "replayed_seconds": replayed_seconds}
        self._tell(Reconnected(**_head(event), attempt=by.attempt, reason=by.reason, **how))

    def heard(self, event: ServerEvent) -> None:
        """The gateway says this."""
        if isinstance(event, Discontinuity) or (isinstance(event, ErrorEvent) and event.fatal is not False):
            self._held.append(event)
        elif isinstance(event, SessionEnded):
            self._ended = event
            self._bill.told(event)
        else:
            self._release()
            self._place(event)

    def forget(self) -> None:
        """The current session does not go on: none of its turns stays open, and its end does not matter."""
        self._tell_turns_over()
        self._held.clear()
        self._ended = None

    def finish(self, seconds: float) -> SessionSummary:
        """The session ended in order: every turn that was shown has its final."""
        self._tell_turns_over()
        self._release()
        for event in self._timeline.rest():
            self._tell(event)
        summary = self.summary("client_closed" if self._ended is None else self._ended.reason, seconds)
        self._tell_end(summary)
        return summary

    def fail(self, seconds: float) -> None:
        """It does not go on, and did not end in order."""
        self._tell_turns_over()
        self._release(errors=False)
        if self._ended is not None:
            self._tell_end(self.summary(self._ended.reason, seconds))

    def summary(self, reason: str, seconds: float) -> SessionSummary:
        return self._bill.summary(reason, seconds)

    def _place(self, event: ServerEvent) -> None:
        placed = self._timeline.place(event)
        if placed is None:
            return
        restarted = self._timeline.restart_with(placed) if isinstance(placed, Transcript) else None
        if restarted is not None:
            self._tell(restarted)
        self._tell(placed)

    def _release(self, *, errors: bool = True) -> None:
        held, self._held = self._held, []
        for event in held:
            if errors or not isinstance(event, ErrorEvent):
                self._place(event)

    def _tell_turns_over(self) -> None:
        for event in self._timeline.close():
            self._tell(event)

    def _tell_end(self, summary: SessionSummary) -> None:
        """The last event, with what all sessions told."""
        whole: dict[str, Any] = {
            "audio_seconds": summary.audio_seconds,
            "usage": summary.usage,
            "cost_usd": summary.cost_usd,
        }
        if self._ended is not None:
            self._tell(replace(self._ended, **whole))
        else:
            session_id = summary.session_ids[-1] if summary.session_ids else ""
            self._tell(SessionEnded(session_id=session_id, seq=0, at=_now(), reason="client_closed", **whole))


def _head(event: EventHead) -> dict[str, Any]:
    return {"session_id": event.session_id, "seq": event.seq, "at": event.at}


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
