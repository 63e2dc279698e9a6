"""Whether, and when, a live session that broke is opened again: by the range of the close code, with full jitter, within a number
of attempts and a time. The waiting is done by link.py."""

from typing import Literal

from ...backoff import FIRST_SECONDS, MAX_SECONDS, jitter_seconds
from ...options import Reconnect

Advice = Literal["stop", "back_off", "at_once"]

# Closes without a word of the gateway: the network, or a proxy that restarts.
_LOST_CODES = (1000, 1001, 1005, 1006, 1012, 1013, 1014, 1015)


def is_lost(close_code: int) -> bool:
    """Whether nobody ended the session that the connection had."""
    return close_code in _LOST_CODES


def advice_of(close_code: int) -> Advice:
    """What a close code tells a client to do."""
    if 4200 <= close_code <= 4299:
        return "at_once"
    if 4100 <= close_code <= 4199 or is_lost(close_code):
        return "back_off"
    return "stop"


class Retries:
    """Counts the attempts since there was progress."""

    def __init__(self, options: Reconnect) -> None:
        self._options = options
        self._since: float | None = None
        self.attempts = 0

    def next(self, advice: Advice, now: float) -> float | None:
        """Seconds to wait before the next attempt; None where there is to be none."""
        if advice == "stop" or self.attempts >= self._options.attempts_max:
            return None
        if self._since is None:
            self._since = now
        # A node that drains is left at once; that there is no other shows in the second attempt.
        wait = 0.0 if advice == "at_once" and self.attempts == 0 else self._jitter()
        if now + wait - self._since > self._options.total_seconds:
            return None
        self.attempts += 1
        return wait

    def _jitter(self) -> float:
        """Half of the longest wait is its least: else bad luck would spend the attempts in a moment."""
        drawn = jitter_seconds(self.attempts)
        return (MAX_SECONDS + drawn) / 2 if FIRST_SECONDS * 2 ** min(self.attempts, 16) >= MAX_SECONDS else drawn

    def reset(self) -> None:
        """There was progress: the count begins anew."""
        self.attempts = 0
        self._since = None
