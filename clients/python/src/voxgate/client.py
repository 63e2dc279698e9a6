"""The client: one object for one gateway and one credential."""

import ssl
import time
from types import TracebackType
from typing import Any, Literal, TypeVar, Unpack, overload

from .live.listening import listening_of
from .options import CallOptions, JobOptions, ListenOptions, TokenOptions, TranscribeOptions
from .rest import calls
from .rest.http import Call, Exchange
from .rest.multipart import FileInput
from .settings import GetToken, Settings, settings_of
from .sync.loop_thread import LoopThread
from .sync.session import LiveSession
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


class Voxgate:
    """The client. Any thread may use it. Raises an InvalidRequestError for an option that is wrong."""

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
        self._loop = LoopThread()
        self._calls = Calls(self._settings, self._loop)
        self.jobs = JobCalls(self._calls)
        self.models = ModelCalls(self._calls)
        self.tokens = TokenCalls(self._calls)

    @overload
    def transcribe(
        self,
        file: FileInput | None = None,
        *,
        model: str,
        response_format: Literal["json"] = "json",
        **options: Unpack[TranscribeOptions],
    ) -> Transcription: ...
    @overload
    def transcribe(
        self,
        file: FileInput | None = None,
        *,
        model: str,
        response_format: Literal["verbose_json"],
        **options: Unpack[TranscribeOptions],
    ) -> VerboseTranscription: ...
    @overload
    def transcribe(
        self,
        file: FileInput | None = None,
        *,
        model: str,
        response_format: Literal["diarized_json"],
        **options: Unpack[TranscribeOptions],
    ) -> DiarizedTranscription: ...
    @overload
    def transcribe(
        self,
        file: FileInput | None = None,
        *,
        model: str,
        response_format: Literal["text", "srt", "vtt"],
        **options: Unpack[TranscribeOptions],
    ) -> str: ...
    def transcribe(
        self,
        file: FileInput | None = None,
        *,
        model: str,
        response_format: str = "json",
        **options: Unpack[TranscribeOptions],
    ) -> Any:
        """Transcribes a file, or the audio at `audio_url`. Raises a VoxgateError, or what reading the file raises."""
        return self._calls.run(calls.transcribe_call(file, model, response_format, options))

    def listen(self, *, model: str, **options: Unpack[ListenOptions]) -> LiveSession:
        """A live session; it connects as it is entered or first used. Raises for an option that is wrong."""
        return LiveSession(self._settings, listening_of(model, options), self._loop)

    def usage(
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
        return self._calls.run(calls.usage_call(from_, to, group_by, key, tag, options))

    def balance(self, **options: Unpack[CallOptions]) -> Balance:
        """What the organisation has left."""
        return self._calls.run(calls.balance_call(options))

    def close(self) -> None:
        """Ends its sessions, and the thread that they have in common."""
        self._loop.stop()

    def __enter__(self) -> "Voxgate":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Calls:
    """Runs calls in the caller's thread."""

    def __init__(self, settings: Settings, loop: LoopThread) -> None:
        self._settings = settings
        self._loop = loop

    def run(self, call: Call[Data]) -> Data:
        settings = self._settings
        secret = self._loop.run(settings.for_connection) if call.takes_tokens else settings.for_request()
        return Exchange(settings, call, secret).run()


class JobCalls:
    """Files that are transcribed in the background."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def create(
        self, file: FileInput | None = None, *, model: str, response_format: str = "json", **options: Unpack[JobOptions]
    ) -> Job:
        """Sends a file, or the address of one as `audio_url`. Raises a VoxgateError, or what reading the file raises."""
        return self._calls.run(calls.create_job_call(file, model, response_format, options))

    def retrieve(self, id: str, **options: Unpack[CallOptions]) -> Job:
        """With the transcript, if it is completed. Raises a NotFoundError."""
        return self._calls.run(calls.job_call(id, options))

    def list(
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
        return self._calls.run(calls.jobs_call(status, from_, to, limit, before, tag, options))

    @overload
    def result(self, id: str, *, format: Literal["json"], **options: Unpack[CallOptions]) -> Transcription: ...
    @overload
    def result(self, id: str, *, format: Literal["verbose_json"], **options: Unpack[CallOptions]) -> VerboseTranscription: ...
    @overload
    def result(self, id: str, *, format: Literal["diarized_json"], **options: Unpack[CallOptions]) -> DiarizedTranscription: ...
    @overload
    def result(self, id: str, *, format: Literal["text", "srt", "vtt"], **options: Unpack[CallOptions]) -> str: ...
    def result(self, id: str, *, format: str, **options: Unpack[CallOptions]) -> Any:
        """The transcript of a completed job. Raises its error if it failed, and `job_not_over` if it is not over. Not retried,
        unless `retries_max` says so."""
        return self._calls.run(calls.job_result_call(id, format, options))

    def cancel(self, id: str, **options: Unpack[CallOptions]) -> Job:
        """Ends the work on a job. The answer is the job as it is now."""
        return self._calls.run(calls.cancel_job_call(id, options))

    def delete(self, id: str, **options: Unpack[CallOptions]) -> None:
        """Removes a job with its transcript."""
        self._calls.run(calls.delete_job_call(id, options))

    def wait(self, id: str, *, interval: float = 1, **options: Unpack[CallOptions]) -> Job:
        """Returns the job when it is over, whatever came of it. `interval` in seconds, from 0.1 to 60."""
        call = calls.wait_call(id, interval, options)
        while True:
            job = self._calls.run(call)
            if job.ended_at is not None:
                return job
            time.sleep(interval)


class ModelCalls:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def list(
        self, *, mode: Mode | None = None, provider: str | None = None, **options: Unpack[CallOptions]
    ) -> Models:
        """The models, or those of one mode or provider."""
        return self._calls.run(calls.models_call(mode, provider, options))

    def retrieve(self, model: str, **options: Unpack[CallOptions]) -> Model:
        """One model. Raises a NotFoundError that names the nearest slugs."""
        return self._calls.run(calls.model_call(model, options))


class TokenCalls:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def create(self, *, ttl_seconds: int | None = None, **options: Unpack[TokenOptions]) -> Token:
        """Mints a client token for a browser or a device: 10 to 300 seconds, 60 when absent."""
        return self._calls.run(calls.token_call(ttl_seconds, options))
