"""When to try again: full jitter between nothing and a bound that doubles, and what `Retry-After` says."""

import random
import time
from email.utils import parsedate_to_datetime

FIRST_SECONDS = 0.25
MAX_SECONDS = 10.0
# A `Retry-After` of more is for the caller to wait for.
RETRY_AFTER_SECONDS_MAX = 60.0


def jitter_seconds(attempt: int) -> float:
    """Seconds before attempt `attempt` (from 0): anything from 0 to 0.25, 0.5, 1 … 10."""
    return random.random() * min(MAX_SECONDS, FIRST_SECONDS * 2 ** min(attempt, 16))


def retry_after_seconds(header: str | None) -> float | None:
    """Seconds of a `Retry-After` header: a number, or a date. None where there is none that can be read."""
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except ValueError:
        return None
