"""One timeline over all of the gateway's sessions: positions count from the first sample that was ever sent, turns from the first
turn, speakers from the first one, whatever each session counts. Pure; decides as well what was already told and is not told
again."""

from dataclasses import replace

from ..events import ServerEvent
from ..types.answers import Word
from ..types.events import (
    Configured,
    Discontinuity,
    SpeakersRestarted,
    SpeechStarted,
    Transcript,
    TurnEagerEnd,
    TurnEnded,
    TurnResumed,
    WarningEvent,
)
from .speakers import SpeakerNumbers
from .turn_bounds import TurnBounds

# Speech that begins so close to where it was said to begin is the same speech.
SAME_SPEECH_SECONDS = 0.2
# Warnings that are remembered, so that a new session does not repeat them.
WARNINGS_MAX = 100


class Timeline:
    def __init__(self, sample_rate: int) -> None:
        self._sample_rate = sample_rate
        # Sample at which the current session began.
        self._origin = 0
        self._sessions = 0
        # Turns that had their final before the current session.
        self._turns_before = 0
        self._turns = 0
        # The turn whose interim was shown and whose final is due.
        self._shown: Transcript | None = None
        # Up to where it was shown before the current session.
        self._shown_before = 0.0
        self._speech_start: float | None = None
        self._warnings: set[tuple[str, str | None, str]] = set()
        self._speakers = SpeakerNumbers()
        self._bounds = TurnBounds()
        self.covered_sample = 0
        """Everything before this sample has its final."""

    @property
    def heard_seconds(self) -> float:
        """Up to where the current session's own time has finals."""
        return self.seconds_of(max(0, self.covered_sample - self._origin))

    def begin(self, origin_sample: int) -> None:
        """A session begins that hears from this sample on."""
        self._origin = origin_sample
        self._turns_before = self._turns
        self._shown_before = 0.0 if self._shown is None else self._shown.end
        self._sessions += 1
        self._speakers.begin()

    def seconds_of(self, sample: int) -> float:
        return round(sample / self._sample_rate, 6)

    def place(self, event: ServerEvent) -> ServerEvent | None:
        """The event on this timeline; None where it only repeats what was told."""
        match event:
            case Transcript():
                return self._transcript(event)
            case SpeechStarted():
                return self._speech_started(event)
            case TurnEagerEnd():
                placed = replace(event, **self._place_of(event))
                # Not of less than was shown: what is heard again says so once more.
                return None if placed.end < self._shown_before else self._bounds.eager_end(placed)
            case TurnResumed():
                return self._bounds.resumed(replace(event, turn=self._turns_before + event.turn))
            case TurnEnded():
                return self._bounds.ended(replace(event, **self._place_of(event)))
            case SpeakersRestarted():
                return replace(self._speakers.restarted(event), start=self._shift(event.start))
            case Configured():
                return replace(event, from_=self._shift(event.from_))
            case Discontinuity():
                return replace(event, from_=self._shift(event.from_), to=self._shift(event.to))
            case WarningEvent():
                return event if self._is_new(event) else None
            case _:
                return event

    def restart_with(self, transcript: Transcript) -> SpeakersRestarted | None:
        """What is to be told before a transcript of this timeline: that its speakers have numbers of another connection."""
        return self._speakers.told(transcript)

    def close(self) -> list[TurnResumed | TurnEnded]:
        """The session is over: no bound of a turn stays open."""
        return self._bounds.close()

    def rest(self) -> list[Transcript | TurnResumed | TurnEnded]:
        """A turn that was shown and not heard again by the session that followed has its final all the same, without words."""
        shown, self._shown = self._shown, None
        if shown is None:
            return []
        start = max(shown.start, self.seconds_of(self.covered_sample))
        self._turns += 1
        final = replace(shown, text="", is_final=True, start=start, end=start, words=None, confidence=None)
        self._bounds.final(final)
        return [final, *self.close()]

    def _place_of(self, event: Transcript | TurnEagerEnd | TurnEnded) -> dict[str, float]:
        """The turn and the times of an event."""
        turn = self._turns_before + event.turn
        return {"turn": turn, "start": self._shift(event.start), "end": self._shift(event.end)}

    def _speech_started(self, event: SpeechStarted) -> SpeechStarted | None:
        start = self._shift(event.start)
        is_same = self._speech_start is not None and start <= self._speech_start + SAME_SPEECH_SECONDS
        if is_same and self._sessions > 1:
            return None
        self._speech_start = start
        if event.turn is None:
            return replace(event, start=start)
        self._bounds.is_told = True
        return replace(event, start=start, turn=self._turns_before + event.turn)

    def _transcript(self, event: Transcript) -> Transcript | None:
        words = None if event.words is None else [self._word(word) for word in event.words]
        speaker = self._speakers.numbered(event.speaker)
        placed = replace(event, **self._place_of(event), speaker=speaker, words=words)
        if not placed.is_final:
            # The consumer does not see a turn shrink: what is heard again is shown once it says more.
            if placed.end < self._shown_before:
                return None
            self._shown = placed
            return placed
        self._turns = placed.turn + 1
        self.covered_sample = max(self.covered_sample, round(placed.end * self._sample_rate))
        self._shown = None
        self._shown_before = 0.0
        self._speech_start = None
        self._bounds.final(placed)
        return placed

    def _word(self, word: Word) -> Word:
        speaker = self._speakers.numbered(word.speaker)
        return replace(word, start=self._shift(word.start), end=self._shift(word.end), speaker=speaker)

    def _shift(self, seconds: float) -> float:
        """Seconds of the current session as seconds of this timeline; exact by samples."""
        if self._origin == 0:
            return seconds
        return self.seconds_of(self._origin + round(seconds * self._sample_rate))

    def _is_new(self, warning: WarningEvent) -> bool:
        """A node that drains says so each time; the rest is said once."""
        if warning.code == "node_draining":
            return True
        key = (warning.code, warning.param, warning.message)
        if self._sessions > 1 and key in self._warnings:
            return False
        if len(self._warnings) < WARNINGS_MAX:
            self._warnings.add(key)
        return True
