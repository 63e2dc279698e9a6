"""Audio of a live session from the end of the last final on, so that a broken connection loses none of it. Pure: what is kept and
for how long is decided by outgoing.py."""


class AudioTape:
    """Bytes by their position in the session's audio. Appending copies, so callers may use their buffer again."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self.start = 0
        """Position of the first byte that is still there."""

    @property
    def end(self) -> int:
        """Position behind the last byte."""
        return self.start + len(self._bytes)

    def append(self, data: bytes | bytearray | memoryview) -> None:
        self._bytes += data

    def read(self, at: int, bytes_max: int) -> bytes:
        """At most so many bytes from a position on."""
        return bytes(memoryview(self._bytes)[at - self.start : at - self.start + bytes_max])

    def trim(self, to: int) -> None:
        """Lets go of what lies before a position."""
        count = min(to, self.end) - self.start
        if count > 0:
            del self._bytes[:count]
            self.start += count
