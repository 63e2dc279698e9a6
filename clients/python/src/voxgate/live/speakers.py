"""Speaker numbers belong to a session: another one does not know who spoke before, and begins at 0. So that one number is never
two people, its numbers go behind all that were told before."""

from dataclasses import replace

from ..types.events import SpeakersRestarted, Transcript


class SpeakerNumbers:
    def __init__(self) -> None:
        # The first number of the current session.
        self._first = 0
        # Behind the highest number that was told.
        self._next = 0
        self._is_told_of = True

    def begin(self) -> None:
        """Another session hears."""
        self._first = self._next
        self._is_told_of = self._first == 0

    def restarted(self, event: SpeakersRestarted) -> SpeakersRestarted:
        """The gateway's own word that another model hears: it stands for that of the session, where that is still due."""
        self._is_told_of = True
        return replace(event, first_speaker=self._first + event.first_speaker)

    def numbered(self, speaker: int | None) -> int | None:
        return None if speaker is None else self._first + speaker

    def told(self, said: Transcript) -> SpeakersRestarted | None:
        """A transcript is told; gives what is to be told before it, where it has the first numbers of a session behind others."""
        numbers = [said.speaker, *(word.speaker for word in said.words or ())]
        speakers = [number for number in numbers if number is not None]
        if not speakers:
            return None
        self._next = max(self._next, *(number + 1 for number in speakers))
        if self._is_told_of:
            return None
        self._is_told_of = True
        return SpeakersRestarted(
            session_id=said.session_id, seq=said.seq, at=said.at, start=said.start, first_speaker=self._first
        )
