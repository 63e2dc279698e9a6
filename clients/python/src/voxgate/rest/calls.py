"""The calls over HTTP: options in, a call out. Both faces of the client send the same ones."""

import json
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar
from urllib.parse import quote

from ..errors import invalid_option
from ..options import (
    MODEL_NAMES,
    CallOptions,
    JobOptions,
    TokenOptions,
    TranscribeOptions,
    number_of,
    refuse_unknown,
    slug_of,
    texts_of,
    written,
)
from ..types.answers import Balance, Mode, Model, Token, Usage
from ..types.reading import read
from ..types.transcriptions import (
    DiarizedTranscription,
    Job,
    JobList,
    JobStatus,
    Transcription,
    VerboseTranscription,
)
from .http import Call, json_body
from .multipart import FileInput, Upload, upload_of, upload_without_file

Data = TypeVar("Data")


@dataclass(frozen=True, slots=True)
class _ModelList:
    data: list[Model]


_TYPES: Mapping[str, type] = {
    "json": Transcription,
    "verbose_json": VerboseTranscription,
    "diarized_json": DiarizedTranscription,
}
_JOB_FIELDS = ("retention_seconds", "webhook_url", "webhook_secret")
_FORMATS = ("json", "text", "verbose_json", "srt", "vtt", "diarized_json")


def transcribe_call(file: FileInput | None, model: str, response_format: str, options: Mapping[str, Any]) -> Call[Any]:
    refuse_unknown("transcribe", options, TranscribeOptions)
    call = _upload_call("/v1/audio/transcriptions", file, model, response_format, options, _reader_of(response_format))
    return replace(call, takes_tokens=True)


def create_job_call(file: FileInput | None, model: str, response_format: str, options: Mapping[str, Any]) -> Call[Job]:
    refuse_unknown("jobs.create", options, JobOptions)
    own = [(name, str(options[name])) for name in _JOB_FIELDS if options.get(name) is not None]
    return _upload_call("/v1/jobs", file, model, response_format, options, _json(Job), own)


def job_call(id: str, options: CallOptions) -> Call[Job]:
    return Call(method="GET", path=_job_path(id), read=_json(Job), options=_known("jobs.retrieve", options))


def wait_call(id: str, interval: float, options: CallOptions) -> Call[Job]:
    """One look at a job."""
    number_of("interval", interval, 0.1, 60)
    return Call(method="GET", path=_job_path(id), read=_json(Job), options=_known("jobs.wait", options))


def jobs_call(
    status: JobStatus | None,
    from_: str | None,
    to: str | None,
    limit: int | None,
    before: str | None,
    tag: str | None,
    options: CallOptions,
) -> Call[JobList]:
    query = {"status": status, "from": from_, "to": to, "limit": limit, "before": before, "tag": tag}
    return Call(
        method="GET", path="/v1/jobs", read=_json(JobList), query=query, options=_known("jobs.list", options)
    )


def job_result_call(id: str, format: str, options: CallOptions) -> Call[Any]:
    return Call(
        method="GET",
        path=f"{_job_path(id)}/result",
        read=_reader_of(format, "format"),
        query={"format": format},
        # A retry would get the same answer until the job is over, and the same error if it failed.
        options=CallOptions(**{"retries_max": 0, **_known("jobs.result", options)}),
    )


def cancel_job_call(id: str, options: CallOptions) -> Call[Job]:
    path = f"{_job_path(id)}/cancel"
    return Call(method="POST", path=path, read=_json(Job), options=_known("jobs.cancel", options))


def delete_job_call(id: str, options: CallOptions) -> Call[None]:
    return Call(
        method="DELETE", path=_job_path(id), read=lambda _: None, options=_known("jobs.delete", options)
    )


def _job_path(id: str) -> str:
    if isinstance(id, str) and id != "":
        return f"/v1/jobs/{quote(id, safe='')}"
    raise invalid_option("id", "`id` is missing: the `id` of a job.")


def _reader_of(format: str, option: str = "response_format") -> Callable[[bytes], Any]:
    if format not in _FORMATS:
        raise invalid_option(option, f"`{option}` is one of {', '.join(_FORMATS)}.")
    return _text if format not in _TYPES else _json(_TYPES[format])


def _upload_call(
    path: str,
    file: FileInput | None,
    model: str,
    response_format: str,
    options: Mapping[str, Any],
    read_answer: Callable[[bytes], Data],
    more: Sequence[tuple[str, str]] = (),
) -> Call[Data]:
    _reader_of(response_format)
    given = {"model": slug_of(model), "response_format": response_format, **options}
    texts = texts_of(given, ("model", "response_format", "temperature", *MODEL_NAMES))
    fields = [(name, written(value)) for name, value in texts.items()]
    fields += [("timestamp_granularities[]", each) for each in options.get("timestamp_granularities", ())]
    upload = _audio_of([*fields, *more], file, options)
    return Call(
        method="POST",
        path=path,
        read=read_answer,
        headers={"Idempotency-Key": _key_of(options.get("idempotency_key"))},
        make_body=upload.make,
        is_repeatable=upload.is_repeatable,
        options=_call_options(options),
    )


def _audio_of(fields: Sequence[tuple[str, str]], file: FileInput | None, options: Mapping[str, Any]) -> Upload:
    url: Any = options.get("audio_url")
    if url is None:
        if file is None:
            raise invalid_option("file", "Give a file, or the address of one as `audio_url`.")
        return upload_of(fields, file, options.get("file_name"), options.get("content_type"))
    if not isinstance(url, str) or url == "":
        raise invalid_option("audio_url", "`audio_url` is a text: the address of the audio.")
    if file is not None:
        raise invalid_option("audio_url", "Give one of a file and `audio_url`, not both.")
    for name in ("file_name", "content_type"):
        if options.get(name) is not None:
            raise invalid_option(name, f"`{name}` goes with a file, not with `audio_url`.")
    return upload_without_file([*fields, ("audio_url", url)])


_TOKEN_NAMES = ("models", "max_seconds", "max_cost", "languages", "single_use", "tags", "replace")


def token_call(ttl_seconds: int | None, options: TokenOptions) -> Call[Token]:
    given: dict[str, Any] = {"ttl_seconds": ttl_seconds, **options}
    body = {name: given[name] for name in ("ttl_seconds", *_TOKEN_NAMES) if given.get(name) is not None}
    refuse_unknown("tokens.create", options, TokenOptions)
    return Call(
        method="POST",
        path="/v1/tokens",
        read=_json(Token),
        make_body=json_body(body),
        options=_call_options(options),
    )


def models_call(mode: Mode | None, provider: str | None, options: CallOptions) -> Call[list[Model]]:
    def read_list(content: bytes) -> list[Model]:
        return _json(_ModelList)(content).data

    query = {"mode": mode, "provider": provider}
    return Call(
        method="GET", path="/v1/models", read=read_list, query=query, options=_known("models.list", options)
    )


def model_call(slug: str, options: CallOptions) -> Call[Model]:
    path = f"/v1/models/{quote(slug_of(slug))}"
    return Call(method="GET", path=path, read=_json(Model), options=_known("models.retrieve", options))


def usage_call(
    from_: str | None,
    to: str | None,
    group_by: str | None,
    key: str | None,
    tag: str | None,
    options: CallOptions,
) -> Call[Usage]:
    query = {"from": from_, "to": to, "group_by": group_by, "key": key, "tag": tag}
    return Call(method="GET", path="/v1/usage", read=_json(Usage), query=query, options=_known("usage", options))


def balance_call(options: CallOptions) -> Call[Balance]:
    return Call(method="GET", path="/v1/balance", read=_json(Balance), options=_known("balance", options))


def _json(cls: type[Data]) -> Callable[[bytes], Data]:
    return lambda content: read(cls, json.loads(content))


def _text(content: bytes) -> str:
    return content.decode()


def _known(what: str, options: Mapping[str, Any]) -> CallOptions:
    refuse_unknown(what, options, CallOptions)
    return _call_options(options)


def _call_options(options: Mapping[str, Any]) -> CallOptions:
    if "timeout" in options:
        number_of("timeout", options["timeout"], 0.001, 3_600)
    if "retries_max" in options:
        number_of("retries_max", options["retries_max"], 0, 10, whole=True)
    return CallOptions(**{name: options[name] for name in CallOptions.__annotations__ if name in options})


def _key_of(key: Any) -> str:
    if key is None:
        return secrets.token_hex(16)
    if isinstance(key, str) and re.fullmatch(r"[\x20-\x7e]+", key):
        return key
    raise invalid_option("idempotency_key", "`idempotency_key` is a text of printable ASCII characters.")
