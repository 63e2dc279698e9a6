"""One WebSocket to `/v1/listen`: frames in and out. The credential goes by the subprotocol pair, so that a refusal arrives as an
event with a close code. When to open another is decided by link.py."""

import json
import logging
import ssl
from dataclasses import dataclass
from typing import Any

import websockets
from websockets.exceptions import ConnectionClosed, WebSocketException

from ..errors import APIConnectionError
from ..events import event_of
from ..types.events import EventHead

# What a WebSocket fails with while it is made.
DIAL_ERRORS = (OSError, WebSocketException)

# A gateway pings every 15 s as well. A peer that is gone is noticed after both of these.
_PING_SECONDS = 15
_PONG_SECONDS = 30
_CLOSE_SECONDS = 1
# An event of more is none of ours.
_EVENT_BYTES_MAX = 16_777_216
_LOGGER = logging.getLogger("voxgate.socket")
# With less, the library writes the headers of the handshake, and so the credential.
_LOGGER.setLevel(logging.INFO)
# Its asyncio client has one name in all versions; what it can be told differs in what is not used here.
_connect: Any = getattr(websockets, "connect")


@dataclass(frozen=True, slots=True)
class Ending:
    """How a connection ended."""

    code: int
    """Close code: 1006 where there was none."""
    reason: str = ""
    status: int | None = None
    """HTTP status, where the handshake was refused."""
    cause: Exception | None = None


class Connection:
    def __init__(self, socket: Any) -> None:
        self._socket = socket

    async def send(self, data: bytes | dict[str, Any]) -> None:
        """Returns when the socket has room for more; at once where it is over, as the reader hears."""
        try:
            await self._socket.send(data if isinstance(data, bytes) else json.dumps(data))
        except ConnectionClosed:
            pass

    async def close(self, code: int = 1000) -> None:
        await self._socket.close(code)

    async def next(self) -> EventHead | None:
        """An event of any kind. None at the end of the connection, whatever that is: `ending` says."""
        try:
            while True:
                event = _read(await self._socket.recv())
                if event is not None:
                    return event
        except ConnectionClosed:
            return None

    @property
    def ending(self) -> Ending:
        return Ending(self._socket.close_code or 1006, self._socket.close_reason or "")


async def dial(url: str, credential: str, context: ssl.SSLContext | None) -> Connection:
    """Raises one of the DIAL_ERRORS."""
    more = {} if context is None or not url.startswith("wss:") else {"ssl": context}
    dialling = _connect(
        url,
        subprotocols=["bearer", credential],
        compression=None,
        max_size=_EVENT_BYTES_MAX,
        open_timeout=None,
        close_timeout=_CLOSE_SECONDS,
        ping_interval=_PING_SECONDS,
        ping_timeout=_PONG_SECONDS,
        logger=_LOGGER,
        **more,
    )
    # A redirect would carry the credential to somebody else.
    dialling.MAX_REDIRECTS_ALLOWED = 1
    dialling.process_redirect = _as_it_is
    return Connection(await dialling)


def _as_it_is(error: Exception) -> Exception:
    return error


def refused(error: Exception) -> Ending:
    """The ending of a connection that was not made."""
    response = getattr(error, "response", None)
    status = getattr(error, "status_code", getattr(response, "status_code", None))
    return Ending(1006, status=status if isinstance(status, int) else None, cause=error)


def _read(message: Any) -> EventHead | None:
    try:
        return event_of(json.loads(message))
    except ValueError as cause:
        raise APIConnectionError(
            "The gateway said what is no event: is this URL one of Voxgate?", code="bad_answer"
        ) from cause
