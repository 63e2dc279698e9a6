"""What every client is given: the gateway, a key, a model, and audio."""

from dataclasses import dataclass
from typing import Iterator, Optional, TypedDict


class Final(TypedDict, total=False):
    """The final transcript of one turn."""

    text: str
    # Seconds, where the client reports them.
    end: float


@dataclass
class Job:
    url: str
    key: str
    model: str
    sample_rate: int
    last_word_seconds: Optional[float]
    # What the last final contains, for clients that report no times.
    last_word: str
    # Linear16 of a live session, or a WAV file.
    audio: bytes
    chunk_bytes: int

    @property
    def socket_url(self) -> str:
        return self.url.replace("http", "ws", 1)

    @property
    def chunks(self) -> Iterator[bytes]:
        return (self.audio[at : at + self.chunk_bytes] for at in range(0, len(self.audio), self.chunk_bytes))

    @property
    def last_word_end(self) -> float:
        """Seconds at which the last word has ended, less what is rounded."""
        audio_seconds = len(self.audio) / 2 / self.sample_rate
        return (self.last_word_seconds or audio_seconds) - 0.05
