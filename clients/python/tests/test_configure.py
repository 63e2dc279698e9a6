"""Sessions that are changed while they go on: each change at its place in the audio, also where the connection breaks around it."""

import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import voxgate
from voxgate.live.configuring import configure_message

from .rig import KEY, NUMBERED, URL, Case, Cut, CuttingProxy, numbered, of, said, scripted_socket, started, url_of

FASTER: Any = {"model": "loopback/numbered", "provider_params": {"turn_seconds": 0.5}}


class AChange(Case):
    async def test_becomes_a_configure_message(self) -> None:
        for changes, words in (
            ({"model": "a/b"}, {"model": "a/b"}),
            ({"fallbacks": ["a/b", "c/d"]}, {"fallbacks": "a/b,c/d"}),
            ({"fallbacks": []}, {"fallbacks": []}),
            ({"fallbacks": [{"model": "a/b", "credential": "own"}]}, {"fallbacks": '[{"model": "a/b", "credential": "own"}]'}),
            ({"fallbacks": None, "language": None}, {"fallbacks": None, "language": None}),
            ({"provider_params": {"x": 1}, "keyterms": ["y"]}, {"provider_params": {"x": 1}, "keyterms": '["y"]'}),
            ({"return_to_primary": True, "standby": False}, {"return_to_primary": True, "standby": False}),
            ({"provider_params": None}, {"provider_params": None}),
            ({"replace": ["a:b", {"from": "c", "to": ""}]}, {"replace": '["a:b", {"from": "c", "to": ""}]'}),
            ({"keyterms": None, "vocabulary_boost": None}, {"keyterms": None, "vocabulary_boost": None}),
            (
                {"prompt": "p", "redact": True, "languages": ["de"]},
                {"prompt": "p", "redact": True, "languages": '["de"]'},
            ),
        ):
            with self.subTest(changes):
                self.assertEqual(configure_message(changes), {"type": "configure", **words})

    async def test_keeps_its_values_when_the_caller_changes_theirs_later(self) -> None:
        params: Any = {"terms": ["a"]}
        message = configure_message({"provider_params": params})
        params["terms"].append("b")
        self.assertEqual(message["provider_params"], {"terms": ["a"]})

    async def test_fails_for_fixed_options_and_after_close(self) -> None:
        async with self.client().listen(**NUMBERED) as session:
            wrong: Any = (({"sample_rate": 8_000}, "sample_rate"), ({"model": None}, "model"), ({"model": ""}, "model"))
            for changes, param in wrong:
                with self.subTest(changes), self.assertRaises(voxgate.InvalidRequestError) as raised:
                    await session.configure(**changes)
                self.assertEqual((raised.exception.code, raised.exception.param), ("invalid_option", param))
            await session.close()
            with self.assertRaises(voxgate.VoxgateError) as late:
                await session.configure(language="en")
            self.assertEqual(late.exception.code, "session_over")


class ASession(Case):
    def assert_changed(self, events: list[Any], samples: int) -> None:
        finals = [event for event in of(events, "transcript") if event.is_final]
        self.assert_whole(finals, samples)
        self.assertGreater(len(finals), 3)
        self.assertEqual([event.error.code for event in of(events, "error")], ["model_not_found"])
        told = [(event.model, event.fallbacks, event.from_) for event in of(events, "configured")]
        self.assertEqual(told, [("loopback/numbered", [], 1)])

    async def test_continues_with_another_model_and_reports_one_that_does_not_exist(self) -> None:
        events: list[Any] = []
        async with self.client().listen(model="loopback/numbered") as session:
            await session.send(numbered(0, 16_000))
            await session.finalize()
            async for event in session:
                events.append(event)
                if isinstance(event, voxgate.Transcript) and event.is_final:
                    await session.configure(model="loopback/nobody")
                    await session.configure(**FASTER)
                    break
            async for event in session:
                events.append(event)
                if isinstance(event, voxgate.Configured):
                    await session.send(numbered(16_000, 48_000))
                    session.pipe(b"")
        self.assert_changed(events, 48_000)

    def test_changes_without_asyncio(self) -> None:
        events: list[Any] = []
        with voxgate.Voxgate(api_key=KEY, base_url=URL) as client:
            with client.listen(model="loopback/numbered") as session:
                session.send(numbered(0, 16_000))
                session.finalize()
                for event in session:
                    events.append(event)
                    if isinstance(event, voxgate.Transcript) and event.is_final and event.turn == 0:
                        session.configure(model="loopback/nobody")
                        session.configure(**FASTER)
                    if isinstance(event, voxgate.Configured):
                        session.pipe(numbered(16_000, 48_000))
        self.assert_changed(events, 48_000)

    async def test_repeats_its_change_in_a_new_session_and_reports_the_position(self) -> None:
        proxy = await self.enterAsyncContext(CuttingProxy())
        proxy.cuts = [Cut(1006, audio_bytes=64_000, ends_session=True)]
        events: list[Any] = []
        async with self.client(proxy.url).listen(**NUMBERED) as session:
            await session.send(numbered(0, 16_000))
            await session.configure(provider_params={"turn_seconds": 0.25})
            async for event in session:
                events.append(event)
                if isinstance(event, voxgate.Configured):
                    if len(of(events, "configured")) == 1:
                        await session.send(numbered(16_000, 32_000))
                    else:
                        session.pipe(numbered(32_000, 48_000))
        self.assert_one_session(events, 48_000)
        self.assertEqual([event.resumed for event in of(events, "reconnected")], [False])
        [first, again] = of(events, "configured")
        ends = [event.end for event in of(events, "transcript") if event.is_final and event.seq < again.seq]
        self.assertEqual((first.from_, again.from_), (1, max(ends)))


Script = Callable[[Any], Awaitable[None]]


class WhereTheConnectionBreaks(Case):
    async def listening(self, *scripts: Script) -> voxgate.AsyncLiveSession:
        """A session whose connections are played by these scripts in their order."""
        self.said: list[list[Any]] = []

        async def handler(socket: Any) -> None:
            self.said.append([])
            await scripts[len(self.said) - 1](socket)

        server = await self.enterAsyncContext(scripted_socket(handler))
        return await self.enterAsyncContext(self.client(url_of(server)).listen(model="m/m"))

    async def hear(self, socket: Any, count: int | None = None) -> None:
        """So many messages, or all up to `close`: audio by its bytes, and changes by their model."""
        while len(self.said[-1]) != count:
            message = await socket.recv()
            if isinstance(message, str) and json.loads(message)["type"] == "close":
                return
            self.said[-1].append(len(message) if isinstance(message, bytes) else json.loads(message)["model"])

    async def changed_twice(self, *scripts: Script) -> None:
        session = await self.listening(*scripts)
        await session.send(bytes(32_000))
        await session.configure(model="m/one")
        await session.send(bytes(32_000))
        await session.configure(model="m/two")
        with suppress(voxgate.VoxgateError):
            await session.close()

    def first(self, *says: str, resume_token: str | None = None) -> Script:
        async def script(socket: Any) -> None:
            await socket.send(started(resume_token=resume_token))
            await self.hear(socket, 4)
            for event in says:
                await socket.send(event)
            # What was said has arrived before the connection is over.
            await (await socket.ping())
            socket.transport.abort()

        return script

    def then(self, says: str, *, is_last: bool = True) -> Script:
        async def script(socket: Any) -> None:
            await socket.send(says)
            await self.hear(socket)
            if is_last:
                await socket.close(4011)
            else:
                socket.transport.abort()

        return script

    async def test_sends_a_resumed_session_what_it_has_not_received(self) -> None:
        await self.changed_twice(self.first(resume_token="rt_1"), self.then(resumed(40_000)))
        self.assertEqual(self.said, [[32_000, "m/one", 32_000, "m/two"], [24_000, "m/two"]])

    async def test_repeats_a_change_after_the_last_final(self) -> None:
        await self.changed_twice(self.first(final(2), resume_token="rt_1"), self.then(resumed(64_000)))
        self.assertEqual(self.said[1], ["m/two"])

    async def test_starts_a_new_session_with_earlier_changes_and_sends_the_rest_in_place(self) -> None:
        await self.changed_twice(self.first(final(1.5)), self.then(started()))
        self.assertEqual(self.said[1], ["m/one", 16_000, "m/two"])

    async def test_repeats_the_beginning_of_a_new_session_that_resumes_before_it_took_anything(self) -> None:
        anew = self.then(started(resume_token="rt_2"), is_last=False)
        await self.changed_twice(self.first(final(1.5)), anew, self.then(resumed(0)))
        self.assertEqual(self.said[1:], [["m/one", 16_000, "m/two"]] * 2)

    async def test_reports_a_refused_change_of_an_open_session_at_once(self) -> None:
        error = {"type": "invalid_request_error", "code": "model_not_found", "message": "m", "param": None, "request_id": "r"}

        async def refusing(socket: Any) -> None:
            await socket.send(started())
            await socket.send(said("error", error=error, fatal=False))
            await socket.wait_closed()

        session = await self.listening(refusing)
        self.assertEqual([(await anext(session)).type for _ in range(2)], ["session_started", "error"])

    async def test_refuses_more_than_a_hundred_changes(self) -> None:
        async def silent(socket: Any) -> None:
            await socket.send(started())
            await socket.wait_closed()

        session = await self.listening(silent)
        for _ in range(100):
            await session.configure(language="en")
        with self.assertRaisesRegex(voxgate.VoxgateError, "100 times") as raised:
            await session.configure(language="en")
        self.assertEqual(raised.exception.code, "too_many_changes")


def resumed(received_bytes: int) -> str:
    return said("session_resumed", received_bytes=received_bytes, next_seq=2)


def final(end: float) -> str:
    return said("transcript", text="x", is_final=True, turn=0, start=0, end=end, model="m")
