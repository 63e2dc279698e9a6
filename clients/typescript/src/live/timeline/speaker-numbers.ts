// Speaker numbers belong to a connection: another one does not know who spoke before, and begins at 0. So that one number is never
// two people, its numbers go behind all that were told before.
import type { SpeakersRestarted, Transcript } from '../../types/events.ts';

export class SpeakerNumbers {
  /** The first number of the current connection. */
  #first = 0;
  /** Behind the highest number that was told. */
  #next = 0;
  #isToldOf = true;

  /** Another connection hears. */
  begin(): void {
    this.#first = this.#next;
    this.#isToldOf = this.#first === 0;
  }

  /** The gateway's own word that another model hears: it stands for that of the connection, where that is still due. */
  restarted(event: SpeakersRestarted): SpeakersRestarted {
    this.#isToldOf = true;
    return { ...event, first_speaker: this.#first + event.first_speaker };
  }

  numbered<Said extends { speaker?: number }>(said: Said): Said {
    return said.speaker === undefined ? said : { ...said, speaker: this.#first + said.speaker };
  }

  /** A transcript is told; gives what is to be told before it, where it has the first numbers of a connection behind others. */
  told({ speaker, words = [], session_id, seq, at, start }: Transcript): SpeakersRestarted | undefined {
    const speakers = [speaker, ...words.map((word) => word.speaker)].filter((number) => number !== undefined);
    if (speakers.length === 0) return undefined;
    this.#next = Math.max(this.#next, ...speakers.map((number) => number + 1));
    if (this.#isToldOf) return undefined;
    this.#isToldOf = true;
    return { type: 'speakers_restarted', session_id, seq, at, start, first_speaker: this.#first };
  }
}
