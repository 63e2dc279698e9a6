"""Calls over HTTP against a server that plays every failure: what is tried again and what is not, what an error is, and that no
credential appears in one."""

import asyncio
import json
import traceback
from typing import Any

import voxgate
from voxgate import errors

from .rig import KEY, Case, ScriptedHttp, refusal

MODEL = {"model": "local/commands-en"}
FILE = b"123"
USAGE = {"type": "duration", "seconds": 1}
DONE = (200, {"Voxgate-Warning": "duplicate_fallback, parameter_ignored"}, json.dumps({"text": "yes", "usage": USAGE}))
OVERLOADED = refusal(503, "server_error", "overloaded")


class Calls(Case):
    def scripted(self, *answers: Any) -> ScriptedHttp:
        return self.enterContext(ScriptedHttp(*answers))

    async def failure_of(self, call: Any) -> voxgate.VoxgateError:
        with self.assertRaises(voxgate.VoxgateError) as raised:
            await call
        self.assertNotIn(KEY, "".join(traceback.format_exception(raised.exception)) + repr(vars(raised.exception)))
        return raised.exception


class Error(Calls):
    async def test_has_the_class_of_its_type_and_every_field_of_the_answer(self) -> None:
        for kind, status, cls in (
            ("invalid_request_error", 400, errors.InvalidRequestError),
            ("invalid_request_error", 404, errors.NotFoundError),
            ("authentication_error", 401, errors.AuthenticationError),
            ("permission_error", 403, errors.PermissionDeniedError),
            ("billing_error", 402, errors.InsufficientCreditError),
            ("rate_limit_error", 429, errors.RateLimitError),
            ("upstream_error", 502, errors.UpstreamError),
            ("server_error", 500, errors.ServerError),
        ):
            server = self.scripted(refusal(status, kind, "some_code", Retry_After="7"))
            error = await self.failure_of(self.client(server.url, retries_max=0).transcribe(FILE, **MODEL))
            self.assertIs(type(error), cls)
            self.assertEqual(
                (error.code, error.type, error.status, error.param, error.request_id, error.retry_after_seconds, str(error)),
                ("some_code", kind, status, "model", "req_2", 7, "It is some_code."),
            )

    async def test_follows_the_status_for_a_page_of_a_proxy(self) -> None:
        for status, cls in (
            (401, errors.AuthenticationError),
            (403, errors.PermissionDeniedError),
            (404, errors.NotFoundError),
            (429, errors.RateLimitError),
            (400, errors.InvalidRequestError),
            (502, errors.ServerError),
            (302, errors.InvalidRequestError),
        ):
            server = self.scripted((status, {"Location": "http://127.0.0.1:9/"}, "<html>no</html>"))
            error = await self.failure_of(self.client(server.url, retries_max=0).balance())
            self.assertEqual((type(error), error.code, error.request_id), (cls, "bad_answer", "req_1"))
            self.assertEqual(len(server.arrived), 1)

    async def test_reports_an_answer_that_is_not_from_a_gateway(self) -> None:
        for body in ("<html>", "[]", "{}", '"text"'):
            server = self.scripted((200, {}, body))
            self.assertEqual((await self.failure_of(self.client(server.url).balance())).code, "bad_answer")
            self.assertEqual((await self.failure_of(self.client(server.url).models.list())).code, "bad_answer")


class Retries(Calls):
    async def test_use_the_same_idempotency_key_for_temporary_failures(self) -> None:
        for answer in (
            refusal(408, "invalid_request_error", "request_timeout"),
            refusal(409, "invalid_request_error", "idempotency_conflict", Retry_After="0"),
            refusal(429, "rate_limit_error", "rate_limit_exceeded", Retry_After="0"),
            refusal(500, "server_error", "internal_error"),
            refusal(502, "upstream_error", "upstream_failed"),
            OVERLOADED,
            None,
        ):
            server = self.scripted(answer, answer, DONE)
            told: list[voxgate.AnswerInfo] = []
            data = await self.client(server.url).transcribe(FILE, on_answer=told.append, **MODEL)
            self.assertEqual((data.text, told[0].request_id, told[0].attempts), ("yes", "req_1", 3))
            self.assertEqual(told[0].warnings, ("duplicate_fallback", "parameter_ignored"))
            [key, *others] = [each.headers["idempotency-key"] for each in server.arrived]
            self.assertRegex(key, r"^[0-9a-f]{32}$")
            self.assertEqual(others, [key, key])
            for each in server.arrived:
                self.assertEqual(each.path, "/v1/audio/transcriptions")
                self.assertIn(b'name="model"\r\n\r\nlocal/commands-en\r\n', each.body)
                self.assertIn(b"\r\n\r\n123\r\n--voxgate-", each.body)

    async def test_follow_a_timeout(self) -> None:
        server = self.scripted((0, {}, ""), DONE)
        self.assertEqual((await self.client(server.url, timeout=0.2).transcribe(FILE, **MODEL)).text, "yes")
        self.assertEqual(len(server.arrived), 2)

    async def test_stop_at_the_configured_number(self) -> None:
        for retries_max in (0, 1, 4):
            server = self.scripted(OVERLOADED)
            call = self.client(server.url).transcribe(FILE, retries_max=retries_max, **MODEL)
            self.assertEqual((await self.failure_of(call)).code, "overloaded")
            self.assertEqual(len(server.arrived), retries_max + 1)


class WithoutRetries(Calls):
    async def test_fails_at_once_for_permanent_failures(self) -> None:
        for answer in (
            refusal(400, "invalid_request_error", "invalid_request"),
            refusal(401, "authentication_error", "invalid_api_key"),
            refusal(402, "billing_error", "insufficient_credit"),
            refusal(404, "invalid_request_error", "model_not_found"),
            refusal(409, "invalid_request_error", "idempotency_conflict"),
            refusal(422, "invalid_request_error", "unsupported_parameter"),
            refusal(429, "rate_limit_error", "rate_limit_exceeded", Retry_After="61"),
        ):
            server = self.scripted(answer)
            await self.failure_of(self.client(server.url, retries_max=5).transcribe(FILE, **MODEL))
            self.assertEqual(len(server.arrived), 1)

    async def test_fails_at_once_for_a_source_that_can_be_read_only_once(self) -> None:
        server = self.scripted(OVERLOADED)
        pieces = (FILE for _ in range(1))
        await self.failure_of(self.client(server.url, retries_max=5).transcribe(pieces, **MODEL))
        self.assertEqual(len(server.arrived), 1)


class Cancelling(Calls):
    async def test_ends_a_call_that_waits_for_an_answer_or_its_next_attempt(self) -> None:
        for answer in ((0, {}, ""), refusal(429, "rate_limit_error", "rate_limit_exceeded", Retry_After="50")):
            server = self.scripted(answer)
            calling = asyncio.ensure_future(self.client(server.url).balance())
            await asyncio.to_thread(server.has_arrived.wait)
            calling.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await calling
            self.assertEqual(len(server.arrived), 1)


class Option(Calls):
    async def test_fails_by_name_before_anything_is_sent(self) -> None:
        server = self.scripted(DONE)
        client = self.client(server.url)
        for call, param in (
            (client.transcribe(FILE, modell="x", **MODEL), "modell"),
            (client.transcribe(FILE, model=""), "model"),
            (client.transcribe(FILE, response_format="xml", **MODEL), "response_format"),
            (client.transcribe(FILE, retries_max=-1, **MODEL), "retries_max"),
            (client.transcribe(FILE, timeout=float("nan"), **MODEL), "timeout"),
            (client.transcribe(FILE, idempotency_key="a\r\nb", **MODEL), "idempotency_key"),
            (client.models.list(providers="x"), "providers"),
        ):
            with self.subTest(param):
                error = await self.failure_of(call)
                self.assertEqual((error.code, error.param), ("invalid_option", param))
        self.assertEqual(server.arrived, [])

    async def test_has_its_place_in_the_form_for_every_kind(self) -> None:
        server = self.scripted(DONE)
        await self.client(server.url).transcribe(
            FILE,
            language="en",
            diarization=True,
            temperature=0.5,
            fallbacks=["a/b", "c/d"],
            keyterms=["Voxgate"],
            redact=True,
            replace=["vox gate:Voxgate"],
            provider_params={"a": 1},
            timestamp_granularities=["word", "segment"],
            idempotency_key="mine",
            **MODEL,
        )
        [arrived] = server.arrived
        for name, value in (
            ("language", "en"),
            ("diarization", "true"),
            ("temperature", "0.5"),
            ("fallbacks", "a/b,c/d"),
            ("keyterms", '["Voxgate"]'),
            ("redact", "true"),
            ("replace", '["vox gate:Voxgate"]'),
            ("provider_params", '{"a": 1}'),
            ("timestamp_granularities[]", "word"),
            ("timestamp_granularities[]", "segment"),
        ):
            self.assertIn(f'name="{name}"\r\n\r\n{value}\r\n'.encode(), arrived.body)
        self.assertEqual(arrived.headers["idempotency-key"], "mine")
