"""The options of `listen`, checked, and as the query that the gateway reads."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from ..errors import invalid_option
from ..options import (
    MODEL_NAMES,
    ListenOptions,
    Reconnect,
    number_of,
    refuse_unknown,
    slug_of,
    texts_of,
    written,
)

# Half of what a gateway takes of URL and headers together, as long as nobody configures it otherwise.
QUERY_LENGTH_MAX = 4_096

_NAMES = (
    "model",
    "sample_rate",
    "encoding",
    "interim_results",
    "turn_events",
    "return_to_primary",
    "standby",
    "suspend_seconds",
    "latency",
    *MODEL_NAMES,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    query: str
    start: Mapping[str, Any] | None
    """The first message of a connection, where the URL says `start=message`."""
    sample_rate: int
    bytes_per_sample: int
    reconnect: Reconnect
    connect_timeout: float
    events_max: int


def listening_of(model: str, options: Mapping[str, Any]) -> Listening:
    """Raises an InvalidRequestError that names the option."""
    refuse_unknown("listen", options, ListenOptions)
    given: dict[str, Any] = {"model": slug_of(model), **options}
    number_of("sample_rate", given.get("sample_rate", 16_000), 8_000, 48_000, whole=True)
    query, start = _asked(given)
    return Listening(
        query=query,
        start=start,
        sample_rate=given.get("sample_rate", 16_000),
        bytes_per_sample=2 if given.get("encoding", "linear16") == "linear16" else 1,
        reconnect=_reconnect_of(given.get("reconnect")),
        connect_timeout=number_of("connect_timeout", given.get("connect_timeout", 10), 0.1, 120),
        events_max=number_of("events_max", given.get("events_max", 1_024), 16, 100_000, whole=True),
    )


def _asked(given: Mapping[str, Any]) -> tuple[str, Mapping[str, Any] | None]:
    """What stands in the URL, and the first message where that would be longer than servers and proxies take."""
    texts = texts_of(given, _NAMES)
    query = urlencode({name: written(value) for name, value in texts.items()})
    if len(query) <= QUERY_LENGTH_MAX:
        return query, None
    start = {"type": "start", **texts}
    if "provider_params" in texts:
        start["provider_params"] = dict(given["provider_params"])
    return "start=message", start


def _reconnect_of(value: Any) -> Reconnect:
    if value is None:
        return Reconnect()
    if value is False:
        return Reconnect(attempts_max=0, total_seconds=0, replay_seconds_max=0)
    if isinstance(value, Reconnect):
        return value
    raise invalid_option("reconnect", "`reconnect` is a Reconnect, or False.")
