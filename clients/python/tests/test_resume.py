"""Sessions that go on where their connection broke: the gateway's own session, with one bill and no audio twice; and every case in
which it cannot, where a new one begins as if nobody had asked."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any
from unittest import mock
from urllib.parse import parse_qs, urlsplit

import voxgate

from .rig import KEY, NUMBERED, Case, Cut, CuttingProxy, events_of, numbered, of, said, scripted_socket, started, url_of

Script = Callable[[Any], Awaitable[None]]


class WithAGateway(Case):
    async def asyncSetUp(self) -> None:
        self.proxy = await self.enterAsyncContext(CuttingProxy())

    async def heard(self, samples: int, *cuts: Cut, **options: Any) -> tuple[voxgate.SessionSummary, list[Any]]:
        """So many samples are said through connections that are cut."""
        self.proxy.cuts = list(cuts)
        async with self.client(self.proxy.url).listen(**{**NUMBERED, **options}) as session:
            session.pipe(numbered(at, min(samples, at + 4_000)) for at in range(0, samples, 4_000))
            events = await events_of(session)
            return await session.close(), events

    def assert_whole_and_billed(self, summary: voxgate.SessionSummary, events: list[Any], samples: int) -> None:
        self.assert_one_session(events, samples)
        self.assertEqual((len(summary.session_ids), summary.is_usage_complete), (1, True))
        self.assertEqual(round(sum(row.seconds for row in summary.usage), 3), samples / 16_000)
        self.assertEqual(of(events, "received", "session_resumed"), [])

    async def test_continues_the_session_after_several_cuts_with_one_bill_and_no_audio_twice(self) -> None:
        for code in (1006, 1012, 1001):
            cuts = (Cut(code, audio_bytes=20_000), Cut(code, audio_bytes=1), Cut(code, events=4))
            summary, events = await self.heard(48_000, *cuts)
            self.assert_whole_and_billed(summary, events, 48_000)
            told = [(each.resumed, each.replayed_seconds) for each in of(events, "reconnected")]
            self.assertEqual((told, summary.reconnections), ([(True, 0)] * 3, 3))
            self.assertIsNone(events[0].resume_token)

    async def test_sends_missed_finals_and_the_missed_end_to_the_next_connection_with_the_bill(self) -> None:
        for before in ("transcript", "session_ended"):
            summary, events = await self.heard(16_000, Cut(1006, before=before), interim_results=False)
            self.assert_whole_and_billed(summary, events, 16_000)
            self.assertEqual((summary.reason, summary.reconnections), ("client_closed", 1))

    async def test_opens_a_new_session_on_the_same_connection_when_the_old_one_is_gone(self) -> None:
        summary, events = await self.heard(32_000, Cut(1006, audio_bytes=20_000, ends_session=True))
        self.assert_one_session(events, 32_000)
        self.assertEqual([each.resumed for each in of(events, "reconnected")], [False])
        self.assertEqual((len(summary.session_ids), len(self.proxy.paths)), (2, 2))

    async def test_repeats_the_first_message_when_the_session_is_gone(self) -> None:
        cuts = (Cut(1006, audio_bytes=20_000), Cut(1006, audio_bytes=20_000, ends_session=True))
        keyterms = [f"a term of some length {index}".ljust(60, "x") for index in range(90)]
        summary, events = await self.heard(64_000, *cuts, keyterms=keyterms)
        self.assertIn("start=message&resume=on", self.proxy.paths[0])
        self.assert_one_session(events, 64_000)
        self.assertEqual([each.resumed for each in of(events, "reconnected")], [True, False])
        self.assertEqual(len(summary.session_ids), 2)

    async def test_requests_no_resume_when_reconnect_is_false(self) -> None:
        await self.heard(1_600, reconnect=False)
        self.assertNotIn("resume", self.proxy.paths[0])

    async def test_continues_without_asyncio(self) -> None:
        self.proxy.cuts = [Cut(1006, audio_bytes=20_000), Cut(1012, events=4)]

        def run() -> tuple[voxgate.SessionSummary, list[Any]]:
            with voxgate.Voxgate(api_key=KEY, base_url=self.proxy.url) as client:
                with client.listen(**NUMBERED) as session:
                    session.pipe(numbered(0, 48_000))
                    events = list(session)
                    return session.close(), events

        summary, events = await asyncio.to_thread(run)
        self.assert_whole_and_billed(summary, events, 48_000)
        self.assertEqual([each.resumed for each in of(events, "reconnected")], [True, True])


async def waits(socket: Any) -> None:
    """Opens a session that can be gone on with."""
    await socket.send(started(resume_token="rt_1"))


async def drop(socket: Any) -> None:
    socket.transport.abort()


def resumed(received_bytes: int) -> str:
    return said("session_resumed", received_bytes=received_bytes, next_seq=2)


def final(end: float, seq: int) -> str:
    return said("transcript", text="x", is_final=True, turn=0, start=0, end=end, model="m", seq=seq)


async def refuse(socket: Any, code: int, param: str) -> None:
    error = {"type": "x", "code": "invalid_request", "message": "No.", "param": param, "request_id": "req_1", "details": []}
    await socket.send(said("error", error=error))
    await socket.close(code)


async def arrived(socket: Any, count: int) -> None:
    """So many bytes of audio are there."""
    while count > 0:
        count -= len(await socket.recv())


class WithAnyGateway(Case):
    async def listening(self, *scripts: Script, **options: Any) -> voxgate.AsyncLiveSession:
        """A session whose connections are played by these scripts in their order, and by the last one from there on."""
        self.queries: list[dict[str, str]] = []

        async def handler(socket: Any) -> None:
            self.queries.append({name: value for name, [value] in parse_qs(urlsplit(socket.path).query).items()})
            await scripts[min(len(self.queries), len(scripts)) - 1](socket)

        server = await self.enterAsyncContext(scripted_socket(handler))
        return await self.enterAsyncContext(self.client(url_of(server)).listen(**{"model": "m/m", **options}))

    def asked(self, *names: str) -> list[list[str | None]]:
        return [[query.get(name) for name in names] for query in self.queries]

    async def test_names_its_last_event_of_any_kind_and_its_position(self) -> None:
        async def first(socket: Any) -> None:
            await waits(socket)
            await arrived(socket, 64_000)
            await socket.send(final(1.25, 2))
            await socket.send(said("a_thing_of_later", seq=3))
            await socket.close(1012)

        async def again(socket: Any) -> None:
            await socket.send(resumed(64_000))
            await socket.close(4011)

        session = await self.listening(first, again)
        await session.send(bytes(64_000))
        with self.assertRaises(voxgate.VoxgateError):
            await events_of(session)
        names = ("resume", "last_seq", "heard_seconds", "model")
        self.assertEqual(self.asked(*names), [["on", None, None, "m/m"], ["rt_1", "3", "1.250000", "m/m"]])

    async def test_replays_audio_that_was_not_received_with_its_finalize_and_close(self) -> None:
        async def first(socket: Any) -> None:
            await waits(socket)
            async for message in socket:
                if isinstance(message, str) and json.loads(message)["type"] == "close":
                    return await drop(socket)

        words: list[Any] = []

        async def again(socket: Any) -> None:
            await socket.send(resumed(1_500))
            for _ in range(3):
                message = await socket.recv()
                words.append(len(message) if isinstance(message, bytes) else json.loads(message)["type"])
            await socket.close(4011)

        session = await self.listening(first, again)
        await session.send(bytes(1_000))
        await session.finalize()
        await session.send(bytes(1_000))
        await session.finalize()
        with self.assertRaises(voxgate.VoxgateError):
            await session.close()
        self.assertEqual(words, [500, "finalize", "close"])

    async def test_opens_a_new_session_at_once_when_the_old_one_is_refused(self) -> None:
        for code, param in ((4004, "resume"), (4000, "last_seq"), (4000, "heard_seconds")):

            async def first(socket: Any) -> None:
                await waits(socket)
                await drop(socket)

            async def refused(socket: Any, code: int = code, param: str = param) -> None:
                await refuse(socket, code, param)

            async def anew(socket: Any) -> None:
                await socket.send(started())
                await socket.close(4011)

            session = await self.listening(first, refused, anew)
            kinds: list[Any] = []
            with self.assertRaises(voxgate.VoxgateError):
                async for event in session:
                    kinds.append(event.resumed if isinstance(event, voxgate.Reconnected) else event.type)
            self.assertEqual(self.asked("resume"), [["on"], ["rt_1"], ["on"]])
            self.assertEqual(kinds, ["session_started", "reconnecting", False])

    async def test_requests_a_resume_only_once_from_a_gateway_that_cannot(self) -> None:
        async def plain(socket: Any) -> None:
            await socket.send(started())
            await drop(socket)

        async def last(socket: Any) -> None:
            await socket.close(4011)

        session = await self.listening(lambda socket: refuse(socket, 4000, "resume"), plain, last)
        with self.assertRaises(voxgate.VoxgateError):
            await events_of(session)
        self.assertEqual(self.asked("resume"), [["on"], [None], [None]])

    async def test_keeps_requesting_the_session_through_failed_attempts_unless_the_gateway_ended_it(self) -> None:
        async def fails(socket: Any) -> None:
            await socket.close(4101)

        async def last(socket: Any) -> None:
            await socket.close(4011)

        for code, tokens in ((1012, ["rt_1"] * 3), (4101, ["on"] * 3), (4200, ["on"] * 3)):

            async def first(socket: Any, code: int = code) -> None:
                await waits(socket)
                await socket.close(code)

            session = await self.listening(first, drop, fails, last)
            with self.assertRaises(voxgate.VoxgateError):
                await events_of(session)
            self.assertEqual(self.asked("resume"), [[token] for token in ["on", *tokens]])

    async def test_requests_only_the_end_once_when_all_audio_has_finals(self) -> None:
        async def first(socket: Any) -> None:
            await waits(socket)
            await arrived(socket, 32_000)
            await socket.send(final(1, 2))
            await socket.recv()
            await drop(socket)

        session = await self.listening(first, drop)
        await session.send(bytes(32_000))
        summary = await session.close()
        self.assertEqual(self.asked("resume", "last_seq", "heard_seconds", "model")[1:], [["rt_1", "2", "1.000000", None]])
        self.assertEqual((summary.reason, summary.is_usage_complete, summary.reconnections), ("client_closed", False, 0))

    async def test_counts_received_audio_once_as_progress(self) -> None:
        async def first(socket: Any) -> None:
            await waits(socket)
            await arrived(socket, 8_000)
            await drop(socket)

        def taken(count: int) -> Script:
            async def script(socket: Any) -> None:
                await socket.send(resumed(count))
                await socket.send(said("received", bytes=2_000))
                await socket.close(1012)

            return script

        session = await self.listening(first, *map(taken, (2_000, 4_000, 4_000)), reconnect=voxgate.Reconnect(attempts_max=1))
        await session.send(bytes(8_000))
        with self.assertRaises(voxgate.APIConnectionError):
            await events_of(session)
        self.assertEqual(len(self.queries), 4)

    async def test_opens_a_new_session_after_audio_that_is_no_longer_kept(self) -> None:
        async def first(socket: Any) -> None:
            await waits(socket)
            await arrived(socket, 32_000)
            await drop(socket)

        codes: list[int] = []

        async def again(socket: Any) -> None:
            await socket.send(resumed(100))
            await socket.wait_closed()
            codes.append(socket.close_code)

        async def anew(socket: Any) -> None:
            await socket.send(started())
            await socket.close(4011)

        session = await self.listening(first, again, anew, reconnect=voxgate.Reconnect(replay_seconds_max=0))
        await session.send(bytes(32_000))
        events: list[Any] = []
        with self.assertRaises(voxgate.VoxgateError):
            async for event in session:
                events.append(event)
        self.assertEqual(codes, [1000])
        [again_told, gap] = events[-2:]
        self.assertFalse(again_told.resumed)
        self.assertEqual((gap.from_, gap.to, gap.reason), (0, 1, "replay_exceeded"))

    async def test_closes_a_silent_connection_with_a_code_that_keeps_its_session(self) -> None:
        codes: list[int] = []

        async def silent(socket: Any) -> None:
            await waits(socket)
            await socket.wait_closed()
            codes.append(socket.close_code)

        async def again(socket: Any) -> None:
            await socket.send(resumed(1_000))
            ended = said("session_ended", reason="client_closed", audio_seconds=1, usage=[], cost_usd="0.00")
            await socket.send(ended)

        with mock.patch("voxgate.live.link.CLOSING_SECONDS", 0.05):
            session = await self.listening(silent, again)
            await session.send(bytes(1_000))
            summary = await session.close()
        self.assertEqual((codes, self.asked("resume")), ([3006], [["on"], ["rt_1"]]))
        self.assertEqual((summary.reconnections, summary.is_usage_complete), (1, True))
