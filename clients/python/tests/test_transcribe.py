"""Files against a real gateway: every kind of file, every format, and what else can be asked for."""

import asyncio
import io
import wave
from typing import Any

import voxgate

from .rig import AUDIO, RATE, Case

PATH = AUDIO / "yes.wav"
MODEL = {"model": "local/commands-en"}
TEXT = "yes"


class Unseekable(io.RawIOBase):
    """As a pipe is."""

    def __init__(self, data: bytes) -> None:
        self._data = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._data.readinto(buffer)


class File(Case):
    async def test_gets_transcribed_from_every_kind_of_source(self) -> None:
        data = PATH.read_bytes()
        with PATH.open("rb") as opened:
            for file in (
                PATH,
                str(PATH),
                data,
                bytearray(data),
                memoryview(data),
                io.BytesIO(data),
                opened,
                Unseekable(data),
                (data[at : at + 999] for at in range(0, len(data), 999)),
            ):
                with self.subTest(type(file).__name__):
                    self.assertEqual((await self.client().transcribe(file, **MODEL)).text, TEXT)

    async def test_may_be_headerless_samples_with_their_rate_in_the_content_type(self) -> None:
        with wave.open(str(PATH)) as file:
            samples = file.readframes(file.getnframes())
        answer = await self.client().transcribe(samples, content_type=f"audio/l16;rate={RATE}", **MODEL)
        self.assertEqual(answer.text, TEXT)

    async def test_may_have_a_name_that_is_invalid_in_a_header(self) -> None:
        name = 'a"b\r\nX-Evil: 1\r\n\r\n.wav'
        self.assertEqual((await self.client().transcribe(PATH, file_name=name, **MODEL)).text, TEXT)

    async def test_raises_pythons_error_when_it_does_not_exist(self) -> None:
        with self.assertRaises(FileNotFoundError):
            await self.client().transcribe(f"{PATH}.not", **MODEL)

    async def test_raises_the_error_of_its_source_and_refuses_sources_without_bytes(self) -> None:
        def broken() -> Any:
            yield b"12"
            raise OSError("unplugged")

        with self.assertRaisesRegex(OSError, "unplugged"):
            await self.client().transcribe(broken(), **MODEL)
        for file in (None, io.StringIO("text"), [1, 2]):
            with self.assertRaises(voxgate.InvalidRequestError) as raised:
                await self.client().transcribe(file, **MODEL)  # type: ignore[arg-type]
            self.assertEqual(raised.exception.param, "file")


class Format(Case):
    async def test_gives_times_usage_and_the_request_id_for_verbose_json(self) -> None:
        told: list[voxgate.AnswerInfo] = []
        answer = await self.client().transcribe(
            PATH,
            response_format="verbose_json",
            timestamp_granularities=["word", "segment"],
            on_answer=told.append,
            **MODEL,
        )
        [info] = told
        self.assertEqual((answer.text, answer.model, answer.request_id), (TEXT, MODEL["model"], info.request_id))
        self.assertEqual([word.word for word in answer.words or ()], [TEXT])
        self.assertLess((answer.segments or [])[0].start, (answer.segments or [])[0].end)
        self.assertEqual((answer.usage.cost_usd, answer.usage.byok), ("0.00", False))
        self.assertEqual((info.status, info.attempts, info.warnings), (200, 1, ()))

    async def test_gives_segments_with_speakers_for_diarized_json(self) -> None:
        answer = await self.client().transcribe(PATH, response_format="diarized_json", **MODEL)
        self.assertEqual((answer.text, [(each.text, each.speaker) for each in answer.segments]), (TEXT, [(TEXT, "unknown")]))

    async def test_gives_strings_for_text_srt_and_vtt(self) -> None:
        client = self.client()
        self.assertEqual((await client.transcribe(PATH, response_format="text", **MODEL)).strip(), TEXT)
        self.assertRegex(await client.transcribe(PATH, response_format="srt", **MODEL), r"^1\n00:00:\d\d,\d{3} --> ")
        self.assertRegex(await client.transcribe(PATH, response_format="vtt", **MODEL), r"^WEBVTT\n")


class Options(Case):
    async def test_send_fallbacks_and_return_warnings(self) -> None:
        told: list[voxgate.AnswerInfo] = []
        answer = await self.client().transcribe(
            PATH,
            model="loopback/script",
            response_format="verbose_json",
            provider_params={"fail": {"how": "refuse"}},
            fallbacks=[{"model": "loopback/script", "provider_params": {"turns": [{"text": "second", "seconds": 600}]}}],
            prompt="names",
            on_answer=told.append,
        )
        self.assertEqual((answer.text, [each.model for each in answer.fallback or ()]), ("second", ["loopback/script"]))
        self.assertIn("parameter_ignored", told[0].warnings)
        with self.assertRaises(voxgate.InvalidRequestError) as raised:
            await self.client().transcribe(PATH, prompt="names", strict=True, **MODEL)
        error = raised.exception
        self.assertEqual((error.status, error.code, error.param), (422, "unsupported_parameter", "prompt"))


class TextForSilence(Case):
    async def test_is_marked_left_out_or_passed_as_speech_gate_says(self) -> None:
        options: Any = {
            "model": "loopback/script",
            "content_type": f"audio/l16;rate={RATE}",
            "response_format": "verbose_json",
            "provider_params": {"turns": [{"text": "Thank you.", "seconds": 600}]},
        }
        marked = await self.client().transcribe(bytes(4 * RATE), speech_gate="mark", **options)
        self.assertEqual((marked.text, marked.no_speech), ("Thank you.", True))
        self.assertEqual([each.no_speech for each in (*(marked.segments or ()), *(marked.words or ()))], [True] * 3)
        dropped = await self.client().transcribe(bytes(4 * RATE), speech_gate="drop", **options)
        self.assertEqual((dropped.text, dropped.no_speech, dropped.segments), ("", True, []))
        passed = await self.client().transcribe(bytes(4 * RATE), speech_gate="off", **options)
        self.assertEqual((passed.text, passed.no_speech), ("Thank you.", None))


class OtherCalls(Case):
    async def test_return_models_tokens_usage_and_the_balance(self) -> None:
        client = self.client()
        models = await client.models.list(mode="batch", provider="local")
        self.assertIn("local/commands-en", [model.id for model in models])
        self.assertTrue(all(model.owned_by == "local" and "batch" in model.modes for model in models))
        model = await client.models.retrieve("local/commands-en")
        self.assertEqual((model.object, model.id), ("model", "local/commands-en"))
        self.assertEqual((model.pricing.currency, model.capabilities.word_timestamps), ("USD", True))
        with self.assertRaises(voxgate.NotFoundError):
            await client.models.retrieve("local/nobody")
        token = await client.tokens.create(ttl_seconds=10)
        self.assertEqual((token.ttl_seconds, token.token[:3]), (10, "st_"))
        with self.assertRaises(voxgate.InvalidRequestError) as raised:
            await client.tokens.create(ttl_seconds=9)
        limited = await client.tokens.create(models=["loopback/*"], max_cost=0.25, languages=["en"], single_use=True)
        self.assertGreater(len(limited.token), len(token.token))
        self.assertEqual((raised.exception.param, raised.exception.status), ("ttl_seconds", 400))
        usage = await client.usage(group_by="day")
        self.assertEqual((usage.object, usage.group_by), ("list", "day"))
        tags = {"customer": "Smith, Inc."}
        await client.transcribe(AUDIO / "yes.wav", model="local/commands-en", tags=tags)
        await client.tokens.create(tags=tags, replace=["vox gate:Voxgate", {"from": "um", "to": ""}])
        usage = await client.usage(group_by="tag:customer", tag="customer:Smith, Inc.")
        self.assertEqual((usage.group_by, [row.group for row in usage.data]), ("tag:customer", ["Smith, Inc."]))
        balance = await client.balance()
        self.assertEqual((balance.object, balance.currency), ("balance", "USD"))

    async def test_open_live_sessions_with_a_client_token_and_upload_files_where_its_key_allows(self) -> None:
        minting = self.client()

        async def grant() -> Any:
            return await minting.tokens.create()

        granted = await minting.tokens.create()
        for get_token in (lambda: granted, lambda: {"token": granted.token, "ttl_seconds": 60}, lambda: granted.token, grant):
            client = self.client(api_key=None, get_token=get_token)
            async with client.listen(model="loopback/numbered") as session:
                self.assertEqual((await session.close()).reason, "client_closed")
            with self.assertRaises(voxgate.AuthenticationError) as raised:
                await client.balance()
            self.assertEqual(raised.exception.code, "token_not_allowed")
            # The gateway judges: this key does not allow it.
            with self.assertRaises(voxgate.PermissionDeniedError) as denied:
                await client.transcribe(AUDIO / "yes.wav", model="loopback/numbered")
            self.assertEqual(denied.exception.code, "token_not_allowed")
            self.assertIn("tokens_may_upload", str(denied.exception))

    async def test_wait_for_each_other_beyond_the_bound(self) -> None:
        client = self.client()
        answers = await asyncio.gather(*(client.balance() for _ in range(40)))
        self.assertEqual({answer.currency for answer in answers}, {"USD"})
