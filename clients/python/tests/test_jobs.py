"""Jobs, from the upload to the transcript, with both faces of the client."""

import asyncio
import inspect
import json
from typing import Any

import voxgate

from .rig import AUDIO, KEY, URL, Case, ScriptedHttp, refusal

PATH = AUDIO / "yes.wav"
MODEL = {"model": "local/commands-en"}
STALLED = {"model": "loopback/script", "provider_params": {"fail": {"how": "stall"}}}
REFUSED = {"model": "loopback/script", "provider_params": {"fail": {"how": "refuse"}}}


def shown(ended_at: str | None) -> Any:
    """A job, as the gateway answers."""
    file = {"name": "yes.wav", "bytes": 1}
    times = {"created_at": "2026-01-01T00:00:00.000Z", "ended_at": ended_at, "expires_at": None}
    job = {"id": "some-id", "status": "queued", "model": "m", "file": file, "response_format": "json", "attempts": 0}
    return 200, {}, json.dumps({**job, **times})


class Faces(Case):
    """Every case runs with the asyncio client and with the other one: `of` is the value of a call of either."""

    def faces(self, url: str = URL) -> list[Any]:
        sync = self.enterContext(voxgate.Voxgate(api_key=KEY, base_url=url))
        return [self.client(url), sync]

    async def of(self, call: Any) -> Any:
        return await call if inspect.isawaitable(call) else call

    async def failure_of(self, call: Any, *arguments: Any, **options: Any) -> voxgate.VoxgateError:
        with self.assertRaises(voxgate.VoxgateError) as raised:
            await self.of(call(*arguments, **options))
        return raised.exception


class Job(Faces):
    async def test_has_its_transcript_in_every_format(self) -> None:
        for client in self.faces():
            with self.subTest(type(client).__name__):
                jobs = client.jobs
                options = {"response_format": "srt", "retention_seconds": 60, "idempotency_key": f"once {id(client)}", **MODEL}
                created = await self.of(jobs.create(PATH, **options))
                self.assertIs(type(created), voxgate.Job)
                self.assertEqual((created.model, created.file.name), (MODEL["model"], "yes.wav"))
                self.assertEqual(created.file.bytes, PATH.stat().st_size)
                again = await self.of(jobs.create(PATH, **options))
                self.assertEqual(again.id, created.id)
                job = await self.of(jobs.wait(created.id, interval=0.1))
                self.assertEqual((job.status, job.response_format, job.result.text), ("completed", "srt", "yes"))
                self.assertEqual([word.word for word in job.result.words], ["yes"])
                results = {
                    each: await self.of(jobs.result(job.id, format=each))
                    for each in ("text", "srt", "vtt", "json", "verbose_json", "diarized_json")
                }
                self.assertEqual(results["text"].strip(), "yes")
                self.assertRegex(results["srt"], r"^1\n00:00:\d\d,\d{3} --> ")
                self.assertRegex(results["vtt"], r"^WEBVTT\n")
                self.assertEqual((type(results["json"]), results["json"].text), (voxgate.Transcription, "yes"))
                self.assertIs(type(results["verbose_json"]), voxgate.VerboseTranscription)
                self.assertIs(type(results["diarized_json"]), voxgate.DiarizedTranscription)

    async def test_names_the_webhook_that_receives_its_end(self) -> None:
        for client in self.faces():
            job = await self.of(
                client.jobs.create(
                    PATH,
                    webhook_url="https://example.com/hook?token=t",
                    webhook_secret="whsec_" + "A" * 43 + "=",
                    **STALLED,
                )
            )
            self.assertEqual(job.webhook_url, "https://example.com/hook")
            self.assertIsNone((await self.of(client.jobs.retrieve(job.id))).webhook_status)
            await self.of(client.jobs.delete(job.id))
            error = await self.failure_of(client.jobs.create, PATH, webhook_url="https://10.0.0.1/", **MODEL)
            self.assertEqual((error.status, error.param), (400, "webhook_url"))

    async def test_raises_the_error_that_it_failed_with(self) -> None:
        for client in self.faces():
            job = await self.of(client.jobs.create(PATH, **REFUSED))
            job = await self.of(client.jobs.wait(job.id, interval=0.1))
            self.assertEqual((job.status, job.error.type), ("failed", "upstream_error"))
            error = await self.failure_of(client.jobs.result, job.id, format="text")
            self.assertEqual((type(error), error.code), (voxgate.UpstreamError, job.error.code))

    async def test_is_cancelled_and_has_no_result_before(self) -> None:
        for client in self.faces():
            job = await self.of(client.jobs.create(PATH, **STALLED))
            error = await self.failure_of(client.jobs.result, job.id, format="text")
            self.assertEqual((type(error), error.status, error.code), (voxgate.InvalidRequestError, 409, "job_not_over"))
            self.assertEqual((await self.of(client.jobs.cancel(job.id))).id, job.id)
            job = await self.of(client.jobs.wait(job.id, interval=0.1))
            self.assertEqual((job.status, job.error.code), ("cancelled", "job_cancelled"))
            self.assertEqual((await self.failure_of(client.jobs.result, job.id, format="srt")).code, "job_cancelled")

    async def test_is_gone_after_it_is_deleted(self) -> None:
        for client in self.faces():
            jobs = client.jobs
            job = await self.of(jobs.create(PATH, **MODEL))
            await self.of(jobs.wait(job.id, interval=0.1))
            self.assertIsNone(await self.of(jobs.delete(job.id)))
            for call, options in (
                (jobs.retrieve, {}),
                (jobs.wait, {}),
                (jobs.result, {"format": "text"}),
                (jobs.cancel, {}),
                (jobs.delete, {}),
            ):
                self.assertIs(type(await self.failure_of(call, job.id, **options)), voxgate.NotFoundError)


class List(Faces):
    async def test_has_pages_newest_first(self) -> None:
        for client in self.faces():
            created = [(await self.of(client.jobs.create(PATH, **MODEL))).id for _ in range(3)]
            for each in created:
                await self.of(client.jobs.wait(each, interval=0.1))
            listed: list[str] = []
            page: Any = None
            while page is None or page.has_more:
                page = await self.of(client.jobs.list(limit=2, before=page and page.next))
                self.assertIs(type(page), voxgate.JobList)
                self.assertLessEqual(len(page.data), 2)
                listed += [job.id for job in page.data]
            self.assertIsNone(page.next)
            # Other cases make jobs of the same key.
            self.assertEqual([each for each in listed if each in created], created[::-1])
            self.assertEqual(len(set(listed)), len(listed))
            completed = (await self.of(client.jobs.list(status="completed", limit=100, from_="2020-01-01"))).data
            self.assertLessEqual(set(created), {job.id for job in completed})
            self.assertEqual({(job.status, job.result) for job in completed}, {("completed", None)})
            self.assertEqual((await self.of(client.jobs.list(to="2020-01-01"))).data, [])
            error = await self.failure_of(client.jobs.list, limit=101)
            self.assertEqual((error.status, error.param), (400, "limit"))


class Option(Faces):
    async def test_is_refused_by_name_before_a_request(self) -> None:
        server = self.enterContext(ScriptedHttp(shown(None)))
        for client in self.faces(server.url):
            jobs = client.jobs
            for call, arguments, options, param in (
                (jobs.create, (PATH,), {"stream": True, **MODEL}, "stream"),
                (jobs.create, (PATH,), {"model": ""}, "model"),
                (jobs.create, (PATH,), {"response_format": "xml", **MODEL}, "response_format"),
                (jobs.create, (None,), MODEL, "file"),
                (jobs.retrieve, ("x",), {"format": "text"}, "format"),
                (jobs.retrieve, ("",), {}, "id"),
                (jobs.list, (), {"state": "failed"}, "state"),
                (jobs.result, ("x",), {"format": "xml"}, "format"),
                (jobs.result, ("x",), {"format": "text", "retries_max": 11}, "retries_max"),
                (jobs.cancel, ("x",), {"reason": "x"}, "reason"),
                (jobs.delete, ("x",), {"force": True}, "force"),
                (jobs.wait, ("x",), {"interval_ms": 100}, "interval_ms"),
                (jobs.wait, ("x",), {"interval": 0.09}, "interval"),
                (jobs.wait, ("x",), {"interval": 60.1}, "interval"),
                (jobs.wait, ("x",), {"interval": float("nan")}, "interval"),
                (jobs.wait, (None,), {}, "id"),
            ):
                with self.subTest(f"{type(client).__name__} {param}"):
                    error = await self.failure_of(call, *arguments, **options)
                    self.assertEqual((error.code, error.param), ("invalid_option", param))
        self.assertEqual(server.arrived, [])

    async def test_decides_whether_a_result_is_requested_again(self) -> None:
        for index in range(2):
            server = self.enterContext(ScriptedHttp(refusal(502, "upstream_error", "upstream_failed")))
            client = self.faces(server.url)[index]
            for options, count in (({}, 1), ({"retries_max": 1}, 2)):
                server.arrived.clear()
                error = await self.failure_of(client.jobs.result, "x", format="text", **options)
                self.assertEqual((error.code, len(server.arrived)), ("upstream_failed", count))


class Waiting(Faces):
    async def test_survives_a_node_that_is_away_for_a_moment(self) -> None:
        away = refusal(503, "server_error", "node_draining", Retry_After="0")
        for index in range(2):
            server = self.enterContext(ScriptedHttp(away, shown(None), away, shown("2026-01-01T00:00:01.000Z")))
            job = await self.of(self.faces(server.url)[index].jobs.wait("some-id", interval=0.1))
            self.assertEqual((job.ended_at, len(server.arrived)), ("2026-01-01T00:00:01.000Z", 4))

    async def test_ends_when_it_is_cancelled(self) -> None:
        server = self.enterContext(ScriptedHttp(shown(None)))
        waiting = asyncio.create_task(self.client(server.url).jobs.wait("some-id", interval=60))
        await asyncio.to_thread(server.has_arrived.wait)
        waiting.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await waiting
        self.assertEqual(len(server.arrived), 1)
