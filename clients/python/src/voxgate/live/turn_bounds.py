"""The bounds of turns as the consumer was told them, with `turn_events`: a session that breaks leaves none of them open."""

from typing import Any

from ..types.events import Transcript, TurnEagerEnd, TurnEnded, TurnResumed


class TurnBounds:
    def __init__(self) -> None:
        self.is_told = False
        """The gateway tells them."""
        self._eager: TurnEagerEnd | None = None
        # Its final was told, and not its end.
        self._final: Transcript | None = None

    def eager_end(self, event: TurnEagerEnd) -> TurnEagerEnd:
        self._eager = event
        return event

    def resumed(self, event: TurnResumed) -> TurnResumed | None:
        """None where the end that is taken back was not told."""
        eager, self._eager = self._eager, None
        return None if eager is None else event

    def final(self, event: Transcript) -> None:
        if self.is_told:
            self._final = event

    def ended(self, event: TurnEnded) -> TurnEnded:
        self._eager = None
        self._final = None
        return event

    def close(self) -> list[TurnResumed | TurnEnded]:
        """What is told when the session is over: a turn that has its final is over, any other is heard again."""
        final, eager = self._final, self._eager
        if final is not None:
            head: dict[str, Any] = {"session_id": final.session_id, "seq": 0, "at": final.at}
            return [self.ended(TurnEnded(**head, turn=final.turn, start=final.start, end=final.end))]
        if eager is None:
            return []
        self._eager = None
        head = {"session_id": eager.session_id, "seq": 0, "at": eager.at}
        return [TurnResumed(**head, turn=eager.turn, reason="reheard")]
