"""Whether a session can be gone on with whose connection broke, and what a connection says to do so. Pure; link.py connects."""

from urllib.parse import urlencode

from ...types.events import SessionStarted
from .reconnect import is_lost

# Parameters of a URL, and close codes, by which a gateway says that it does not go on with a session, or cannot at all.
_PARAMETERS = ("resume", "last_seq", "heard_seconds")
_REFUSED_CODES = (4000, 4004)


class Resumption:
    def __init__(self, is_offered: bool) -> None:
        """`is_offered`: whether sessions are to wait for this client at all."""
        self._is_offered = is_offered
        self._token: str | None = None
        # Number of the last event of the session, of kinds that this version does not know as well.
        self._last_seq = 0

    @property
    def is_waiting(self) -> bool:
        """Whether a session waits for this client."""
        return self._token is not None

    def began(self, event: SessionStarted) -> None:
        """Another session is open."""
        self._token = event.resume_token
        self._last_seq = 0

    def heard(self, seq: int) -> None:
        """An event of the session."""
        self._last_seq = max(self._last_seq, seq)

    def drop(self) -> None:
        """The session is not to be gone on with."""
        self._token = None

    def closed(self, close_code: int, has_ended: bool) -> None:
        """The open connection closed: a session that the gateway itself ended waits for nobody."""
        if has_ended or not is_lost(close_code):
            self.drop()

    def refused(self, close_code: int, param: str | None) -> bool:
        """A connection was refused for this parameter. Whether the next one asks for less, and is worth trying at once."""
        if not self._is_offered or close_code not in _REFUSED_CODES or param not in _PARAMETERS:
            return False
        if self._token is None:
            self._is_offered = False
        self.drop()
        return True

    def query(self, query: str, heard_seconds: float, anew: bool) -> str:
        """What the next connection asks for. `query`: what a new session is asked for with; `heard_seconds`: where the last final
        ended, of the session that waits; `anew`: whether a new session is to be opened where that is gone."""
        if not self._is_offered:
            return query
        if self._token is None:
            return f"{query}&resume=on"
        words = {"resume": self._token, "last_seq": self._last_seq, "heard_seconds": f"{heard_seconds:.6f}"}
        return f"{query}&{urlencode(words)}" if anew else urlencode(words)
