"""A live session as its user sees it: audio goes in, events come out, and a summary at the end. What happens on the wire, and when
that breaks, is link.py."""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from contextlib import suppress
from types import TracebackType
from typing import Any, BinaryIO, Unpack

from ..errors import VoxgateError, invalid_option
from ..events import SessionEvent
from ..options import ConfigureOptions
from ..settings import Settings
from ..threads import daemon, submit
from ..types.events import Transcript
from .configuring import configure_message
from .link import LiveLink
from .listening import Listening
from .queue import EventQueue
from .summary import SessionSummary

AudioData = bytes | bytearray | memoryview
# Audio as it comes: an open binary file, a generator, a microphone's stream. Those without `async` are read in a thread.
AudioSource = AudioData | BinaryIO | Iterable[AudioData] | AsyncIterable[AudioData]

_PIECE_BYTES = 32_768


class AsyncLiveSession:
    """One live session. Iterate it for its events; there is one reader, and leaving the loop does not end the session. A session
    that fails ends the iteration, `send` and `close` with the same VoxgateError. Leaving its `async with` ends it at once: call
    `close` before, where the last finals count."""

    def __init__(self, settings: Settings, listening: Listening) -> None:
        self._queue = EventQueue(listening.events_max)
        self._link = LiveLink(settings, listening, self._push)
        self._task: asyncio.Task[None] | None = None
        self._pipes: set[asyncio.Task[None]] = set()
        self._over = asyncio.Event()
        self._error: BaseException | None = None
        self._summary: SessionSummary | None = None

    async def __aenter__(self) -> "AsyncLiveSession":
        self._start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.terminate()
        tasks = [task for task in (self._task, *self._pipes) if task is not None]
        await asyncio.gather(*tasks, return_exceptions=True)

    async def send(self, audio: AudioData) -> None:
        """Sends audio. Returns when there is room for more: await it, and memory stays bounded. The bytes are copied."""
        if not isinstance(audio, (bytes, bytearray, memoryview)):
            raise invalid_option("audio", "Audio is bytes, a bytearray or a memoryview.")
        self._require_open()
        try:
            await self._link.audio.write(memoryview(audio).cast("B"))
        except VoxgateError as error:
            if error.code == "send_queue_full":
                self.terminate(error)
            raise

    def pipe(self, source: AudioSource) -> None:
        """Sends a source to its end, as fast as it comes and the gateway takes it, and closes the session behind it; meanwhile the
        events can be read. What the source raises ends the session, and is raised by the iteration and by `close`."""
        self._require_open()
        if isinstance(source, AsyncIterable):
            task = asyncio.get_running_loop().create_task(self._pipe(source))
            self._pipes.add(task)
            task.add_done_callback(self._pipes.discard)
        else:
            loop = asyncio.get_running_loop()
            daemon(lambda: self._pipe_from_thread(_pieces_of(source), loop))

    async def finalize(self) -> None:
        """Ends the current turn now."""
        self._require_open()
        self._link.audio.mark()

    async def configure(self, **changes: Unpack[ConfigureOptions]) -> None:
        """Changes model, fallbacks or words for the audio that follows; None takes an option back. In force from the end of the turn
        on: `configured` says from where. What the gateway refuses is an `error` event, and the session goes on as it was. A session
        that has to begin anew after a broken connection is changed in the same way."""
        message = configure_message(changes)
        self._require_open()
        self._link.audio.change(message)

    async def keepalive(self) -> None:
        """Says that the session is still wanted, while no audio is sent."""
        self._require_open()
        await self._link.keepalive()

    async def close(self) -> SessionSummary:
        """No more audio. Returns when every final is there and the session has ended; raises what it failed with."""
        self._start()
        self._link.audio.close()
        await self._over.wait()
        if self._error is not None:
            raise self._error
        return self._summary or self._link.summary("terminated")

    def terminate(self, error: BaseException | None = None) -> None:
        """Ends the session at once, without its last finals."""
        self._end(self._link.summary("terminated"), error)
        if self._task is not None:
            self._task.cancel()

    def __aiter__(self) -> AsyncIterator[SessionEvent]:
        return self

    async def __anext__(self) -> SessionEvent:
        event = await self.next_event()
        if event is None:
            raise StopAsyncIteration
        return event

    async def next_event(self) -> SessionEvent | None:
        """What the iteration gives; None at its end."""
        self._start()
        return await self._queue.next()

    async def finals(self) -> AsyncIterator[Transcript]:
        """The finals alone: one for each turn. Takes the place of the iteration over all events."""
        async for event in self:
            if isinstance(event, Transcript) and event.is_final:
                yield event

    def _start(self) -> None:
        if self._task is None and not self._over.is_set():
            self._task = asyncio.get_running_loop().create_task(self._drive())

    async def _drive(self) -> None:
        try:
            self._end(await self._link.run(), None)
        except asyncio.CancelledError:
            # By `terminate`, or by whoever ends the whole program.
            self._end(self._link.summary("terminated"), None)
            raise
        except Exception as error:
            self._end(None, error)

    def _push(self, event: SessionEvent) -> None:
        try:
            self._queue.push(event)
        except VoxgateError as error:
            # Before the connection is closed, which takes a moment.
            self._end(None, error)
            raise

    def _end(self, summary: SessionSummary | None, error: BaseException | None) -> None:
        if self._over.is_set():
            return
        self._summary, self._error = summary, error
        self._link.audio.end(error)
        self._queue.end(error)
        self._over.set()
        for pipe in self._pipes:
            pipe.cancel()

    def _require_open(self) -> None:
        self._start()
        if self._error is not None:
            raise self._error
        if self._over.is_set() or self._link.audio.is_closed:
            raise VoxgateError("The session is closed: no more audio can be sent.", code="session_over")

    async def _pipe(self, source: AsyncIterable[AudioData]) -> None:
        try:
            async for piece in source:
                await self.send(piece)
            self._link.audio.close()
        except Exception as error:
            self._piped_badly(error)

    def _pipe_from_thread(self, pieces: Iterator[AudioData], loop: asyncio.AbstractEventLoop) -> None:
        # A loop that is closed has no session any more.
        with suppress(RuntimeError):
            try:
                for piece in pieces:
                    submit(self.send(piece), loop).result()
                loop.call_soon_threadsafe(self._link.audio.close)
            except Exception as error:
                loop.call_soon_threadsafe(self._piped_badly, error)

    def _piped_badly(self, error: Exception) -> None:
        """A session that is closed or over wants no more of the source."""
        if not self._over.is_set() and not self._link.audio.is_closed:
            self.terminate(error)


def _pieces_of(source: Any) -> Iterator[AudioData]:
    if isinstance(source, (bytes, bytearray, memoryview)):
        return iter((source,))
    if callable(getattr(source, "read", None)):
        return iter(lambda: source.read(_PIECE_BYTES), b"")
    return iter(source)
