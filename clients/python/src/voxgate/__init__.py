"""The client of Voxgate, the speech-to-text gateway: `Voxgate`, and `AsyncVoxgate` for asyncio."""

from . import errors, types
from .async_client import AsyncVoxgate
from .client import Voxgate
from .errors import (
    APIConnectionError,
    APITimeoutError,
    AuthenticationError,
    InsufficientCreditError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    ServerError,
    UpstreamError,
    VoxgateError,
)
from .events import Reconnected, Reconnecting, SessionEvent
from .live.session import AsyncLiveSession
from .live.summary import SessionSummary
from .options import AnswerInfo, ConfigureOptions, FallbackModel, ListenOptions, Reconnect, TranscribeOptions
from .settings import TokenGrant
from .sync.session import LiveSession
from .types.answers import Balance, Model, Token, Usage, UsageRow, Word
from .types.events import (
    Configured,
    Discontinuity,
    ErrorEvent,
    Failover,
    SessionEnded,
    SessionStarted,
    SpeakersRestarted,
    SpeechStarted,
    Transcript,
    TurnEagerEnd,
    TurnEnded,
    TurnResumed,
    WarningEvent,
)
from .types.transcriptions import DiarizedSegment, DiarizedTranscription, Segment, Transcription, VerboseTranscription

__all__ = [
    "APIConnectionError",
    "APITimeoutError",
    "AnswerInfo",
    "AsyncLiveSession",
    "AsyncVoxgate",
    "AuthenticationError",
    "Balance",
    "ConfigureOptions",
    "Configured",
    "DiarizedSegment",
    "DiarizedTranscription",
    "Discontinuity",
    "ErrorEvent",
    "Failover",
    "FallbackModel",
    "InsufficientCreditError",
    "InvalidRequestError",
    "ListenOptions",
    "LiveSession",
    "Model",
    "NotFoundError",
    "PermissionDeniedError",
    "RateLimitError",
    "Reconnect",
    "Reconnected",
    "Reconnecting",
    "Segment",
    "ServerError",
    "SessionEnded",
    "SessionEvent",
    "SessionStarted",
    "SessionSummary",
    "SpeakersRestarted",
    "SpeechStarted",
    "Token",
    "TokenGrant",
    "TranscribeOptions",
    "Transcript",
    "Transcription",
    "TurnEagerEnd",
    "TurnEnded",
    "TurnResumed",
    "UpstreamError",
    "Usage",
    "UsageRow",
    "VerboseTranscription",
    "Voxgate",
    "VoxgateError",
    "WarningEvent",
    "Word",
    "errors",
    "types",
]
