"""Live sessions whose connections break: what the consumer sees is one session, with one final for each turn, and every sample in
one of them. The audio is numbered, so that nothing can be lost or doubled unseen."""

import asyncio
import random
from typing import Any

import voxgate

from .rig import NUMBERED, RATE, Case, Cut, CuttingProxy, events_of, numbered, of

CUT_SESSIONS = 8


class Reconnecting(Case):
    async def asyncSetUp(self) -> None:
        self.proxy = await self.enterAsyncContext(CuttingProxy())

    def listen(self, *cuts: Cut, **options: Any) -> voxgate.AsyncLiveSession:
        self.proxy.cuts = list(cuts)
        return self.client(self.proxy.url).listen(**{**NUMBERED, **options})

    async def heard(self, session: voxgate.AsyncLiveSession, samples: int) -> list[Any]:
        async with session:
            session.pipe(numbered(0, samples))
            return await events_of(session)


class AnySession(Reconnecting):
    async def test_stays_one_session_for_its_consumer_after_random_cuts(self) -> None:
        dice = random.Random(7)
        ways = ((1006, None), (1012, None), (4101, "upstream_exhausted"), (4101, None), (4200, "node_draining"))

        def cut() -> Cut:
            code, error = dice.choice(ways)
            return Cut(code, audio_bytes=dice.randint(1, 120_000), events=dice.randint(1, 12), error=error)

        for count in range(CUT_SESSIONS):
            samples = dice.randint(1, 60_000)
            audio = numbered(0, samples)
            with self.subTest(count):
                async with self.listen(*(cut() for _ in range(dice.randint(1, 4)))) as session:
                    reading = asyncio.ensure_future(events_of(session))
                    at = 0
                    while at < len(audio):
                        size = dice.randint(1, 20_001)
                        await session.send(audio[at : at + size])
                        at += size
                        # The turn is ended behind whole samples: a lone byte of one has no place in it.
                        if at % 2 == 0 and dice.random() < 0.3:
                            await session.finalize()
                    summary = await session.close()
                    events = await reading
                    self.assert_one_session(events, samples)
                self.assertEqual(summary.audio_seconds, round(samples / RATE, 6))
                resumed = [each.resumed for each in of(events, "reconnected")]
                self.assertEqual(summary.reconnections, len(resumed))
                self.assertEqual(len(summary.session_ids), 1 + resumed.count(False))
        # The moments were such that most sessions were cut off at all.
        self.assertGreater(self.proxy.made, CUT_SESSIONS)


class ALostConnection(Reconnecting):
    async def test_stays_unreported_before_the_session_is_open(self) -> None:
        events = await self.heard(self.listen(*(Cut(code, audio_bytes=0) for code in (1006, 4101, 4200))), 8_000)
        self.assert_one_session(events, 8_000)
        self.assertEqual(of(events, "reconnecting", "reconnected"), [])
        self.assertEqual(len(self.proxy.paths), 4)

    async def test_gets_reported_in_the_middle_with_each_failed_attempt_and_its_reason(self) -> None:
        gone = Cut(1012, audio_bytes=24_000, ends_session=True)
        cuts = (gone, Cut(4101, audio_bytes=0, error="overloaded", ends_session=True))
        session = self.listen(*cuts)
        events = await self.heard(session, 12_000)
        told = [(each.attempt, each.wait_seconds, each.reason) for each in of(events, "reconnecting")]
        self.assertEqual(told, [(1, 0, "close_1012"), (2, 0, "overloaded")])
        [again] = of(events, "reconnected")
        self.assertEqual((again.attempt, again.reason), (2, "close_1012"))
        self.assertGreater(again.replayed_seconds, 0)
        self.assert_one_session(events, 12_000)
        summary = await session.close()
        self.assertEqual((summary.reconnections, summary.reason, summary.audio_seconds), (1, "client_closed", 0.75))

    async def test_ends_the_session_with_one_error_for_all_calls_after_a_final_close_code(self) -> None:
        for code in (4000, 4001, 4002, 4003, 4004, 4008, 4010, 4011, 1009, 1011, 1008):
            self.proxy.paths.clear()
            async with self.listen(Cut(code, events=1, error="upstream_failed")) as session:
                with self.assertRaises(voxgate.VoxgateError) as raised:
                    await events_of(session)
                error = raised.exception
                told = (error.code, error.close_code, error.request_id)
                self.assertEqual(told, ("upstream_failed", code, "req_x"))
                for call in (lambda: session.send(b"12"), session.close, session.finalize):
                    with self.assertRaises(voxgate.VoxgateError) as again:
                        await call()
                    self.assertIs(again.exception, error)
            self.assertEqual(len(self.proxy.paths), 1)

    async def test_ends_the_session_after_the_allowed_attempts_without_progress(self) -> None:
        cuts = [Cut(4101, events=1, error="upstream_exhausted")] * 20
        async with self.listen(*cuts, reconnect=voxgate.Reconnect(attempts_max=3)) as session:
            with self.assertRaises(voxgate.UpstreamError) as raised:
                await events_of(session)
        self.assertEqual((raised.exception.code, raised.exception.close_code), ("upstream_exhausted", 4101))
        self.assertEqual(len(self.proxy.paths), 4)

    async def test_never_ends_the_session_while_each_connection_brings_a_final(self) -> None:
        cuts = [Cut(4101, events=3, error="upstream_failed")] * 8
        options = {"interim_results": False, "reconnect": voxgate.Reconnect(attempts_max=1)}
        events = await self.heard(self.listen(*cuts, **options), 96_000)
        self.assert_one_session(events, 96_000)
        self.assertEqual(len(of(events, "reconnected")), 8)

    async def test_ends_the_session_when_reconnect_is_false_with_an_open_turn(self) -> None:
        async with self.listen(Cut(1006, audio_bytes=8_000), reconnect=False) as session:
            await session.send(numbered(0, 4_000))
            with self.assertRaises(voxgate.APIConnectionError) as raised:
                await session.close()
        self.assertEqual((raised.exception.code, raised.exception.close_code), ("connection_lost", 1006))
        self.assertEqual(len(self.proxy.paths), 1)


class Audio(Reconnecting):
    async def test_leaves_a_discontinuity_when_no_longer_kept_and_finals_for_the_rest(self) -> None:
        # A turn of 10 s is cut off after 2 s, of which the last second was kept.
        options = {"provider_params": {"turn_seconds": 10}, "reconnect": voxgate.Reconnect(replay_seconds_max=1)}
        async with self.listen(Cut(1006, audio_bytes=64_000, ends_session=True), **options) as session:
            await session.send(numbered(0, 32_000))
            events: list[Any] = []
            async for event in session:
                events.append(event)
                if event.type == "reconnected":
                    await session.send(numbered(32_000, 48_000))
                    closing = asyncio.ensure_future(session.close())
            await closing
        [gap] = of(events, "discontinuity")
        self.assertEqual((gap.from_, gap.reason), (0, "replay_exceeded"))
        self.assertGreaterEqual(gap.to, 1)
        [final] = [event for event in of(events, "transcript") if event.is_final]
        self.assertEqual((final.turn, final.start, final.end), (0, gap.to, 3))
        first = round(gap.to * RATE)
        self.assertEqual(final.text, f"{first}-48000")

    async def test_loses_nothing_of_a_recording_sent_faster_than_real_time(self) -> None:
        # All of it would be under way before the first finals are back.
        cut = Cut(1006, audio_bytes=100 * 2 * RATE)
        events = await self.heard(self.listen(cut, provider_params={"turn_seconds": 20}), 200 * RATE)
        self.assert_one_session(events, 200 * RATE)
        self.assertEqual(len(of(events, "reconnected")), 1)


class Token(Reconnecting):
    async def test_gets_requested_again_for_every_connection(self) -> None:
        minting = self.client()
        minted: list[str] = []

        async def get_token() -> voxgate.Token:
            token = await minting.tokens.create()
            minted.append(token.token)
            return token

        self.proxy.cuts = [Cut(1006, audio_bytes=8_000)]
        client = voxgate.AsyncVoxgate(get_token=get_token, base_url=self.proxy.url)
        events = await self.heard(client.listen(**NUMBERED), 12_000)
        self.assert_one_session(events, 12_000)
        self.assertEqual((len(minted), self.proxy.credentials), (2, minted))

    async def test_gets_replaced_once_after_expiry_then_the_refusal_counts(self) -> None:
        asked: list[None] = []

        def get_token() -> str:
            asked.append(None)
            return "st_a.b"

        # What is no refusal of an old token is the end at once.
        async with self.client(api_key=None, get_token=get_token).listen(**NUMBERED) as session:
            with self.assertRaises(voxgate.AuthenticationError) as raised:
                await session.close()
        self.assertEqual((raised.exception.code, len(asked)), ("invalid_token", 1))
        cuts = [Cut(4001, audio_bytes=0, error="token_expired")] * 2
        self.proxy.cuts = list(cuts)
        asked.clear()
        async with self.client(self.proxy.url, api_key=None, get_token=get_token).listen(**NUMBERED) as session:
            with self.assertRaises(voxgate.VoxgateError) as raised:
                await session.close()
        self.assertEqual((raised.exception.code, len(asked)), ("token_expired", 2))

    async def test_gets_requested_again_after_a_failure_then_named_in_the_error(self) -> None:
        async def never() -> str:
            await asyncio.Event().wait()
            raise AssertionError

        def broken() -> str:
            raise OSError("no token")

        for get_token, code in ((never, "timeout"), (broken, "token_unavailable"), (lambda: "two words", "token_unavailable")):
            client = self.client(api_key=None, get_token=get_token)
            options: Any = {**NUMBERED, "connect_timeout": 0.1, "reconnect": voxgate.Reconnect(attempts_max=1)}
            async with client.listen(**options) as session:
                with self.assertRaisesRegex(voxgate.VoxgateError, "get_token") as raised:
                    await session.close()
            self.assertEqual(raised.exception.code, code)
