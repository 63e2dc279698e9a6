"""Audio and marks on their way to the gateway: sent as fast as the socket takes them and no further beyond the last final than is
kept, and sent again from there on a new connection. Knows bytes and positions only."""

import asyncio
from dataclasses import dataclass, replace
from typing import Any, Protocol

from ..errors import VoxgateError
from .configuring import CHANGES_MAX, too_many_changes
from .tape import AudioTape

# Unsent bytes from which `send` waits.
ROOM_BYTES = 262_144
# Bytes of calls that wait for room: more is piled up by callers who do not wait.
UNSENT_BYTES_MAX = 16_777_216
FRAME_BYTES = 65_536
# Speech at the pace at which it is spoken, and a little more, so that a clock that runs slow does not fall behind; not so much that
# the gateway suspects a wrong sample rate, which it does from a fifth more on.
PACE = 1.15
# A recording that is sent faster than it is spoken waits so long for a final that is late before anything of it is kept no longer.
FINAL_WAIT_SECONDS = 10.0
# Seconds by which a source may be ahead of that pace, and seconds of the smallest piece that is worth a frame.
PACE_AHEAD_SECONDS = 1.0
PACE_PIECE_SECONDS = 0.05


class AudioLine(Protocol):
    """As much of a connection as is needed here."""

    async def send(self, data: bytes | dict[str, Any]) -> None:
        """Returns when there is room for more."""
        ...


@dataclass(frozen=True, slots=True)
class Mark:
    """What is said at a place in the audio: the end of a turn, or a change of the session."""

    at: int
    message: dict[str, Any]

    @property
    def is_change(self) -> bool:
        return self.message["type"] == "configure"


class OutgoingAudio:
    def __init__(self, sample_rate: int, bytes_per_sample: int, replay_seconds_max: float) -> None:
        self._sample_rate = sample_rate
        self._bytes_per_sample = bytes_per_sample
        self._bytes_per_second = sample_rate * bytes_per_sample
        self._replay_bytes_max = int(replay_seconds_max * sample_rate) * bytes_per_sample
        self._tape = AudioTape()
        self._frame_bytes = FRAME_BYTES
        # Position of the first byte that the current connection was not given, and up to where any connection was given bytes.
        self._sent = 0
        self._sent_most = 0
        # Position up to which finals cover it, from which the current session was sent audio, and up to which it may be.
        self._covered = 0
        self._origin = 0
        self._limit = 0
        # Up to when the pace has given what it allows; in the future while a final is waited for.
        self._paced_at = 0.0
        # Ends of turns and changes of the session in their places, those that a final covers left out.
        self._marks: list[Mark] = []
        self._marks_sent = 0
        # Changes whose place a final covers: another session begins with them.
        self._changes: list[Mark] = []
        self._changes_asked = 0
        self._is_close_sent = False
        self._wake = asyncio.Event()
        self._room = asyncio.Event()
        self._waiting = 0
        self._waiting_bytes = 0
        self._is_over = False
        self._error: BaseException | None = None
        self.is_closed = False

    @property
    def seconds(self) -> float:
        """Seconds of audio that were given."""
        return round(self._tape.end // self._bytes_per_sample / self._sample_rate, 6)

    @property
    def pending_seconds(self) -> float:
        """Seconds of audio that was given and has no final."""
        return (self._tape.end - self._covered) / self._bytes_per_second

    @property
    def is_covered(self) -> bool:
        """Whether every whole sample has its final."""
        return self._tape.end - self._covered < self._bytes_per_sample

    async def write(self, data: bytes | bytearray | memoryview) -> None:
        """Returns when there is room for more. Raises `send_queue_full` where others wait already, and the bound is reached."""
        if self._waiting > 0 and self._waiting_bytes + len(data) > UNSENT_BYTES_MAX:
            raise VoxgateError(
                f"More than {UNSENT_BYTES_MAX} bytes wait to be sent. Await each `send` before the next.",
                code="send_queue_full",
            )
        self._tape.append(data)
        self._wake.set()
        self._waiting += 1
        self._waiting_bytes += len(data)
        try:
            while not self._is_roomy() and not self._is_over:
                self._room.clear()
                await self._room.wait()
        finally:
            self._waiting -= 1
            self._waiting_bytes -= len(data)
        if self._error is not None:
            raise self._error

    def mark(self) -> None:
        """Ends the turn behind what was written so far."""
        last = self._marks[-1] if self._marks_sent < len(self._marks) else None
        if last is None or last.at != self._tape.end or last.is_change:
            self._marks.append(Mark(self._tape.end, {"type": "finalize"}))
        self._wake.set()

    def change(self, message: dict[str, Any]) -> None:
        """Changes the session from here on. Raises `too_many_changes` where that was done as often as a gateway takes it."""
        if self._changes_asked >= CHANGES_MAX:
            raise too_many_changes()
        self._changes_asked += 1
        self._marks.append(Mark(self._tape.end, message))
        self._wake.set()

    def close(self) -> None:
        """No more audio."""
        self.is_closed = True
        self._wake.set()

    def connect(self, frame_bytes_max: int, covered_sample: int, now: float) -> tuple[int, int]:
        """A new session begins: it is changed as the last one was, and sent everything from `covered_sample` on that is still kept.
        Gives the sample that it is sent first, and how many are sent again."""
        origin_sample = max(covered_sample, -(-self._tape.start // self._bytes_per_sample))
        self._frame_bytes = min(FRAME_BYTES, frame_bytes_max)
        self._sent = self._origin = self._limit = origin_sample * self._bytes_per_sample
        self._paced_at = now
        # What belongs before its audio is said at its beginning.
        self._marks = [replace(mark, at=max(mark.at, self._origin)) for mark in (*self._changes, *self._marks)]
        self._changes = []
        self._marks_sent = 0
        self._is_close_sent = False
        return origin_sample, max(0, self._sent_most - self._sent) // self._bytes_per_sample

    def resume(self, received_bytes: int, now: float) -> bool:
        """A connection goes on with the session of the last one, which took so many bytes: they are not sent again. False where what
        follows them is kept no longer; then there is nothing to be sent."""
        at = self._origin + received_bytes
        if not self._tape.start <= at <= self._tape.end:
            return False
        self._sent = self._limit = at
        self._paced_at = now
        # Whether a mark right here was taken is not known. Both kinds can be said again: a turn that is over ends no second time.
        self._marks_sent = sum(mark.at < at for mark in self._marks)
        self._is_close_sent = False
        return True

    def covered(self, sample: int) -> None:
        """A final covers everything before a sample."""
        to = min(sample * self._bytes_per_sample, self._sent)
        self._covered = max(self._covered, to)
        self._tape.trim(to)
        self._settle_marks(to)
        self._wake.set()

    def end(self, error: BaseException | None) -> None:
        """Nothing more is sent."""
        self._is_over = True
        self._error = error
        self._room.set()

    async def pump(self, line: AudioLine) -> None:
        """Sends what there is until it is cancelled, or the line raises."""
        loop = asyncio.get_running_loop()
        while True:
            self._wake.clear()
            self._allow(loop.time())
            data = self._next()
            if data is not None:
                self._sent_most = max(self._sent_most, self._sent)
                self._forget()
                await line.send(data)
            if self._is_roomy():
                self._room.set()
            if data is None:
                await self._more(loop)

    async def _more(self, loop: asyncio.AbstractEventLoop) -> None:
        """Returns when there may be something to send: something was given, or the pace allows more."""
        # What waits for the pace is let go by the clock; what waits for a final, when that is late.
        until = max(loop.time(), self._paced_at) + PACE_PIECE_SECONDS if self._sent < self._tape.end else None
        try:
            async with asyncio.timeout_at(until):
                await self._wake.wait()
        except TimeoutError:
            pass

    def _next(self) -> bytes | dict[str, Any] | None:
        """What is to be sent next; None where there is nothing, or it may not be sent yet."""
        mark = self._marks[self._marks_sent] if self._marks_sent < len(self._marks) else None
        if mark is not None and mark.at <= self._sent:
            self._marks_sent += 1
            return mark.message
        unsent = (self._tape.end if mark is None else mark.at) - self._sent
        if unsent > 0:
            allowed = self._limit - self._sent
            if allowed < min(unsent, PACE_PIECE_SECONDS * self._bytes_per_second):
                return None
            frame = self._tape.read(self._sent, min(self._frame_bytes, unsent, allowed))
            self._sent += len(frame)
            return frame
        if not self.is_closed or self._is_close_sent:
            return None
        self._is_close_sent = True
        return {"type": "close"}

    def _allow(self, now: float) -> None:
        """How far it may be sent: so far beyond the last final as is kept, so that all of it can be sent again. Where that is used
        up, as in a long silence, it goes on at the pace of speech, and what is oldest is kept no longer."""
        ahead = int(PACE_AHEAD_SECONDS * self._bytes_per_second)
        kept = max(self._covered, self._origin) + self._replay_bytes_max
        if self._replay_bytes_max == 0:
            self._limit = self._tape.end
        elif self._sent < kept:
            self._limit = kept
            is_recording = self._tape.end - kept > ahead
            self._paced_at = now + (FINAL_WAIT_SECONDS if is_recording else 0)
        elif now > self._paced_at:
            paced = int(PACE * (now - self._paced_at) * self._bytes_per_second)
            self._limit = min(max(self._limit, self._sent) + paced, self._sent + ahead)
            self._paced_at = now

    def _forget(self) -> None:
        """Keeps no more of what was sent than may be sent again."""
        oldest = self._sent - self._replay_bytes_max
        self._tape.trim(oldest - oldest % self._bytes_per_sample)

    def _settle_marks(self, to: int) -> None:
        """Lets go of marks up to a position. A change right there stays: it is behind the audio that was taken, and may not have been
        taken itself."""
        sent, unsent = self._marks[: self._marks_sent], self._marks[self._marks_sent :]
        kept = [mark for mark in sent if mark.at > to or (mark.at == to and mark.is_change)]
        self._changes += [mark for mark in sent if mark.is_change and mark.at < to]
        self._marks = kept + unsent
        self._marks_sent = len(kept)

    def _is_roomy(self) -> bool:
        return self._tape.end - self._sent <= ROOM_BYTES
