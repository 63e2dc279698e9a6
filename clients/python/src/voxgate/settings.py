"""What a client is made with: read once, checked, completed with defaults; and the credential of the next request or connection.
A credential goes into a header or a subprotocol, never into a URL, an error or a log."""

import inspect
import os
import re
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, NotRequired, TypedDict, cast
from urllib.parse import urlsplit

from .errors import APIConnectionError, AuthenticationError, VoxgateError, invalid_option
from .options import number_of
from .threads import in_thread
from .types.answers import Token

# A token with less left may end before the handshake is judged.
REMAINING_SECONDS_MIN = 5
_CREDENTIAL = re.compile(r"[\w.~+/=-]+", re.ASCII)


class TokenGrant(TypedDict):
    """The answer of `POST /v1/tokens` as it is."""

    token: str
    expires_at: NotRequired[str]
    """ISO 8601."""
    ttl_seconds: NotRequired[float]
    """Seconds from now on; counts more than `expires_at`, which a wrong clock makes useless."""


# Gives a fresh client token from your own server: a function, which is called in a thread, or a coroutine function.
GetToken = Callable[[], "str | TokenGrant | Token | Awaitable[str | TokenGrant | Token]"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    base_url: str
    """Without a slash at its end."""
    timeout: float
    retries_max: int
    ssl_context: ssl.SSLContext | None
    secret: str | None = field(repr=False)
    is_token: bool
    get_token: GetToken | None

    def for_request(self) -> str:
        """The credential of a REST request."""
        if self.secret is not None and not self.is_token:
            return self.secret
        raise AuthenticationError(
            "A client token opens live sessions and uploads files. Call this on your server, with `api_key`.",
            code="token_not_allowed",
        )

    async def for_connection(self) -> str:
        """The credential of a connection. Raises what `get_token` raised as the cause of an error that may be tried again."""
        if self.get_token is None:
            return self.secret or ""
        grant = await _granted(self.get_token)
        return (await _granted(self.get_token) if _is_ending(grant) else grant)["token"]


def settings_of(
    api_key: str | None,
    token: str | None,
    get_token: GetToken | None,
    base_url: str,
    timeout: float,
    retries_max: int,
    ssl_context: ssl.SSLContext | None,
) -> Settings:
    """Raises an InvalidRequestError that names the option."""
    if sum(each is not None for each in (api_key, token, get_token)) > 1:
        raise invalid_option("api_key", "Give one of `api_key`, `token` and `get_token`, not several.")
    if get_token is not None and not callable(get_token):
        raise invalid_option("get_token", "`get_token` is a function that gives a client token.")
    if get_token is None and token is None and api_key is None:
        api_key = os.environ.get("VOXGATE_KEY")
        if api_key is None:
            raise invalid_option("api_key", "Give `api_key` on a server, and `token` or `get_token` on a device.")
    secret = token if token is not None else api_key
    if secret is not None and _CREDENTIAL.fullmatch(secret) is None:
        name = "token" if token is not None else "api_key"
        raise invalid_option(name, f"`{name}` is not a credential: it has characters that none has, or is empty.")
    return Settings(
        base_url=_base_url_of(base_url),
        timeout=number_of("timeout", timeout, 0.001, 3_600),
        retries_max=number_of("retries_max", retries_max, 0, 10, whole=True),
        ssl_context=ssl_context,
        secret=secret,
        is_token=token is not None,
        get_token=get_token,
    )


def _base_url_of(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment or parts.username:
        raise invalid_option("base_url", "`base_url` is where the gateway is, as `https://voxgate.example.com`.")
    # OpenAI's clients are given the URL with `/v1`: both are understood.
    return url.rstrip("/").removesuffix("/v1")


async def _granted(get_token: GetToken) -> TokenGrant:
    try:
        answer: Any
        if inspect.iscoroutinefunction(get_token):
            answer = await get_token()
        else:
            answer = await in_thread(get_token)
            if inspect.isawaitable(answer):
                answer = await answer
    except VoxgateError:
        # What an error of ours says about trying again holds.
        raise
    except Exception as cause:
        raise APIConnectionError("`get_token` failed; its error is the cause.", code="token_unavailable") from cause
    if isinstance(answer, Token):
        answer = {"token": answer.token, "ttl_seconds": answer.ttl_seconds}
    grant: Any = {"token": answer} if isinstance(answer, str) else answer
    if isinstance(grant, dict) and _CREDENTIAL.fullmatch(str(grant.get("token", ""))) is not None:
        return cast(TokenGrant, grant)
    raise AuthenticationError(
        "`get_token` gave no token: it gives a string, or what `tokens.create` gives.", code="token_unavailable"
    )


def _is_ending(grant: TokenGrant) -> bool:
    if "ttl_seconds" in grant:
        return grant["ttl_seconds"] < REMAINING_SECONDS_MIN
    try:
        ends_at = datetime.fromisoformat(grant.get("expires_at", ""))
    except ValueError:
        return False
    if ends_at.tzinfo is None:
        ends_at = ends_at.replace(tzinfo=timezone.utc)
    return (ends_at - datetime.now(timezone.utc)).total_seconds() < REMAINING_SECONDS_MIN
