"""What goes wrong, as one family of errors: a class for each `error.type`, the same whether it came as an HTTP answer, as a live
event with its close code, or from this side."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .types.answers import ErrorType

__all__ = [
    "APIConnectionError",
    "APITimeoutError",
    "Attempt",
    "AuthenticationError",
    "InsufficientCreditError",
    "InvalidRequestError",
    "NotFoundError",
    "PermissionDeniedError",
    "RateLimitError",
    "ServerError",
    "UpstreamError",
    "VoxgateError",
]


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt at a model that gave no result."""

    model: str
    reason: str


class VoxgateError(Exception):
    """Every error of this client. What else is raised comes from your own code: `get_token`, or a source of audio."""

    code: str
    """For programs. The gateway's are in docs/reference/errors.md. Those of this side: `invalid_option`,
    `connection_failed`, `connection_lost`, `bad_answer`, `timeout`, `token_unavailable`, `event_queue_full`,
    `send_queue_full`, `too_many_changes`, `session_over`."""
    type: ErrorType | None
    """The gateway's word for the family; None for errors of this side."""
    status: int | None
    """HTTP status, where there was an HTTP answer."""
    close_code: int | None
    """Close code, where a live session ended by it: 40xx do not retry, 41xx back off, 42xx reconnect."""
    param: str | None
    """The field at fault."""
    request_id: str | None
    """Quote it when you ask about a failure."""
    retry_after_seconds: float | None
    """What the gateway said in `Retry-After`."""
    details: tuple[Attempt, ...]
    """The attempts at models, when several failed."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        type: ErrorType | None = None,
        status: int | None = None,
        close_code: int | None = None,
        param: str | None = None,
        request_id: str | None = None,
        retry_after_seconds: float | None = None,
        details: tuple[Attempt, ...] = (),
    ) -> None:
        super().__init__(message)
        self.code = code
        self.type = type
        self.status = status
        self.close_code = close_code
        self.param = param
        self.request_id = request_id
        self.retry_after_seconds = retry_after_seconds
        self.details = details


class AuthenticationError(VoxgateError):
    """The credential is missing, wrong, expired or revoked."""


class PermissionDeniedError(VoxgateError):
    """The credential is good, and may not do this."""


class InsufficientCreditError(VoxgateError):
    """No credit is left."""


class RateLimitError(VoxgateError):
    """Too many requests or sessions; `retry_after_seconds` says when to come back."""


class InvalidRequestError(VoxgateError):
    """A value is wrong: `param` names it."""


class NotFoundError(InvalidRequestError):
    """There is no such model or object."""


class UpstreamError(VoxgateError):
    """The provider failed; `details` lists every attempt."""


class ServerError(VoxgateError):
    """The gateway failed, or has no room."""


class APIConnectionError(VoxgateError):
    """The gateway could not be reached, or the connection broke; the cause says why."""


class APITimeoutError(APIConnectionError):
    """Nothing came within the time of `timeout`, or of `connect_timeout`."""


_CLASSES: Mapping[str, type[VoxgateError]] = {
    "invalid_request_error": InvalidRequestError,
    "authentication_error": AuthenticationError,
    "permission_error": PermissionDeniedError,
    "billing_error": InsufficientCreditError,
    "rate_limit_error": RateLimitError,
    "upstream_error": UpstreamError,
    "server_error": ServerError,
}
_BY_STATUS: Mapping[int, type[VoxgateError]] = {
    401: AuthenticationError,
    402: InsufficientCreditError,
    403: PermissionDeniedError,
    429: RateLimitError,
}


def error_of(
    body: object,
    *,
    status: int | None = None,
    close_code: int | None = None,
    request_id: str | None = None,
    retry_after_seconds: float | None = None,
) -> VoxgateError:
    """The error for an error object of the gateway (`body.error`, or an event's `error`), whatever it turns out to be."""
    error: Mapping[str, Any] = body if isinstance(body, dict) else {}
    kind: Any = _text_of(error.get("type"))
    cls = _CLASSES.get(kind or "")
    if status == 404 or close_code == 4004:
        chosen: type[VoxgateError] = NotFoundError
    else:
        chosen = cls or _class_by(status)
    said = f"HTTP {status}" if status is not None else f"close code {close_code}"
    return chosen(
        _text_of(error.get("message")) or f"The gateway answered with {said} and no reason.",
        code=_text_of(error.get("code")) or "bad_answer",
        type=kind if cls is not None else None,
        status=status,
        close_code=close_code,
        param=_text_of(error.get("param")),
        request_id=_text_of(error.get("request_id")) or request_id,
        retry_after_seconds=retry_after_seconds,
        details=_details_of(error.get("details")),
    )


def invalid_option(param: str, message: str) -> InvalidRequestError:
    """The error of this side for a wrong option."""
    return InvalidRequestError(message, code="invalid_option", param=param)


def _class_by(status: int | None) -> type[VoxgateError]:
    """For an answer without a type of ours: a proxy's, say."""
    usual = InvalidRequestError if status is not None and status < 500 else ServerError
    return _BY_STATUS.get(status or 0, usual)


def _text_of(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _details_of(value: Any) -> tuple[Attempt, ...]:
    rows: list[Any] = value if isinstance(value, list) else []
    return tuple(Attempt(str(row.get("model")), str(row.get("reason"))) for row in rows if isinstance(row, dict))
