"""What the cases share: where the gateway is, clients of it, and servers that fail on demand. The gateway is started by
test/clients/python of the project, which runs these cases."""

import asyncio
import contextlib
import http.server
import json
import os
import struct
import threading
import unittest
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import urlsplit

import websockets

import voxgate

URL = os.environ.get("VOXGATE_TEST_URL", "")
KEY = os.environ.get("VOXGATE_TEST_KEY", "")
ROOT = Path(os.environ.get("VOXGATE_TEST_ROOT", ""))
AUDIO = ROOT / "test/fixtures/audio"
RATE = 16_000
NUMBERED = {"model": "loopback/numbered", "provider_params": {"turn_seconds": 0.5, "interim_seconds": 0.1}}

_ROUND = struct.pack("<65536H", *range(65_536))

if not URL:
    raise unittest.SkipTest("These cases need a gateway: test/clients/python of the project starts one.")


class Case(unittest.IsolatedAsyncioTestCase):
    """Waits are drawn from nothing to a bound: here always nothing."""

    def setUp(self) -> None:
        dice = mock.patch("voxgate.backoff.random.random", return_value=0.0)
        dice.start()
        self.addCleanup(dice.stop)

    def client(self, url: str = URL, **options: Any) -> voxgate.AsyncVoxgate:
        made = voxgate.AsyncVoxgate(**{"api_key": KEY, "base_url": url, **options})
        self.addAsyncCleanup(made.close)
        return made

    def assert_whole(self, finals: list[voxgate.Transcript], samples: int) -> None:
        """The finals together cover [0, samples) exactly once; turns count from 0 without a gap."""
        at = 0
        for index, final in enumerate(finals):
            start, end = round(final.start * RATE), round(final.end * RATE)
            # The leg counts on from the first number it heard: the text names the start modulo 65,536 and the exact length.
            first = start & 0xFFFF
            self.assertEqual((final.turn, start, final.text), (index, at, f"{first}-{first + end - start}"))
            at = end
        self.assertEqual(at, samples)

    def assert_one_session(self, events: list[Any], samples: int) -> None:
        """What every consumer may rely on, whatever happened to the connections."""
        self.assertEqual([event.seq for event in events], list(range(1, len(events) + 1)))
        self.assertEqual([each.type for each in events].count("session_started"), 1)
        self.assertEqual(events[0].type, "session_started")
        self.assertEqual((events[-1].type, events[-1].audio_seconds), ("session_ended", round(samples / RATE, 6)))
        self.assertEqual(of(events, "error", "discontinuity"), [])
        self.assert_whole([each for each in of(events, "transcript") if each.is_final], samples)
        ended: set[int] = set()
        for event in of(events, "transcript"):
            self.assertNotIn(event.turn, ended)
            if event.is_final:
                ended.add(event.turn)


def of(events: list[Any], *types: str) -> list[Any]:
    return [event for event in events if event.type in types]


def numbered(start: int, end: int) -> bytes:
    """Samples [start, end) of audio in which each sample is its own position, modulo 65,536."""
    rounds = (end >> 16) - (start >> 16) + 1
    first = start & 0xFFFF
    return (_ROUND * rounds)[2 * first : 2 * (first + end - start)]


async def events_of(session: voxgate.AsyncLiveSession) -> list[Any]:
    return [event async for event in session]


@dataclass
class Cut:
    """When and how a connection ends: after so many bytes of audio, or so many events, or in front of one of a kind, whichever comes
    first."""

    code: int
    """1006: the socket is dropped."""
    audio_bytes: float = float("inf")
    events: float = float("inf")
    before: str | None = None
    ends_session: bool = False
    """The gateway is told that the client has left: its session waits for nobody."""
    error: str | None = None
    """The error code to tell in an event before it, with a discontinuity and the end of the session, as the gateway does."""


@dataclass
class CuttingProxy:
    """A WebSocket proxy in front of the gateway that ends connections as a network, a node or a provider would."""

    cuts: list[Cut] = field(default_factory=list)
    """For the connections to come, in their order; those behind the last are not cut."""
    paths: list[str] = field(default_factory=list)
    credentials: list[str] = field(default_factory=list)
    made: int = 0
    url: str = ""

    async def __aenter__(self) -> "CuttingProxy":
        self._server = await websockets.serve(
            self._relay, "127.0.0.1", 0, select_subprotocol=lambda *_: "bearer", max_size=None, ping_interval=None
        )
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: Any) -> None:
        self._server.close()
        await self._server.wait_closed()

    async def _relay(self, client: Any) -> None:
        cut = self.cuts.pop(0) if self.cuts else None
        credential = client.request_headers["Sec-WebSocket-Protocol"].split(", ")[1]
        self.paths.append(client.path)
        self.credentials.append(credential)
        url = f"{URL.replace('http', 'ws')}{client.path}"
        async with websockets.connect(url, subprotocols=["bearer", credential], close_timeout=1) as gateway:
            counts = {"audio": 0, "events": 0, "before": 0}

            def is_due() -> bool:
                if cut is None:
                    return False
                return counts["audio"] >= cut.audio_bytes or counts["events"] >= cut.events or counts["before"] > 0

            async def forward() -> None:
                async for message in client:
                    counts["audio"] += len(message) if isinstance(message, bytes) else 0
                    await gateway.send(message)
                    if is_due():
                        return

            async def back() -> None:
                async for message in gateway:
                    counts["before"] += cut is not None and json.loads(message)["type"] == cut.before
                    if is_due():
                        return
                    await client.send(message)
                    counts["events"] += 1
                    if is_due():
                        return

            ways = [asyncio.ensure_future(forward()), asyncio.ensure_future(back())]
            if not is_due():
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            is_cut = is_due()
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            if is_cut and cut is not None:
                self.made += 1
                # Where it is over by now, closing it fails.
                with contextlib.suppress(websockets.ConnectionClosed):
                    await gateway.close(1000 if cut.ends_session else 3000)
                await _end(client, cut)
            else:
                await gateway.wait_closed()
                await client.close(1011 if gateway.close_code == 1006 else gateway.close_code)


async def _end(client: Any, cut: Cut) -> None:
    if cut.code == 1006:
        client.transport.abort()
        return
    if cut.error is not None:
        error = {"type": "upstream_error", "code": cut.error, "message": "It ended.", "param": None, "request_id": "req_x"}
        ended = {"reason": "error", "audio_seconds": 0, "usage": [], "cost_usd": "0.00"}
        for event in (
            said("discontinuity", **{"from": 0, "to": 1}, reason=cut.error),
            said("error", error=error),
            said("session_ended", **ended),
        ):
            await client.send(event)
    await client.close(cut.code, cut.error or "")


def said(kind: str, **fields: Any) -> str:
    """An event as a gateway writes it."""
    return json.dumps({"type": kind, "session_id": "ses_x", "seq": 1, "at": "2026-01-01T00:00:00.000Z", **fields})


def started(**fields: Any) -> str:
    limits = {
        "idle_seconds": 600,
        "suspend_seconds": 20,
        "session_seconds": 14_400,
        "binary_frame_bytes": 65_536,
        "text_frame_bytes": 65_536,
    }
    known = {"request_id": "req_x", "model": "m", "sample_rate": RATE, "encoding": "linear16", "fallbacks": [], "chain": []}
    return said("session_started", **{**known, "resume_token": None, "limits": limits, **fields})


def scripted_socket(handler: Callable[[Any], Any]) -> Any:
    """A WebSocket server whose every connection is the handler's."""
    return websockets.serve(handler, "127.0.0.1", 0, select_subprotocol=lambda *_: "bearer", close_timeout=1)


def url_of(server: Any) -> str:
    return f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@dataclass
class Arrived:
    path: str
    headers: dict[str, str]
    body: bytes


# An answer: status, headers, body. None: the connection breaks instead.
Scripted = tuple[int, dict[str, str], str] | None


class ScriptedHttp:
    """An HTTP server that answers from a list: each request takes the next answer, and the last one is for all that follow."""

    def __init__(self, *answers: Scripted) -> None:
        self.answers = list(answers)
        self.arrived: list[Arrived] = []
        self.has_arrived = threading.Event()
        """Answers wait for nothing; one that has a status of 0 never comes."""
        self._released = threading.Event()
        script = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                script.answer(self)

            do_GET = do_POST

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> "ScriptedHttp":
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._released.set()
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request: http.server.BaseHTTPRequestHandler) -> None:
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.arrived.append(Arrived(urlsplit(request.path).path, headers, self._body_of(request, headers)))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        self.has_arrived.set()
        request.close_connection = True
        if answer is None:
            return
        status, more, body = answer
        if status == 0:
            self._released.wait()
            return
        request.send_response(status)
        for name, value in {"X-Request-Id": "req_1", "Content-Length": str(len(body.encode())), **more}.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(body.encode())

    @staticmethod
    def _body_of(request: http.server.BaseHTTPRequestHandler, headers: dict[str, str]) -> bytes:
        if "content-length" in headers:
            return request.rfile.read(int(headers["content-length"]))
        if "transfer-encoding" not in headers:
            return b""
        body = b""
        while size := int(request.rfile.readline(), 16):
            body += request.rfile.read(size)
            request.rfile.readline()
        request.rfile.readline()
        return body


def refusal(status: int, kind: str, code: str, **headers: str) -> Scripted:
    error = {"type": kind, "code": code, "message": f"It is {code}.", "param": "model", "request_id": "req_2", "details": []}
    return status, {name.replace("_", "-"): value for name, value in headers.items()}, json.dumps({"error": error})
