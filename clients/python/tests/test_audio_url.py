"""Audio at an address, in the place of a file, with both faces of the client."""

import http.server
import threading
from functools import partial
from typing import Any
from unittest import mock

import voxgate

from .rig import AUDIO, KEY, URL, Case, ScriptedHttp, refusal
from .test_calls import DONE

MODEL = {"model": "local/commands-en"}


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


class AudioUrl(Case):
    def setUp(self) -> None:
        super().setUp()
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(AUDIO)))
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.base = f"http://127.0.0.1:{server.server_port}"
        self.url = f"{self.base}/yes.wav?X-Amz-Signature=5ec7e7"

    async def test_is_transcribed_like_a_file(self) -> None:
        client = self.client()
        self.assertEqual((await client.transcribe(audio_url=self.url, **MODEL)).text, "yes")
        srt = await client.transcribe(audio_url=self.url, response_format="srt", language="en", **MODEL)
        self.assertRegex(srt, r"^1\n00:00:\d\d,\d{3} --> ")
        sync = self.enterContext(voxgate.Voxgate(api_key=KEY, base_url=URL))
        self.assertEqual(sync.transcribe(audio_url=self.url, **MODEL).text, "yes")

    async def test_is_transcribed_as_a_job(self) -> None:
        client = self.client()
        created = await client.jobs.create(audio_url=self.url, retention_seconds=60, **MODEL)
        self.assertEqual((created.audio_url, created.file.bytes), (f"{self.base}/yes.wav", None))
        job = await client.jobs.wait(created.id, interval=0.1)
        self.assertEqual((job.status, job.result and job.result.text), ("completed", "yes"))
        sync = self.enterContext(voxgate.Voxgate(api_key=KEY, base_url=URL))
        again = sync.jobs.wait(sync.jobs.create(audio_url=self.url, **MODEL).id, interval=0.1)
        self.assertEqual(again.status, "completed")

    async def test_that_cannot_be_fetched_is_refused_with_the_reason(self) -> None:
        for url, status, code in (
            (f"{self.base}/none.wav", 422, "audio_url_failed"),
            ("http://192.0.2.1/a.wav", 400, "audio_url_not_allowed"),
        ):
            with self.assertRaises(voxgate.InvalidRequestError) as raised:
                await self.client().transcribe(audio_url=url, **MODEL)
            error = raised.exception
            self.assertEqual((error.status, error.code, error.param), (status, code, "audio_url"))

    async def test_is_a_field_of_the_form_which_is_sent_again(self) -> None:
        server = self.enterContext(ScriptedHttp(refusal(503, "server_error", "overloaded"), DONE))
        with mock.patch("voxgate.rest.multipart.secrets.token_hex", return_value="x"):
            await self.client(server.url).transcribe(audio_url=self.url, idempotency_key="mine", **MODEL)
        self.assertEqual([each.headers["idempotency-key"] for each in server.arrived], ["mine", "mine"])
        fields = {"model": MODEL["model"], "response_format": "json", "audio_url": self.url}
        start = '--voxgate-x\r\nContent-Disposition: form-data; name='
        form = "".join(f'{start}"{name}"\r\n\r\n{value}\r\n' for name, value in fields.items())
        self.assertEqual([each.body.decode() for each in server.arrived], [f"{form}--voxgate-x--\r\n"] * 2)

    async def test_is_refused_by_name_where_the_audio_is_not_one_file_or_one_address(self) -> None:
        client = self.client()
        for arguments, options, param in (
            ((), {}, "file"),
            ((b"123",), {"audio_url": self.url}, "audio_url"),
            ((), {"audio_url": ""}, "audio_url"),
            ((), {"audio_url": 1}, "audio_url"),
            ((), {"audio_url": self.url, "file_name": "a.wav"}, "file_name"),
            ((), {"audio_url": self.url, "content_type": "audio/wav"}, "content_type"),
            ((), {"audioUrl": self.url}, "audioUrl"),
        ):
            for call in (client.transcribe, client.jobs.create):
                with self.subTest(param), self.assertRaises(voxgate.InvalidRequestError) as raised:
                    await call(*arguments, **options, **MODEL)
                self.assertEqual((raised.exception.code, raised.exception.param), ("invalid_option", param))
