"""Whether a connection took a session further, so that its loss is not one more failed attempt. A final always does; this is about
connections that brought none."""

from ...events import ServerEvent
from ...types.events import Failover, WarningEvent

# A connection that was cut after so long did not fail to be made.
_STABLE_SECONDS = 30


class Progress:
    def __init__(self, total_seconds: float) -> None:
        """`total_seconds`: time without progress after which a session is given up."""
        self._total_seconds = total_seconds
        self._opened_at: float | None = None
        # Since when the gateway waits for a provider.
        self._waiting_since: float | None = None
        # Where the session begins, and the furthest that any connection took audio, in samples.
        self._origin = 0
        self._taken = 0.0
        self._took_more = False

    def begin(self) -> None:
        """A connection is dialled."""
        self._opened_at = None
        self._waiting_since = None
        self._took_more = False

    def opened(self, now: float) -> None:
        """Its session is there."""
        self._opened_at = now

    def began(self, origin_sample: int) -> None:
        """It is a new session, which begins here."""
        self._origin = origin_sample

    def took(self, samples: float) -> None:
        """The gateway has so much of what the session was sent. Audio that is sent again is no progress."""
        position = self._origin + samples
        self._took_more = self._took_more or position > self._taken
        self._taken = max(self._taken, position)

    def heard(self, event: ServerEvent, now: float) -> None:
        """An event that says whether the gateway waits for a provider."""
        code = event.code if isinstance(event, WarningEvent) else None
        if code == "upstream_waiting":
            self._waiting_since = now if self._waiting_since is None else self._waiting_since
        elif code == "upstream_reconnected" or isinstance(event, Failover):
            if self._waiting_since is not None:
                self._opened_at = now
            self._waiting_since = None

    def is_made(self, is_cut: bool, now: float) -> bool:
        """Whether the connection that is over made any. A gateway takes audio for a provider that cannot be reached, and ends the
        session: neither the audio nor the time of that session counts. `is_cut`: the connection was lost, and the session did not end."""
        if self._opened_at is None:
            return False
        if is_cut and self._took_more and self._waiting_since is None:
            return True
        held = (now if self._waiting_since is None else self._waiting_since) - self._opened_at
        return held >= (_STABLE_SECONDS if is_cut else max(_STABLE_SECONDS, self._total_seconds))
