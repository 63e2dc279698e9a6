"""A live session over as many connections as it takes: audio out with back-pressure, events in on one timeline, and a new session
where one broke. What the consumer may call is session.py; when to try again is reconnect.py."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any
from urllib.parse import urlsplit

from ..errors import APIConnectionError, APITimeoutError, VoxgateError
from ..events import Reconnected, Reconnecting, ServerEvent, SessionEvent
from ..settings import Settings
from ..types.events import Discontinuity, ErrorEvent, SessionEnded, SessionStarted, Transcript
from .connection import DIAL_ERRORS, Connection, Ending, dial, refused
from .listening import Listening
from .losses import CONNECT_TIMEOUT, Loss, advice_for, loss_of
from .outgoing import OutgoingAudio
from .reconnect import Retries
from .summary import Bill, SessionSummary
from .timeline import Timeline

# A connection that held so long was no failed attempt, whatever it heard.
STABLE_SECONDS = 30
# What a gateway may take to say something after `close`, beside the time that the audio itself takes.
CLOSING_SECONDS = 60


class LiveLink:
    def __init__(self, settings: Settings, listening: Listening, on_event: Callable[[SessionEvent], None]) -> None:
        self._settings = settings
        self._listening = listening
        self._on_event = on_event
        self._timeline = Timeline(listening.sample_rate)
        self._bill = Bill()
        self._retries = Retries(listening.reconnect)
        self._connection: Connection | None = None
        self._opened_at: float | None = None
        # How long the current connection may say nothing: until the session is open, and after `close`.
        self._patience: asyncio.Timeout | None = None
        self._is_closing = False
        # Events that belong to the end of a session, if it ends: told only when another event follows, or the end does.
        self._held: list[Discontinuity | ErrorEvent] = []
        self._ended: SessionEnded | None = None
        # What broke the last session, and not the attempts that followed.
        self._broke: Loss | None = None
        self._has_renewed = False
        # What went wrong on this side while sending.
        self._fault: Exception | None = None
        self.audio = OutgoingAudio(
            listening.sample_rate, listening.bytes_per_sample, listening.reconnect.replay_seconds_max
        )

    async def run(self) -> SessionSummary:
        """Returns when the session ended in order; raises what it fails with."""
        while True:
            loss = await self._connect()
            if loss is None:
                return self._finish()
            wait = self._wait_seconds(loss)
            if wait is None:
                self._tell_failure()
                raise loss.error
            self._broke = self._broke or loss
            self._held.clear()
            self._ended = None
            self._tell_attempt(loss, wait)
            await asyncio.sleep(wait)

    async def keepalive(self) -> None:
        if self._connection is not None:
            await self._connection.send({"type": "keepalive"})

    def summary(self, reason: str) -> SessionSummary:
        return self._bill.summary(reason, self.audio.seconds)

    def _tell_attempt(self, loss: Loss, wait: float) -> None:
        if not self._bill.session_ids:
            return
        head: dict[str, Any] = {"session_id": self._bill.session_ids[-1], "seq": 0, "at": _now()}
        attempt = self._retries.attempts
        self._on_event(Reconnecting(**head, attempt=attempt, wait_seconds=round(wait, 3), reason=loss.reason))

    def _wait_seconds(self, loss: Loss) -> float | None:
        """Seconds until the next connection; None where there is to be none."""
        is_renewable = self._settings.get_token is not None and not self._has_renewed
        if loss.error.code == "token_expired" and is_renewable:
            self._has_renewed = True
            return 0
        now = asyncio.get_running_loop().time()
        if self._opened_at is not None and now - self._opened_at >= STABLE_SECONDS:
            self._retries.reset()
        return self._retries.next(loss.advice, now)

    async def _connect(self) -> Loss | None:
        """Returns when the connection is over: None where the session ended in order."""
        self._opened_at = None
        self._is_closing = False
        until = asyncio.get_running_loop().time() + self._listening.connect_timeout
        try:
            credential = await self._credential(until)
        except VoxgateError as error:
            is_passing = isinstance(error, APIConnectionError)
            return Loss(error.code, "back_off" if is_passing else "stop", error)
        try:
            ending = await self._converse(credential, until)
        finally:
            self._connection = None
        if self._fault is not None:
            raise self._fault
        for event in self._timeline.close():
            self._on_event(event)
        return self._loss_of(ending)

    async def _credential(self, until: float) -> str:
        try:
            async with asyncio.timeout_at(until):
                return await self._settings.for_connection()
        except TimeoutError as cause:
            raise APITimeoutError(
                "`get_token` did not answer in time. `connect_timeout` says how long to wait.", code="timeout"
            ) from cause

    def _address(self) -> str:
        """Every connection opens a session of its own. `session_started.resume_token` is null as yet: one that is kept would go
        here, as `resume`, and `_begin` would send on from what the gateway has received."""
        parts = urlsplit(self._settings.base_url)
        scheme = "wss" if parts.scheme == "https" else "ws"
        return f"{scheme}://{parts.netloc}{parts.path}/v1/listen?{self._listening.query}"

    async def _converse(self, credential: str, until: float) -> Ending:
        writer: asyncio.Task[None] | None = None
        patience = self._patience = asyncio.timeout_at(until)
        try:
            async with patience:
                connection = self._connection = await dial(self._address(), credential, self._settings.ssl_context)
                if self._listening.start is not None:
                    await connection.send(dict(self._listening.start))
                while (event := await connection.next()) is not None:
                    if isinstance(event, SessionStarted):
                        self._begin(event)
                        writer = asyncio.create_task(self._write(connection))
                    else:
                        self._hear(event)
                    self._be_patient()
                return connection.ending
        except DIAL_ERRORS as error:
            # The time that is over is one of these as well.
            if patience.expired():
                return Ending(1006, "" if self._opened_at is not None else CONNECT_TIMEOUT)
            return refused(error)
        finally:
            if writer is not None:
                writer.cancel()
            if self._connection is not None:
                await self._connection.close()

    async def _write(self, connection: Connection) -> None:
        try:
            await self.audio.pump(_Line(connection, self._closing))
        except Exception as error:
            self._fault = error
            await connection.close()

    def _closing(self) -> None:
        """`close` is sent."""
        self._is_closing = True
        self._be_patient()

    def _be_patient(self) -> None:
        """While the session is open its socket tells whether the other side is there; after `close` it has to say something."""
        if self._patience is None or self._patience.expired() or self._opened_at is None:
            return
        now = asyncio.get_running_loop().time()
        self._patience.reschedule(now + CLOSING_SECONDS + self.audio.pending_seconds if self._is_closing else None)

    def _hear(self, event: ServerEvent) -> None:
        if isinstance(event, (ErrorEvent, Discontinuity)):
            self._held.append(event)
        elif isinstance(event, SessionEnded):
            self._ended = event
            self._bill.told(event)
        else:
            self._release()
            self._tell(event)

    def _begin(self, event: SessionStarted) -> None:
        now = self._opened_at = asyncio.get_running_loop().time()
        self._has_renewed = False
        is_first = not self._bill.session_ids
        self._bill.session_ids.append(event.session_id)
        covered = self._timeline.covered_sample
        origin, replayed = self.audio.connect(event.limits.binary_frame_bytes, covered, now)
        lost_from, lost_to = self._timeline.seconds_of(covered), self._timeline.seconds_of(origin)
        self._timeline.begin(origin)
        head: dict[str, Any] = {"session_id": event.session_id, "seq": event.seq, "at": event.at}
        if is_first:
            self._on_event(event)
        else:
            reason = "close_1006" if self._broke is None else self._broke.reason
            replayed_seconds = self._timeline.seconds_of(replayed)
            attempt = self._retries.attempts
            self._on_event(Reconnected(**head, attempt=attempt, replayed_seconds=replayed_seconds, reason=reason))
        self._broke = None
        if lost_to > lost_from:
            self._on_event(Discontinuity(**head, from_=lost_from, to=lost_to, reason="replay_exceeded"))

    def _tell(self, event: ServerEvent) -> None:
        placed = self._timeline.place(event)
        if placed is None:
            return
        if isinstance(placed, Transcript):
            restarted = self._timeline.restart_with(placed)
            if restarted is not None:
                self._on_event(restarted)
            if placed.is_final:
                self._retries.reset()
                self.audio.covered(self._timeline.covered_sample)
        self._on_event(placed)

    def _release(self, *, errors: bool = True) -> None:
        held, self._held = self._held, []
        for event in held:
            if errors or not isinstance(event, ErrorEvent):
                self._tell(event)

    def _loss_of(self, ending: Ending) -> Loss | None:
        """None where the session ended in order, or has nothing left to be heard."""
        # What the gateway said of its end counts, whether or not its close frame came through.
        if self._ended is not None and (ending.code == 1000 or self._ended.reason == "client_closed"):
            return None
        advice = advice_for(ending)
        is_heard = bool(self._bill.session_ids) and self.audio.is_covered
        if self.audio.is_closed and is_heard and advice != "stop":
            # Nothing is left to be heard: what the session said of its end does not matter any more.
            self._held.clear()
            self._ended = None
            return None
        told = next((event for event in reversed(self._held) if isinstance(event, ErrorEvent)), None)
        return loss_of(ending, told)

    def _finish(self) -> SessionSummary:
        """The session ended in order: every turn that was shown has its final."""
        self._release()
        for event in self._timeline.rest():
            self._on_event(event)
        summary = self.summary("client_closed" if self._ended is None else self._ended.reason)
        self._tell_end(summary)
        return summary

    def _tell_failure(self) -> None:
        self._release(errors=False)
        if self._ended is not None:
            self._tell_end(self.summary(self._ended.reason))

    def _tell_end(self, summary: SessionSummary) -> None:
        """The last event, with what all sessions told."""
        whole: dict[str, Any] = {
            "audio_seconds": summary.audio_seconds,
            "usage": summary.usage,
            "cost_usd": summary.cost_usd,
        }
        if self._ended is not None:
            self._on_event(replace(self._ended, **whole))
        else:
            session_id = summary.session_ids[-1] if summary.session_ids else ""
            self._on_event(SessionEnded(session_id=session_id, seq=0, at=_now(), reason="client_closed", **whole))


class _Line:
    """A connection that says when `close` is sent."""

    def __init__(self, connection: Connection, closing: Callable[[], None]) -> None:
        self._connection = connection
        self._closing = closing

    async def send(self, data: bytes | dict[str, Any]) -> None:
        if isinstance(data, dict) and data["type"] == "close":
            self._closing()
        await self._connection.send(data)


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
