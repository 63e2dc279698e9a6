"""A live session for programs without asyncio: every call waits, and any thread may call."""

from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import BinaryIO, Unpack

from ..events import SessionEvent
from ..live.listening import Listening
from ..live.session import AsyncLiveSession, AudioData
from ..live.summary import SessionSummary
from ..options import ConfigureOptions
from ..settings import Settings
from ..types.events import Transcript
from .loop_thread import LoopThread


class LiveSession:
    """One live session. Iterate it for its events, in one thread, while another sends, or `pipe` does; leaving the loop does not
    end the session. A session that fails ends the iteration, `send` and `close` with the same VoxgateError. Leaving its `with` ends
    it at once: call `close` before, where the last finals count."""

    def __init__(self, settings: Settings, listening: Listening, loop: LoopThread) -> None:
        self._loop = loop
        self._session = AsyncLiveSession(settings, listening)

    def __enter__(self) -> "LiveSession":
        self._loop.run(self._session.__aenter__)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.run(lambda: self._session.__aexit__(kind, error, trace))

    def send(self, audio: AudioData) -> None:
        """Sends audio. Returns when there is room for more, so that memory stays bounded. The bytes are copied."""
        self._loop.run(lambda: self._session.send(audio))

    def pipe(self, source: AudioData | BinaryIO | Iterable[AudioData]) -> None:
        """Sends a source to its end, in a thread, and closes the session behind it; meanwhile the events can be read. What the
        source raises ends the session, and is raised by the iteration and by `close`."""

        async def begin() -> None:
            self._session.pipe(source)

        self._loop.run(begin)

    def finalize(self) -> None:
        """Ends the current turn now."""
        self._loop.run(self._session.finalize)

    def configure(self, **changes: Unpack[ConfigureOptions]) -> None:
        """Changes model, fallbacks or words for the audio that follows; None takes an option back. In force from the end of the turn
        on: `configured` says from where. What the gateway refuses is an `error` event, and the session goes on as it was. A session
        that has to begin anew after a broken connection is changed in the same way."""
        self._loop.run(lambda: self._session.configure(**changes))

    def keepalive(self) -> None:
        """Says that the session is still wanted, while no audio is sent."""
        self._loop.run(self._session.keepalive)

    def close(self) -> SessionSummary:
        """No more audio. Returns when every final is there and the session has ended; raises what it failed with."""
        return self._loop.run(self._session.close)

    def terminate(self) -> None:
        """Ends the session at once, without its last finals."""

        async def end() -> None:
            self._session.terminate()

        self._loop.run(end)

    def __iter__(self) -> Iterator[SessionEvent]:
        return self

    def __next__(self) -> SessionEvent:
        event = self._loop.run(self._session.next_event)
        if event is None:
            raise StopIteration
        return event

    def finals(self) -> Iterator[Transcript]:
        """The finals alone: one for each turn. Takes the place of the iteration over all events."""
        for event in self:
            if isinstance(event, Transcript) and event.is_final:
                yield event
