"""Connections that are lost, and gateways that are none, in ways that no gateway plays on demand."""

import asyncio
import contextlib
import http
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any
from unittest import mock

import websockets

import voxgate

from .rig import KEY, NUMBERED, Case, events_of, numbered, said, scripted_socket, started, url_of

ENDED_FIELDS: dict[str, Any] = {"reason": "client_closed", "audio_seconds": 0, "usage": [], "cost_usd": "0.00"}
ENDED = said("session_ended", **ENDED_FIELDS)
ONCE = voxgate.Reconnect(attempts_max=1)


class Lost(Case):
    async def listening(self, handler: Any, **options: Any) -> voxgate.AsyncLiveSession:
        self.connections = 0

        async def counted(socket: Any) -> None:
            self.connections += 1
            await handler(socket)

        server = await self.enterAsyncContext(scripted_socket(counted))
        return self.client(url_of(server)).listen(**{**NUMBERED, **options})

    async def failure_of(self, session: voxgate.AsyncLiveSession) -> voxgate.VoxgateError:
        async with session:
            with self.assertRaises(voxgate.VoxgateError) as raised:
                await session.close()
        return raised.exception

    async def test_ends_a_session_after_session_ended_with_any_close_code(self) -> None:
        for code in (1000, 1001, 1006, 1011, 4200):

            async def handler(socket: Any, code: int = code) -> None:
                await socket.send(started())
                async for message in socket:
                    if isinstance(message, str) and json.loads(message)["type"] == "close":
                        await socket.send(ENDED)
                        if code == 1006:
                            socket.transport.close()
                        await socket.close(1011 if code == 1006 else code)

            async with await self.listening(handler) as session:
                # Without a final for it: the recogniser heard no speech.
                await session.send(bytes(3_200))
                summary = await session.close()
            self.assertEqual((summary.reason, summary.reconnections, self.connections), ("client_closed", 0, 1))

    async def test_gives_the_speakers_of_a_new_session_new_numbers(self) -> None:
        words = {"text": "x", "is_final": True, "turn": 0, "start": 0, "end": 1, "model": "m", "speaker": 0}

        async def handler(socket: Any) -> None:
            await socket.send(started())
            await socket.send(said("transcript", **words))
            if self.connections == 1:
                await socket.close(1012)
            async for _ in socket:
                pass

        told: list[Any] = []
        async with await self.listening(handler) as session:
            await session.send(numbered(0, 32_000))
            async for event in session:
                told.append((event.seq, event.type, getattr(event, "speaker", getattr(event, "first_speaker", None))))
                if len(told) == 6:
                    session.terminate()
        self.assertEqual(
            told,
            [
                (1, "session_started", None),
                (2, "transcript", 0),
                (3, "reconnecting", None),
                (4, "reconnected", None),
                (5, "speakers_restarted", 1),
                (6, "transcript", 1),
            ],
        )

    async def test_gives_up_a_silent_gateway_before_the_session_and_after_its_close(self) -> None:
        async def never(socket: Any) -> None:
            await socket.wait_closed()

        error = await self.failure_of(await self.listening(never, connect_timeout=0.1, reconnect=ONCE))
        self.assertEqual((type(error), error.code, self.connections), (voxgate.APITimeoutError, "timeout", 2))

        async def no_more(socket: Any) -> None:
            await socket.send(started())
            async for _ in socket:
                pass

        with mock.patch("voxgate.live.link.CLOSING_SECONDS", 0.05):
            session = await self.listening(no_more, reconnect=ONCE)
            async with session:
                await session.send(bytes(320))
                with self.assertRaises(voxgate.APIConnectionError) as raised:
                    await session.close()
        self.assertEqual((raised.exception.close_code, self.connections), (1006, 2))

    async def failing(self, after: Callable[[Any, int], Awaitable[None]], warns: bool = True) -> Any:
        """Sessions that take all audio and end without their provider; `after` speaks before the end."""

        async def handler(socket: Any) -> None:
            await socket.send(started())
            if warns:
                await socket.send(said("warning", code="upstream_waiting", message="x", param=None))
            count = 0
            # Each session is sent more than the one before.
            while count < 32_000 * self.connections:
                message = await socket.recv()
                count += len(message) if isinstance(message, bytes) else 0
            await socket.send(said("received", bytes=count))
            await after(socket, count)
            error = {"type": "upstream_error", "code": "upstream_exhausted", "message": "x", "param": None, "request_id": "r"}
            await socket.send(said("error", error=error))
            await socket.send(said("session_ended", **{**ENDED_FIELDS, "reason": "upstream"}))
            await socket.close(4101, "upstream_exhausted")

        return handler

    async def attempts_of(self, handler: Any, attempts_max: int) -> tuple[list[int], list[voxgate.VoxgateError]]:
        session = await self.listening(handler, reconnect=voxgate.Reconnect(attempts_max=attempts_max))
        attempts: list[int] = []
        errors: list[voxgate.VoxgateError] = []
        async with session:

            async def speak() -> None:
                with contextlib.suppress(voxgate.VoxgateError):
                    while True:
                        await session.send(bytes(3_200))

            speaking = asyncio.create_task(speak())
            try:
                async for event in session:
                    if event.type == "reconnecting":
                        attempts.append(event.attempt)
                    if len(attempts) == 6:
                        session.terminate()
            except voxgate.VoxgateError as error:
                errors.append(error)
            speaking.cancel()
        return attempts, errors

    async def test_gives_up_an_unreachable_provider_at_any_amount_of_accepted_audio(self) -> None:
        async def nothing(socket: Any, count: int) -> None:
            pass

        for warns in (True, False):
            attempts, errors = await self.attempts_of(await self.failing(nothing, warns), 3)
            self.assertEqual((attempts, [error.code for error in errors]), ([1, 2, 3], ["upstream_exhausted"]))

    async def test_retries_a_provider_that_fails_after_a_final_each_time(self) -> None:
        async def final(socket: Any, count: int) -> None:
            words = {"text": "x", "is_final": True, "turn": 0, "start": 0, "end": count / 32_000, "model": "m"}
            await socket.send(said("transcript", **words))

        attempts, errors = await self.attempts_of(await self.failing(final), 3)
        self.assertEqual((attempts, errors), ([1] * 6, []))

    async def test_reports_a_server_that_is_not_a_gateway_at_once(self) -> None:
        for words in ("hello", "[", json.dumps({"type": "session_started"})):

            async def handler(socket: Any, words: str = words) -> None:
                await socket.send(words)
                await socket.wait_closed()

            error = await self.failure_of(await self.listening(handler))
            self.assertEqual((error.code, self.connections), ("bad_answer", 1))

    async def test_ignores_events_and_members_of_later_versions(self) -> None:
        async def handler(socket: Any) -> None:
            await socket.send(said("mood", value="fine"))
            await socket.send(started(colour="green"))
            await socket.send(ENDED)

        async with await self.listening(handler) as session:
            self.assertEqual([event.type for event in await events_of(session)], ["session_started", "session_ended"])

    async def test_judges_a_handshake_refused_by_a_proxy_by_its_status(self) -> None:
        for status, cls, attempts in (
            (404, voxgate.NotFoundError, 1),
            (403, voxgate.PermissionDeniedError, 1),
            (429, voxgate.RateLimitError, 2),
            (503, voxgate.ServerError, 2),
            (302, voxgate.VoxgateError, 2),
        ):
            arrived: list[str] = []

            async def refuse(path: str, headers: Any, status: int = status, arrived: list[str] = arrived) -> Any:
                arrived.append(path)
                return http.HTTPStatus(status), [("Location", "/elsewhere")], b"no"

            server = await self.enterAsyncContext(
                websockets.serve(lambda _: asyncio.sleep(0), "127.0.0.1", 0, process_request=refuse)
            )
            error = await self.failure_of(self.client(url_of(server)).listen(**NUMBERED, reconnect=ONCE))
            self.assertIsInstance(error, cls)
            # A redirect is not followed: it would carry the credential to somebody else.
            self.assertEqual((len(arrived), {path.split("?")[0] for path in arrived}), (attempts, {"/v1/listen"}))

    async def test_keeps_the_credential_out_of_every_log(self) -> None:
        with self.assertLogs(level=logging.DEBUG) as logs:
            logging.debug("At least one line.")
            async with self.client().listen(**NUMBERED) as session:
                await session.close()
            await self.client().balance()
        self.assertNotIn(KEY, "".join(logs.output))
