"""A transcription of a file as it is answered. Generated from src/api by `npx tsx scripts/generate.ts python-types`."""

from dataclasses import dataclass
from typing import Literal

from .answers import ErrorCode, ErrorType, ResponseFormat, Word

__all__ = [
    "TranscriptionLogprob",
    "TranscriptionUsage",
    "TranscriptionWarning",
    "Transcription",
    "Segment",
    "VerboseTranscriptionUsage",
    "VerboseTranscriptionChoiceAccuracy",
    "VerboseTranscriptionChoice",
    "VerboseTranscriptionFallback",
    "VerboseTranscription",
    "DiarizedSegment",
    "DiarizedTranscription",
    "TranscriptDelta",
    "TranscriptSegment",
    "TranscriptDone",
    "TranscriptionEvent",
    "JobStatus",
    "JobFile",
    "JobProgress",
    "JobErrorDetail",
    "JobError",
    "Job",
    "JobList",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptionLogprob:
    """A part of Transcription."""

    token: str
    bytes: list[int] | None = None
    logprob: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptionUsage:
    """A part of Transcription."""

    type: Literal["duration"] = "duration"
    seconds: float
    """Seconds that are charged: those of the file, times its channels where the provider bills each of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptionWarning:
    """A part of Transcription."""

    code: str
    message: str
    param: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcription:
    """The answer in the format `json`."""

    text: str
    no_speech: Literal[True] | None = None
    """Only with a speech gate (`speech_gate`): no voice was found in the audio of any of the text, so the model
    invented it. With `speech_gate=drop`, `text` is empty."""
    redactions: dict[str, int] | None = None
    """How often the gateway has redacted each class; absent if it has redacted nothing."""
    logprobs: list[TranscriptionLogprob] | None = None
    """Where `include[]=logprobs` was asked for and the model gives them."""
    usage: TranscriptionUsage
    warnings: list[TranscriptionWarning] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A stretch of a transcription; times in seconds."""

    id: int
    seek: int
    """OpenAI's; 0 here."""
    start: float
    end: float
    text: str
    tokens: list[int]
    """OpenAI's; empty here."""
    temperature: float
    """That of the request, or 0."""
    avg_logprob: float
    """The logarithm of `confidence`; 0 where the model gives none."""
    compression_ratio: float
    """OpenAI's; 1 here."""
    no_speech_prob: float
    """OpenAI’s; 1 where the segment has `no_speech`, and 0 otherwise."""
    no_speech: Literal[True] | None = None
    """Only with a speech gate (`speech_gate`): no voice was found in the audio of the segment, so the model invented
    it."""
    speaker: int | None = None
    confidence: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VerboseTranscriptionUsage:
    """A part of VerboseTranscription."""

    type: Literal["duration"] = "duration"
    seconds: float
    cost_usd: str
    byok: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class VerboseTranscriptionChoiceAccuracy:
    """With `prefer=accuracy`: what the operator has measured in the language of the request; absent for a model
    without a measurement."""

    error_rate: float
    """Errors for each word or character."""
    unit: Literal["words", "characters"]
    units: int
    """Number of words or characters that were compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerboseTranscriptionChoice:
    """A part of VerboseTranscription."""

    model: str
    """Slug `<provider>/<model>`."""
    reason: str
    """Why it precedes the next candidate, for people. It may change."""
    price_per_minute: str | None = None
    """USD, decimal, with the requested add-ons; absent where the price is per session."""
    first_word_ms: float | None = None
    """Live: median time from the first audio of a turn until its first words."""
    answer_ms_per_second: float | None = None
    """Files: median time until the answer, for each second of audio."""
    error_rate: float | None = None
    """Share of attempts that failed or were empty, from 0 to 1; absent without attempts."""
    accuracy: VerboseTranscriptionChoiceAccuracy | None = None
    """With `prefer=accuracy`: what the operator has measured in the language of the request; absent for a model
    without a measurement."""
    measured: int
    """Number of attempts at it in the last six hours, on all nodes; 1000 stands for 1000 or more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerboseTranscriptionFallback:
    """A part of VerboseTranscription."""

    model: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VerboseTranscription:
    """The answer in the format `verbose_json`."""

    text: str
    task: Literal["transcribe"] = "transcribe"
    language: str
    """Its English name in lower case, such as `english`, as OpenAI writes it; `und` where nobody knows. Live events
    have codes."""
    duration: float
    """Seconds of audio."""
    model: str
    """The slug that answered."""
    segments: list[Segment] | None = None
    """Left out where `timestamp_granularities[]` asks for words alone."""
    words: list[Word] | None = None
    """Left out where `timestamp_granularities[]` asks for segments alone."""
    request_id: str
    usage: VerboseTranscriptionUsage
    no_speech: Literal[True] | None = None
    """Only with a speech gate (`speech_gate`): no voice was found in the audio of any of the text, so the model
    invented it. With `speech_gate=drop`, `text` is empty."""
    choice: list[VerboseTranscriptionChoice] | None = None
    """The models that the gateway chose, in order. Absent without `auto`."""
    redactions: dict[str, int] | None = None
    """How often the gateway has redacted each class; absent if it has redacted nothing."""
    fallback: list[VerboseTranscriptionFallback] | None = None
    warnings: list[TranscriptionWarning] | None = None
    logprobs: list[TranscriptionLogprob] | None = None
    """Where `include[]=logprobs` was asked for and the model gives them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiarizedSegment:
    """A stretch of a transcription with its speaker; times in seconds."""

    type: Literal["transcript.text.segment"] = "transcript.text.segment"
    id: str
    start: float
    end: float
    text: str
    no_speech: Literal[True] | None = None
    """Only with a speech gate (`speech_gate`): no voice was found in the audio of the segment, so the model invented
    it."""
    speaker: str
    """`A`, `B` and so on, in the order of first appearance; `unknown` where the model told none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiarizedTranscription:
    """The answer in the format `diarized_json`."""

    text: str
    task: Literal["transcribe"] = "transcribe"
    duration: float
    """Seconds of audio."""
    segments: list[DiarizedSegment]
    no_speech: Literal[True] | None = None
    """Only with a speech gate (`speech_gate`): no voice was found in the audio of any of the text, so the model
    invented it. With `speech_gate=drop`, `text` is empty."""
    redactions: dict[str, int] | None = None
    """How often the gateway has redacted each class; absent if it has redacted nothing."""
    usage: TranscriptionUsage
    warnings: list[TranscriptionWarning] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptDelta:
    """A further piece of a streamed transcription’s text."""

    type: Literal["transcript.text.delta"] = "transcript.text.delta"
    delta: str
    no_speech: Literal[True] | None = None
    """Only with a speech gate (`speech_gate`): no voice was found in the audio of the delta, so the model invented
    it."""
    segment_id: str | None = None
    """With `diarization`: the segment that it belongs to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptSegment:
    """A segment of a streamed transcription with its speaker."""

    type: Literal["transcript.text.segment"] = "transcript.text.segment"
    id: str
    start: float
    end: float
    text: str
    no_speech: Literal[True] | None = None
    """Only with a speech gate (`speech_gate`): no voice was found in the audio of the segment, so the model invented
    it."""
    speaker: int | str
    """From 0 in the order of first appearance; with `response_format=diarized_json` `A`, `B` and so on, or
    `unknown`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptDone:
    """The end of a streamed transcription."""

    type: Literal["transcript.text.done"] = "transcript.text.done"
    text: str
    no_speech: Literal[True] | None = None
    """Only with a speech gate (`speech_gate`): no voice was found in the audio of any of the text, so the model
    invented it. With `speech_gate=drop`, `text` is empty."""
    redactions: dict[str, int] | None = None
    """How often the gateway has redacted each class; absent if it has redacted nothing."""
    logprobs: list[TranscriptionLogprob] | None = None
    """Where `include[]=logprobs` was asked for and the model gives them."""
    usage: TranscriptionUsage
    warnings: list[TranscriptionWarning] | None = None


# What a streamed transcription is told in.
TranscriptionEvent = TranscriptDelta | TranscriptSegment | TranscriptDone


# How far a job is.
JobStatus = Literal[
        "queued",
        "processing",
        "completed",
        "failed",
        "cancelled",
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFile:
    """A part of Job."""

    name: str
    bytes: int | None
    """Null where the audio is at an address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobProgress:
    """Of a file that is being transcribed in parts, but not in lists."""

    done: int
    """Parts that have their transcript."""
    parts: int
    """All parts; an estimate until all of the file was cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobErrorDetail:
    """An attempt at a model without a result."""

    model: str
    """Slug of the model that was tried."""
    reason: str
    """The reason for the failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobError:
    """Of a job that failed or was cancelled."""

    type: ErrorType
    """The family of the error."""
    code: ErrorCode
    """The reason, for programs. Codes may be added."""
    message: str
    """A message for people: what was wrong, what is accepted and what to do. It may change."""
    param: str | None
    """Name of the field at fault, or null."""
    request_id: str
    """Quote it when you report a problem. Also in the header `X-Request-Id`."""
    details: list[JobErrorDetail] | None = None
    """With `upstream_error`: every attempt, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A file that is transcribed in the background."""

    object: Literal["job"] = "job"
    id: str
    status: JobStatus
    model: str
    """As the request named it: a slug, an alias or `auto`. Of a completed job with `auto`, the model that transcribed
    it."""
    file: JobFile
    audio_url: str | None = None
    """The address of the audio, without its query."""
    webhook_url: str | None = None
    """The address that the end of the job is posted to, without its query."""
    webhook_status: int | None | None = None
    """What the server at `webhook_url` answered to the last post. Null before that, and without an answer. Not in
    lists and webhooks."""
    tags: dict[str, str] | None = None
    """Tags of the request and its API key. Absent without any."""
    response_format: ResponseFormat
    """The format of the result where its request names none."""
    attempts: int
    """How often it was begun: more than once if its node was restarted meanwhile."""
    progress: JobProgress | None = None
    """Of a file that is being transcribed in parts, but not in lists."""
    created_at: str
    """When it was accepted."""
    ended_at: str | None
    expires_at: str | None
    result: VerboseTranscription | None = None
    """Of a completed job, but not in lists."""
    error: JobError | None = None
    """Of a job that failed or was cancelled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobList:
    """A page of jobs, newest first."""

    object: Literal["list"] = "list"
    data: list[Job]
    has_more: bool
    next: str | None
    """`before` of what follows; null at the end."""
