"""A live session over as many connections as it takes: where one broke its session goes on with another, or a new one begins. What
the consumer may call is session.py, what it is told session_events.py; when to try again is reconnection/reconnect.py."""

import asyncio
from collections.abc import Callable
from typing import Any, Literal
from urllib.parse import urlsplit

from ..errors import APIConnectionError, APITimeoutError, VoxgateError
from ..events import ServerEvent, SessionEvent
from ..settings import Settings
from ..types.events import ErrorEvent, EventHead, Received, SessionResumed, SessionStarted, Transcript
from .connection import DIAL_ERRORS, Connection, Ending, dial, refused
from .listening import Listening
from .outgoing import OutgoingAudio
from .reconnection.losses import CONNECT_TIMEOUT, Loss, loss_of
from .reconnection.progress import Progress
from .reconnection.reconnect import Retries, is_lost
from .reconnection.resumption import Resumption
from .session_events import Reconnection, SessionEvents
from .summary import SessionSummary

# What a gateway may take to say something after `close`, beside the time that the audio itself takes.
CLOSING_SECONDS = 60
# Close codes of a socket that is done with, and of one that is given up: by the first its session ends, by the second it waits.
_DONE = 1000
_GIVEN_UP = 3006


class LiveLink:
    def __init__(self, settings: Settings, listening: Listening, on_event: Callable[[SessionEvent], None]) -> None:
        self._settings = settings
        self._listening = listening
        self._events = SessionEvents(listening.sample_rate, on_event)
        self._retries = Retries(listening.reconnect)
        self._progress = Progress(listening.reconnect.total_seconds)
        self._resumption = Resumption(listening.reconnect.attempts_max > 0)
        self._connection: Connection | None = None
        self._is_open = False
        # How long the current connection may say nothing: until the session is open, and after `close`.
        self._patience: asyncio.Timeout | None = None
        self._is_closing = False
        # What the gateway said to a connection that it did not open.
        self._refusal: ErrorEvent | None = None
        # All is heard but the end of the session and its bill: worth one more connection.
        self._seeks_end = False
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
            if loss == "ask_for_less":
                continue
            wait = None if loss is None else self._wait_seconds(loss)
            if loss is None or wait is None:
                return self._conclude(loss)
            self._broke = self._broke or loss
            if not self._resumption.is_waiting:
                self._events.forget()
            self._events.reconnecting(Reconnection(self._retries.attempts, loss.reason), wait)
            await asyncio.sleep(wait)

    async def keepalive(self) -> None:
        if self._connection is not None:
            await self._connection.send({"type": "keepalive"})

    def summary(self, reason: str) -> SessionSummary:
        return self._events.summary(reason, self.audio.seconds)

    def _conclude(self, loss: Loss | None) -> SessionSummary:
        """There is no other connection: it ended in order where nothing is left to be heard."""
        if loss is None or self._seeks_end:
            return self._events.finish(self.audio.seconds)
        self._events.fail(self.audio.seconds)
        raise loss.error

    def _wait_seconds(self, loss: Loss) -> float | None:
        """Seconds until the next connection; None where there is to be none."""
        is_renewable = self._settings.get_token is not None and not self._has_renewed
        if loss.error.code == "token_expired" and is_renewable:
            self._has_renewed = True
            return 0
        return self._retries.next(loss.advice, asyncio.get_running_loop().time())

    async def _connect(self) -> Loss | Literal["ask_for_less"] | None:
        """Returns when the connection is over: None where the session ended in order, `ask_for_less` where the gateway does not go on
        with the session, and is to be asked for a new one at once."""
        self._is_open = False
        self._progress.begin()
        self._refusal = None
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
        """Asks for a new session, or for the one that waits. Where no new one is wanted, or only its first message would say which,
        none is opened in the place of one that is gone."""
        parts = urlsplit(self._settings.base_url)
        scheme = "wss" if parts.scheme == "https" else "ws"
        anew = not self._seeks_end and self._listening.start is None
        query = self._resumption.query(self._listening.query, self._events.heard_seconds, anew)
        return f"{scheme}://{parts.netloc}{parts.path}/v1/listen?{query}"

    async def _converse(self, credential: str, until: float) -> Ending:
        writer: asyncio.Task[None] | None = None
        patience = self._patience = asyncio.timeout_at(until)
        try:
            async with patience:
                connection = self._connection = await dial(self._address(), credential, self._settings.ssl_context)
                if self._listening.start is not None and not self._resumption.is_waiting:
                    await connection.send(dict(self._listening.start))
                while (event := await connection.next()) is not None:
                    if isinstance(event, (SessionStarted, SessionResumed)):
                        if not self._open(event):
                            return Ending(_DONE)
                        writer = asyncio.create_task(self._write(connection))
                    elif self._is_open:
                        self._hear(event)
                    elif isinstance(event, ErrorEvent):
                        self._refusal = event
                    self._be_patient()
                return connection.ending
        except DIAL_ERRORS as error:
            # The time that is over is one of these as well.
            if patience.expired():
                return Ending(1006, "" if self._is_open else CONNECT_TIMEOUT)
            return refused(error)
        finally:
            if writer is not None:
                writer.cancel()
            if self._connection is not None:
                is_given_up = patience.expired() and self._resumption.is_waiting
                await self._connection.close(_GIVEN_UP if is_given_up else _DONE)

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
        if self._patience is None or self._patience.expired() or not self._is_open:
            return
        now = asyncio.get_running_loop().time()
        self._patience.reschedule(now + CLOSING_SECONDS + self.audio.pending_seconds if self._is_closing else None)

    def _hear(self, event: EventHead) -> None:
        self._resumption.heard(event.seq)
        if isinstance(event, Received):
            self._took(event.bytes)
        elif isinstance(event, ServerEvent):
            self._progress.heard(event, asyncio.get_running_loop().time())
            self._events.heard(event)
            if isinstance(event, Transcript) and event.is_final:
                self._retries.reset()
                self.audio.covered(self._events.covered_sample)

    def _open(self, event: SessionStarted | SessionResumed) -> bool:
        """The connection has its session. False where that is not to go on: what follows the audio that it has is kept no longer."""
        now = asyncio.get_running_loop().time()
        self._is_open = True
        self._progress.opened(now)
        self._has_renewed = False
        if isinstance(event, SessionStarted):
            self._resumption.began(event)
            origin, replayed = self.audio.connect(event.limits.binary_frame_bytes, self._events.covered_sample, now)
            self._progress.began(origin)
            self._events.began(event, origin, replayed, self._reconnection())
        elif self.audio.resume(event.received_bytes, now):
            self._events.reconnected(event, self._reconnection())
            self._took(event.received_bytes)
        else:
            self._resumption.drop()
            return False
        self._resumption.heard(event.seq)
        return True

    def _took(self, count: int) -> None:
        """The gateway has so many bytes of what the session was sent."""
        self._progress.took(count / self._listening.bytes_per_sample)

    def _reconnection(self) -> Reconnection:
        reason = "close_1006" if self._broke is None else self._broke.reason
        self._broke = None
        return Reconnection(self._retries.attempts, reason)

    def _loss_of(self, ending: Ending) -> Loss | Literal["ask_for_less"] | None:
        """None where the session ended in order, or has nothing left to be heard."""
        was_open = self._is_open
        reason = self._events.end_reason
        is_cut = reason is None and is_lost(ending.code)
        if self._progress.is_made(is_cut, asyncio.get_running_loop().time()):
            self._retries.reset()
        told = self._events.error if was_open else self._refusal
        if was_open:
            self._resumption.closed(ending.code, has_ended=reason is not None)
        # What the gateway said of its end counts, whether or not its close frame came through.
        if reason == "client_closed" or (reason is not None and ending.code == 1000):
            return None
        param = None if told is None else told.error.param
        is_refused = not was_open and self._resumption.refused(ending.code, param)
        loss = loss_of(ending, told)
        is_heard = self._events.has_begun and self.audio.is_closed and self.audio.is_covered
        if is_heard and (is_refused or loss.advice != "stop"):
            # Nothing is left to be heard: of its end the session is asked once, and does not matter any more then.
            if not self._resumption.is_waiting or self._seeks_end:
                self._events.forget()
                return None
            self._seeks_end = True
        return "ask_for_less" if is_refused else loss


class _Line:
    """A connection that says when `close` is sent."""

    def __init__(self, connection: Connection, closing: Callable[[], None]) -> None:
        self._connection = connection
        self._closing = closing

    async def send(self, data: bytes | dict[str, Any]) -> None:
        if isinstance(data, dict) and data["type"] == "close":
            self._closing()
        await self._connection.send(data)
