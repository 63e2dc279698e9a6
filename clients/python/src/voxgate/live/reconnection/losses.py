"""What a connection was lost by: as events say it, as an error, and whether to try again."""

from dataclasses import dataclass

from ...errors import APIConnectionError, APITimeoutError, VoxgateError, error_of
from ...types.events import ErrorEvent
from ..connection import Ending
from .reconnect import Advice, advice_of

# The reason of an ending on this side: the session was not open in time.
CONNECT_TIMEOUT = "connect_timeout"
# HTTP statuses of a handshake that another attempt may mend.
_PASSING = (408, 425, 429)


@dataclass(frozen=True, slots=True)
class Loss:
    """Why a connection ended that was not to end."""

    reason: str
    """As events say it."""
    advice: Advice
    error: VoxgateError


def loss_of(ending: Ending, told: ErrorEvent | None) -> Loss:
    """`told`: what the gateway said before it."""
    advice = _advice_for(ending)
    if told is not None:
        return Loss(told.error.code, advice, _error_of(told, ending.code))
    reason = f"close_{ending.code}" if ending.status is None else f"http_{ending.status}"
    return Loss(reason, advice, _lost(ending))


def _advice_for(ending: Ending) -> Advice:
    """What the ending tells a client to do."""
    is_refused = ending.status is not None and 400 <= ending.status < 500 and ending.status not in _PASSING
    return "stop" if is_refused else advice_of(ending.code)


def _lost(ending: Ending) -> VoxgateError:
    """A close without a word of the gateway before it."""
    if ending.reason == CONNECT_TIMEOUT:
        return APITimeoutError("The gateway did not open the session in time.", code="timeout", close_code=ending.code)
    if ending.status is not None:
        return error_of(None, status=ending.status)
    said = "" if ending.cause is None else f": {ending.cause}"
    error = APIConnectionError(
        f"The connection was lost with close code {ending.code}{said}.", code="connection_lost", close_code=ending.code
    )
    error.__cause__ = ending.cause
    return error


def _error_of(event: ErrorEvent, close_code: int) -> VoxgateError:
    error = event.error
    details = [{"model": each.model, "reason": each.reason} for each in error.details or ()]
    body = {"type": error.type, "code": error.code, "message": error.message, "param": error.param, "details": details}
    return error_of(body, close_code=close_code, request_id=error.request_id)
