"""What a session was and what it cost, over all its connections. Amounts are decimal strings: they are added exactly."""

from dataclasses import dataclass, replace
from decimal import Decimal

from ..types.answers import UsageRow
from ..types.events import SessionEnded


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSummary:
    """What a live session was."""

    reason: str
    """Why it ended: the gateway's word, as in `session_ended`, or `terminated` by you."""
    audio_seconds: float
    """Seconds of audio that were sent, each counted once."""
    usage: list[UsageRow]
    """By model, as far as the gateway told."""
    cost_usd: str
    is_usage_complete: bool
    """False where a connection broke before its session could tell: `GET /v1/sessions/{id}` knows."""
    session_ids: list[str]
    """The gateway's sessions, in their order: more than one where a connection broke and its session could not go on."""
    reconnections: int
    """Connections that took the place of one that broke."""


class Bill:
    """Collects what the sessions tell."""

    def __init__(self) -> None:
        self.session_ids: list[str] = []
        self.reconnections = 0
        self._rows: dict[tuple[str, bool], UsageRow] = {}
        self._cost = "0"
        self._told = 0

    def told(self, ended: SessionEnded) -> None:
        self._told += 1
        self._cost = _sum(self._cost, ended.cost_usd)
        for row in ended.usage:
            before = self._rows.get((row.model, row.byok))
            if before is not None:
                row = replace(
                    row, seconds=before.seconds + row.seconds, cost_usd=_sum(before.cost_usd, row.cost_usd)
                )
            self._rows[row.model, row.byok] = row

    def summary(self, reason: str, audio_seconds: float) -> SessionSummary:
        return SessionSummary(
            reason=reason,
            audio_seconds=audio_seconds,
            usage=list(self._rows.values()),
            cost_usd=self._cost,
            is_usage_complete=self._told == len(self.session_ids),
            session_ids=list(self.session_ids),
            reconnections=self.reconnections,
        )


def _sum(a: str, b: str) -> str:
    """With as many places as the longer of them."""
    return f"{Decimal(a) + Decimal(b):f}"
