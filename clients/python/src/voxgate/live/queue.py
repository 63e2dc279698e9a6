"""Events that wait to be read, within a bound: an interim gives way to a later one of its turn, a final is never dropped."""

import asyncio
from collections import deque
from dataclasses import replace

from ..errors import VoxgateError
from ..events import SessionEvent
from ..types.events import SessionEnded, Transcript


class EventQueue:
    def __init__(self, events_max: int) -> None:
        self._events_max = events_max
        self._waiting: deque[SessionEvent] = deque()
        self._changed = asyncio.Event()
        self._seq = 0
        self._is_ended = False
        self._error: BaseException | None = None

    def push(self, event: SessionEvent) -> None:
        """Raises `event_queue_full` where there is no room: the event is not taken."""
        if isinstance(event, Transcript):
            self._drop_interims(event.turn)
        if len(self._waiting) >= self._events_max and not isinstance(event, SessionEnded):
            raise VoxgateError(
                f"{len(self._waiting)} events wait, and nobody reads them. Iterate the session while you send, or raise "
                "`events_max`.",
                code="event_queue_full",
            )
        self._waiting.append(event)
        self._changed.set()

    def end(self, error: BaseException | None) -> None:
        """No more events: who reads hears what waits, then the end or the error."""
        self._is_ended = True
        self._error = error
        self._changed.set()

    async def next(self) -> SessionEvent | None:
        """None at the end. An error is raised once, as by any iterator; then there is nothing more."""
        while not self._waiting:
            if self._is_ended:
                error, self._error = self._error, None
                if error is not None:
                    raise error
                return None
            self._changed.clear()
            await self._changed.wait()
        # Numbered as they are read, so that there are no gaps whatever was left out.
        self._seq += 1
        return replace(self._waiting.popleft(), seq=self._seq)

    def _drop_interims(self, turn: int) -> None:
        if not self._waiting:
            return
        self._waiting = deque(
            each for each in self._waiting if not isinstance(each, Transcript) or each.is_final or each.turn != turn
        )
