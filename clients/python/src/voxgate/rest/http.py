"""How a call is sent, and sent again: blocking, in the thread of whoever runs it. Which calls there are is calls.py."""

import http.client
import json
import socket
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast
from urllib.parse import urlencode, urlsplit

from ..backoff import RETRY_AFTER_SECONDS_MAX, jitter_seconds, retry_after_seconds
from ..errors import APIConnectionError, APITimeoutError, VoxgateError, error_of
from ..options import AnswerInfo, CallOptions, written
from ..settings import Settings
from .multipart import Body, SourceError

Data = TypeVar("Data")

# An answer of more is none of ours.
ANSWER_BYTES_MAX = 268_435_456


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[Data]):
    method: str
    path: str
    read: Callable[[bytes], Data]
    query: Mapping[str, Any] = field(default_factory=dict[str, Any])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    make_body: Callable[[], Body] | None = None
    """Called for each attempt."""
    is_repeatable: bool = True
    takes_tokens: bool = False
    """Whether a client token may do it."""
    options: CallOptions = field(default_factory=CallOptions)


class Exchange(Generic[Data]):
    """One call, with all its attempts. `cancel` may be called from any thread."""

    def __init__(self, settings: Settings, call: Call[Data], secret: str) -> None:
        """`secret`: the credential."""
        self._settings = settings
        self._secret = secret
        self._call = call
        self._timeout = call.options.get("timeout", settings.timeout)
        self._cancelled = threading.Event()
        self._connection: http.client.HTTPConnection | None = None

    def run(self) -> Data:
        """Raises a VoxgateError, or what reading the file raises."""
        call = self._call
        retries_max = call.options.get("retries_max", self._settings.retries_max) if call.is_repeatable else 0
        attempt = 0
        while True:
            try:
                return self._attempt(attempt + 1)
            except VoxgateError as error:
                wait = _wait_seconds(error, attempt) if attempt < retries_max else None
                if wait is None:
                    raise
            attempt += 1
            if self._cancelled.wait(wait):
                raise _cancelled()

    def cancel(self) -> None:
        """Ends it at once, whatever it waits for: its answer is nobody's any more."""
        self._cancelled.set()
        sock: socket.socket | None = getattr(self._connection, "sock", None)
        if sock is not None:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def _attempt(self, attempts: int) -> Data:
        call = self._call
        body = None if call.make_body is None else call.make_body()
        answer = self._exchange(body)
        request_id = answer.headers.get("x-request-id")
        if not 200 <= answer.status < 300:
            raise _refusal_of(answer, request_id)
        try:
            data = call.read(answer.content)
        except ValueError as cause:
            raise APIConnectionError(
                "The answer is not what a gateway answers: is this URL one of Voxgate?",
                code="bad_answer",
                status=answer.status,
                request_id=request_id,
            ) from cause
        on_answer = call.options.get("on_answer")
        if on_answer is not None:
            warnings = (each.split(";")[0].strip() for each in answer.headers.get("voxgate-warning", "").split(","))
            on_answer(AnswerInfo(answer.status, request_id, tuple(filter(None, warnings)), attempts, answer.headers))
        return data

    def _exchange(self, body: Body | None) -> Answer:
        call = self._call
        connection = self._connection = self._connect()
        if self._cancelled.is_set():
            raise _cancelled()
        base = urlsplit(self._settings.base_url).path
        query = urlencode({name: written(value) for name, value in call.query.items() if value is not None})
        headers = {"Authorization": f"Bearer {self._secret}", "User-Agent": "voxgate-python", **call.headers}
        pieces: Iterable[bytes] | None = None
        if body is not None:
            pieces = body.pieces
            headers["Content-Type"] = body.content_type
            if body.length is not None:
                headers["Content-Length"] = str(body.length)
            else:
                headers["Transfer-Encoding"] = "chunked"
        try:
            # A gateway that refuses an upload closes before it has read all: its answer is there to be read nevertheless.
            with suppress(BrokenPipeError, ConnectionResetError):
                target = f"{base}{call.path}{'?' if query else ''}{query}"
                is_chunked = body is not None and body.length is None
                connection.request(call.method, target, pieces, headers, encode_chunked=is_chunked)
            response = connection.getresponse()
            content = response.read(ANSWER_BYTES_MAX + 1)
            if len(content) > ANSWER_BYTES_MAX:
                raise APIConnectionError(f"The answer has more than {ANSWER_BYTES_MAX:,} bytes.", code="bad_answer")
            return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, content)
        except SourceError as error:
            raise (error.__cause__ or error) from None
        except TimeoutError as cause:
            raise APITimeoutError("Nothing came in time. `timeout` says how long to wait.", code="timeout") from cause
        except (OSError, http.client.HTTPException) as cause:
            raise APIConnectionError(
                "The gateway could not be reached, or the connection broke; the cause says why.", code="connection_failed"
            ) from cause
        finally:
            connection.close()

    def _connect(self) -> http.client.HTTPConnection:
        parts = urlsplit(self._settings.base_url)
        host = parts.hostname or ""
        if parts.scheme == "http":
            return http.client.HTTPConnection(host, parts.port, timeout=self._timeout)
        context = self._settings.ssl_context
        return http.client.HTTPSConnection(host, parts.port, timeout=self._timeout, context=context)


def json_body(value: Any) -> Callable[[], Body]:
    content = json.dumps(value).encode()
    return lambda: Body((content,), len(content), "application/json")


def _refusal_of(answer: Answer, request_id: str | None) -> VoxgateError:
    body: Any = None
    # What is no JSON is a proxy's page: the status says what there is to say.
    with suppress(ValueError):
        body = json.loads(answer.content)
    retry_after = retry_after_seconds(answer.headers.get("retry-after"))
    error: Any = cast(dict[str, Any], body).get("error") if isinstance(body, dict) else None
    return error_of(error, status=answer.status, request_id=request_id, retry_after_seconds=retry_after)


def _wait_seconds(error: VoxgateError, attempt: int) -> float | None:
    """Seconds until the next attempt; None where there is to be none."""
    if not _is_worth_repeating(error):
        return None
    seconds = error.retry_after_seconds
    if seconds is None:
        return jitter_seconds(attempt + 1)
    return None if seconds > RETRY_AFTER_SECONDS_MAX else seconds + jitter_seconds(0)


def _is_worth_repeating(error: VoxgateError) -> bool:
    """409 is worth it only where the gateway says when: then the first request of the key is still worked on."""
    if error.status is None:
        return error.code in ("connection_failed", "timeout")
    if error.status == 409:
        return error.retry_after_seconds is not None
    return error.status in (408, 429) or error.status >= 500


def _cancelled() -> APIConnectionError:
    return APIConnectionError("The call was cancelled.", code="cancelled")
