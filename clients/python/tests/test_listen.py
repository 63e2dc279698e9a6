"""Live sessions against a real gateway: audio in every form, limits of what waits, and ends."""

import asyncio
import io
import wave
from typing import Any

import voxgate

from .rig import AUDIO, KEY, NUMBERED, RATE, URL, Case, events_of, numbered, of

SPOKEN = [
    "turn on the kitchen lights",
    "set a timer for ten minutes",
    "what's the weather tomorrow",
    "play some jazz",
    "call mom",
]


def speech() -> tuple[bytes, int]:
    with wave.open(str(AUDIO / "commands.wav")) as file:
        return file.readframes(file.getnframes()), file.getframerate()


class SpeechOfAFile(Case):
    async def test_becomes_finals_and_a_summary_with_the_cost(self) -> None:
        pcm, rate = speech()
        options: Any = {"sample_rate": rate, "interim_results": False}
        async with self.client().listen(model="local/commands-en", **options) as session:
            await session.send(pcm)
            summary = await session.close()
            finals = [final.text async for final in session.finals()]
        self.assertEqual(finals, SPOKEN)
        self.assertEqual((summary.reason, summary.cost_usd, summary.reconnections), ("client_closed", "0.00", 0))
        self.assertTrue(summary.is_usage_complete)
        [row] = summary.usage
        self.assertEqual((row.model, row.seconds, row.byok), ("local/commands-en", 15.396, False))

    async def test_comes_from_every_source_of_bytes(self) -> None:
        audio = numbered(0, 20_000)
        pieces = [audio[at : at + 1_001] for at in range(0, len(audio), 1_001)]

        async def asynchronous() -> Any:
            for piece in pieces:
                yield piece

        for source in (audio, io.BytesIO(audio), pieces, (memoryview(each) for each in pieces), asynchronous()):
            async with self.client().listen(**NUMBERED) as session:
                session.pipe(source)
                finals = [final async for final in session.finals()]
            self.assert_whole(finals, 20_000)


class Pipe(Case):
    async def test_ends_the_session_with_what_its_source_raises(self) -> None:
        def broken() -> Any:
            yield numbered(0, 10)
            raise OSError("unplugged")

        async def broken_too() -> Any:
            for piece in broken():
                yield piece

        for source in (broken(), broken_too()):
            async with self.client().listen(**NUMBERED) as session:
                session.pipe(source)
                with self.assertRaisesRegex(OSError, "unplugged"):
                    await events_of(session)
                with self.assertRaisesRegex(OSError, "unplugged"):
                    await session.close()


class Send(Case):
    async def test_waits_while_the_socket_has_no_room_and_loses_nothing(self) -> None:
        seconds = 120
        options: Any = {**NUMBERED, "provider_params": {"turn_seconds": 20}}
        async with self.client().listen(**options) as session:
            reading = asyncio.ensure_future(events_of(session))
            waited = 0
            for second in range(seconds):
                sending = asyncio.ensure_future(session.send(numbered(second * RATE, (second + 1) * RATE)))
                await asyncio.sleep(0)
                waited += not sending.done()
                await sending
            self.assertGreater(waited, 0)
            await session.close()
            self.assert_one_session(await reading, seconds * RATE)

    async def test_copies_audio_so_that_the_caller_may_reuse_its_buffer(self) -> None:
        buffer = bytearray(3_200)
        async with self.client().listen(**NUMBERED) as session:
            for at in range(0, 16_000, 1_600):
                buffer[:] = numbered(at, at + 1_600)
                await session.send(buffer)
            await session.close()
            self.assert_whole([final async for final in session.finals()], 16_000)

    async def test_ends_the_session_when_unawaited_audio_exceeds_the_queue(self) -> None:
        mebibyte = bytes(1_048_576)
        async with self.client("http://127.0.0.1:9").listen(**NUMBERED) as session:
            sends = [asyncio.ensure_future(session.send(mebibyte)) for _ in range(17)]
            for outcome in await asyncio.gather(*sends, return_exceptions=True):
                self.assertEqual(getattr(outcome, "code", outcome), "send_queue_full")
            with self.assertRaises(voxgate.VoxgateError) as raised:
                await session.close()
            self.assertEqual(raised.exception.code, "send_queue_full")

    async def test_fails_after_close_and_for_data_that_is_not_audio(self) -> None:
        async with self.client().listen(**NUMBERED) as session:
            with self.assertRaises(voxgate.InvalidRequestError) as wrong:
                await session.send("audio")  # type: ignore[arg-type]
            self.assertEqual((wrong.exception.code, wrong.exception.param), ("invalid_option", "audio"))
            await session.close()
            for call in (lambda: session.send(b"12"), session.finalize, session.keepalive):
                with self.assertRaises(voxgate.VoxgateError) as late:
                    await call()
                self.assertEqual(late.exception.code, "session_over")


class Session(Case):
    async def test_ends_the_turn_at_the_position_of_finalize(self) -> None:
        options: Any = {**NUMBERED, "provider_params": {"turn_seconds": 100}}
        async with self.client().listen(**options) as session:
            for start, end in ((0, 3_000), (3_000, 3_800), (3_800, 20_000)):
                await session.send(numbered(start, end))
                await session.finalize()
            await session.close()
            finals = [final async for final in session.finals()]
        self.assert_whole(finals, 20_000)
        self.assertEqual([round(final.end * RATE) for final in finals], [3_000, 3_800, 20_000])

    async def test_fails_when_more_unread_events_wait_than_allowed(self) -> None:
        options: Any = {**NUMBERED, "provider_params": {"turn_seconds": 0.05}, "events_max": 16}
        async with self.client().listen(**options) as session:
            await session.send(numbered(0, 64_000))
            with self.assertRaises(voxgate.VoxgateError) as closed:
                await session.close()
            read: list[Any] = []
            with self.assertRaises(voxgate.VoxgateError) as iterated:
                async for event in session:
                    read.append(event)
        self.assertEqual((closed.exception.code, iterated.exception.code), ("event_queue_full", "event_queue_full"))
        self.assertEqual(len(read), 16)

    async def test_ends_its_iteration_without_an_error_when_terminated(self) -> None:
        async with self.client().listen(**NUMBERED) as session:
            async for event in session:
                if event.type == "session_started":
                    session.terminate()
            summary = await session.close()
        self.assertEqual((summary.reason, summary.is_usage_complete), ("terminated", False))

    async def test_continues_when_the_loop_is_left(self) -> None:
        finals: list[voxgate.Transcript] = []
        async with self.client().listen(**NUMBERED) as session:
            await session.send(numbered(0, 16_000))
            for _ in range(2):
                async for event in session:
                    if isinstance(event, voxgate.Transcript) and event.is_final:
                        finals.append(event)
                        break
            await session.close()
        self.assert_whole(finals, 16_000)

    async def test_fails_with_the_gateways_code_and_close_code(self) -> None:
        for options, cls, code, close_code in (
            ({"model": "local/nobody"}, voxgate.NotFoundError, "model_not_found", 4004),
            (
                {"model": "loopback/numbered", "provider_params": {"dear": 1}},
                voxgate.InvalidRequestError,
                "invalid_provider_params",
                4000,
            ),
        ):
            async with self.client().listen(**options) as session:
                with self.assertRaises(cls) as raised:
                    await session.close()
            self.assertEqual((raised.exception.code, raised.exception.close_code), (code, close_code))
            self.assertTrue(raised.exception.request_id)

    async def test_sends_options_that_exceed_a_url_in_a_first_message(self) -> None:
        turns = [{"text": f"{index} {'x' * 1_000}", "seconds": 0.1} for index in range(20)]
        options: Any = {
            "model": "loopback/script",
            "sample_rate": 8_000,
            "suspend_seconds": 60,
            "return_to_primary": True,
            "standby": False,
            "turn_events": True,
            "keyterms": ["Voxgate"],
            "fallbacks": ["auto"],
            "prefer": "price",
            "provider_params": {"turns": turns},
        }
        async with self.client().listen(**options) as session:
            session.pipe(bytes(16_000 * 2))
            events = await events_of(session)
        finals = [event for event in of(events, "transcript") if event.is_final]
        self.assertEqual([final.text for final in finals], [turn["text"] for turn in turns])
        self.assertEqual(len(of(events, "turn_ended")), 20)


class TextForSilence(Case):
    async def test_is_marked_left_out_or_passed_as_speech_gate_says(self) -> None:
        turns = [{"text": "Thank you.", "seconds": 600}]
        for mode, text, no_speech in (("mark", "Thank you.", True), ("drop", "", True), ("off", "Thank you.", None)):
            options: Any = {"model": "loopback/script", "provider_params": {"turns": turns}, "speech_gate": mode}
            async with self.client().listen(**options) as session:
                session.pipe(bytes(4 * RATE))
                events = await events_of(session)
            [final, *_] = [event for event in of(events, "transcript") if event.is_final]
            self.assertEqual((final.text, final.no_speech), (text, no_speech))


class Option(Case):
    async def test_fails_by_name_when_it_is_wrong(self) -> None:
        client = self.client()
        for options, param in (
            ({"model": ""}, "model"),
            ({"model": "a/b", "sampleRate": 16_000}, "sampleRate"),
            ({"model": "a/b", "sample_rate": 7_999}, "sample_rate"),
            ({"model": "a/b", "events_max": 15}, "events_max"),
            ({"model": "a/b", "connect_timeout": 0}, "connect_timeout"),
            ({"model": "a/b", "reconnect": True}, "reconnect"),
        ):
            with self.subTest(param), self.assertRaises(voxgate.InvalidRequestError) as raised:
                client.listen(**options)
            self.assertEqual((raised.exception.code, raised.exception.param), ("invalid_option", param))
        with self.assertRaises(voxgate.InvalidRequestError):
            voxgate.Reconnect(replay_seconds_max=601)

    async def test_accepts_the_base_url_of_openais_clients(self) -> None:
        for path in ("/", "/v1", "/v1/"):
            client = self.client(f"{URL}{path}")
            async with client.listen(**NUMBERED) as session:
                self.assertEqual((await session.close()).reason, "client_closed")
            self.assertEqual((await client.balance()).currency, "USD")

    async def test_names_a_wrong_client_option_without_the_credential(self) -> None:
        for options, param in (
            ({"api_key": "two words"}, "api_key"),
            ({"api_key": KEY, "token": "st_a.b"}, "api_key"),
            ({}, "api_key"),
            ({"api_key": KEY, "base_url": "voxgate.example.com"}, "base_url"),
            ({"api_key": KEY, "timeout": 0}, "timeout"),
            ({"api_key": KEY, "retries_max": 11}, "retries_max"),
            ({"get_token": "st_a.b"}, "get_token"),
        ):
            with self.subTest(param), self.assertRaises(voxgate.InvalidRequestError) as raised:
                voxgate.AsyncVoxgate(**options)
            self.assertEqual(raised.exception.param, param)
            self.assertNotIn("two words", str(raised.exception))
            self.assertNotIn(KEY, str(raised.exception))
