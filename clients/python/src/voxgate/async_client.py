"""The client for asyncio: one object for one gateway and one credential."""

import asyncio
import ssl
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Literal, TypeVar, Unpack, overload

from .live.listening import listening_of
from .live.session import AsyncLiveSession
from .options import CallOptions, JobOptions, ListenOptions, TokenOptions, TranscribeOptions
from .rest import calls
from .rest.http import Call, Exchange
from .rest.multipart import FileInput
from .settings import GetToken, Settings, settings_of
from .types.answers import Balance, Mode, Model, Token, Usage
from .types.transcriptions import (
    DiarizedTranscription,
    Job,
    JobList,
    JobStatus,
    Transcription,
    VerboseTranscription,
)

Data = TypeVar("Data")
Models = list[Model]

# HTTP calls under way at a time: more wait.
CALLS_MAX = 32


class AsyncVoxgate:
    """The client for asyncio. HTTP calls run in threads of their own, 32 at a time; more wait. A call that is cancelled ends its
    request. Raises an InvalidRequestError for an option that is wrong."""

    def __init__(
        self,
        *,
        api_key: str | None = None,
        token: str | None = None,
        get_token: GetToken | None = None,
        base_url: str = "http://127.0.0.1:8080",
        timeout: float = 600,
        retries_max: int = 2,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        """`api_key` is `sk_vox_…`, of the environment's `VOXGATE_KEY` when no credential is given. `token` is a client token, and
        `get_token` gives a fresh one for every connection: these open live sessions, and upload files where their key allows that.
        `timeout` is how many seconds the gateway may say nothing, `retries_max` how often a failed call is sent again."""
        self._settings = settings_of(api_key, token, get_token, base_url, timeout, retries_max, ssl_context)
        self._calls = AsyncCalls(self._settings)
        self.jobs = AsyncJobCalls(self._calls)
        self.models = AsyncModelCalls(self._calls)
        self.tokens = AsyncTokenCalls(self._calls)

    @overload
    async def transcribe(
        self,
        file: FileInput | None = None,
        *,
        model: str,
        response_format: Literal["json"] = "json",
        **options: Unpack[TranscribeOptions],
    ) -> Transcription: ...
    @overload
    async def transcribe(
        self,
        file: FileInput | None = None,
        *,
        model: str,
        response_format: Literal["verbose_json"],
        **options: Unpack[TranscribeOptions],
    ) -> VerboseTranscription: ...
    @overload
    async def transcribe(
        self,
        file: FileInput | None = None,
        *,
        model: str,
        response_format: Literal["diarized_json"],
        **options: Unpack[TranscribeOptions],
    ) -> DiarizedTranscription: ...
    @overload
    async def transcribe(
        self,
        file: FileInput | None = None,
        *,
        model: str,
        response_format: Literal["text", "srt", "vtt"],
        **options: Unpack[TranscribeOptions],
    ) -> str: ...
    async def transcribe(
        self,
        file: FileInput | None = None,
        *,
        model: str,
        response_format: str = "json",
        **options: Unpack[TranscribeOptions],
    ) -> Any:
        """Transcribes a file, or the audio at `audio_url`. Raises a VoxgateError, or what reading the file raises."""
        return await self._calls.run(calls.transcribe_call(file, model, response_format, options))

    def listen(self, *, model: str, **options: Unpack[ListenOptions]) -> AsyncLiveSession:
        """A live session; it connects as it is entered or first used. Raises for an option that is wrong."""
        return AsyncLiveSession(self._settings, listening_of(model, options))

    async def usage(
        self,
        *,
        from_: str | None = None,
        to: str | None = None,
        group_by: str | None = None,
        key: str | None = None,
        tag: str | None = None,
        **options: Unpack[CallOptions],
    ) -> Usage:
        """What the organisation has used: from the beginning of the month till now, where no ISO 8601 times say otherwise.
        `group_by` is `model`, `provider`, `day`, `key`, or a tag as `tag:customer`; `tag` is one as `customer:acme`."""
        return await self._calls.run(calls.usage_call(from_, to, group_by, key, tag, options))

    async def balance(self, **options: Unpack[CallOptions]) -> Balance:
        """What the organisation has left."""
        return await self._calls.run(calls.balance_call(options))

    async def close(self) -> None:
        """No more calls. Sessions go on."""
        self._calls.close()

    async def __aenter__(self) -> "AsyncVoxgate":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class AsyncCalls:
    """Runs calls in threads."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._pool = ThreadPoolExecutor(CALLS_MAX, thread_name_prefix="voxgate")

    async def run(self, call: Call[Data]) -> Data:
        settings = self._settings
        secret = await settings.for_connection() if call.takes_tokens else settings.for_request()
        exchange = Exchange(settings, call, secret)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, exchange.run)
        except asyncio.CancelledError:
            exchange.cancel()
            raise

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


class AsyncJobCalls:
    """Files that are transcribed in the background."""

    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def create(
        self, file: FileInput | None = None, *, model: str, response_format: str = "json", **options: Unpack[JobOptions]
    ) -> Job:
        """Sends a file, or the address of one as `audio_url`. Raises a VoxgateError, or what reading the file raises."""
        return await self._calls.run(calls.create_job_call(file, model, response_format, options))

    async def retrieve(self, id: str, **options: Unpack[CallOptions]) -> Job:
        """With the transcript, if it is completed. Raises a NotFoundError."""
        return await self._calls.run(calls.job_call(id, options))

    async def list(
        self,
        *,
        status: JobStatus | None = None,
        from_: str | None = None,
        to: str | None = None,
        limit: int | None = None,
        before: str | None = None,
        tag: str | None = None,
        **options: Unpack[CallOptions],
    ) -> JobList:
        """A page of jobs of this API key, newest first; with `tag`, as `customer:acme`, only those that have it."""
        return await self._calls.run(calls.jobs_call(status, from_, to, limit, before, tag, options))

    @overload
    async def result(self, id: str, *, format: Literal["json"], **options: Unpack[CallOptions]) -> Transcription: ...
    @overload
    async def result(self, id: str, *, format: Literal["verbose_json"], **options: Unpack[CallOptions]) -> VerboseTranscription: ...
    @overload
    async def result(self, id: str, *, format: Literal["diarized_json"], **options: Unpack[CallOptions]) -> DiarizedTranscription: ...
    @overload
    async def result(self, id: str, *, format: Literal["text", "srt", "vtt"], **options: Unpack[CallOptions]) -> str: ...
    async def result(self, id: str, *, format: str, **options: Unpack[CallOptions]) -> Any:
        """The transcript of a completed job. Raises its error if it failed, and `job_not_over` if it is not over. Not retried,
        unless `retries_max` says so."""
        return await self._calls.run(calls.job_result_call(id, format, options))

    async def cancel(self, id: str, **options: Unpack[CallOptions]) -> Job:
        """Ends the work on a job. The answer is the job as it is now."""
        return await self._calls.run(calls.cancel_job_call(id, options))

    async def delete(self, id: str, **options: Unpack[CallOptions]) -> None:
        """Removes a job with its transcript."""
        await self._calls.run(calls.delete_job_call(id, options))

    async def wait(self, id: str, *, interval: float = 1, **options: Unpack[CallOptions]) -> Job:
        """Returns the job when it is over, whatever came of it. `interval` in seconds, from 0.1 to 60."""
        call = calls.wait_call(id, interval, options)
        while True:
            job = await self._calls.run(call)
            if job.ended_at is not None:
                return job
            await asyncio.sleep(interval)


class AsyncModelCalls:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def list(
        self, *, mode: Mode | None = None, provider: str | None = None, **options: Unpack[CallOptions]
    ) -> Models:
        """The models, or those of one mode or provider."""
        return await self._calls.run(calls.models_call(mode, provider, options))

    async def retrieve(self, model: str, **options: Unpack[CallOptions]) -> Model:
        """One model. Raises a NotFoundError that names the nearest slugs."""
        return await self._calls.run(calls.model_call(model, options))


class AsyncTokenCalls:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def create(self, *, ttl_seconds: int | None = None, **options: Unpack[TokenOptions]) -> Token:
        """Mints a client token for a browser or a device: 10 to 300 seconds, 60 when absent."""
        return await self._calls.run(calls.token_call(ttl_seconds, options))
