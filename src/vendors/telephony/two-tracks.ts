// Two tracks of a call as two channels of one session: samples of both, one of each in turn.

/** How far one track may be behind the other before silence takes its place. */
const BEHIND_MS = 200;

export type Track = 0 | 1;

const NOTHING = new Uint8Array(0);

/** Of samples of one byte. A track's samples are never left out: those that come late come later. */
export class TwoTracks {
  readonly #behindBytes: number;
  readonly #silence: number;
  /** What has come of each track and waits for the other. Of one of them at most there is any. */
  #waiting: Uint8Array = NOTHING;
  #ahead: Track = 0;

  /** @param silence a sample of it */
  constructor(sampleRate: number, silence: number) {
    this.#behindBytes = (sampleRate * BEHIND_MS) / 1000;
    this.#silence = silence;
  }

  /** What can be told by now. */
  take(track: Track, bytes: Uint8Array): Uint8Array {
    if (track === this.#ahead || this.#waiting.byteLength === 0) {
      this.#ahead = track;
      this.#waiting = joined(this.#waiting, bytes);
      return this.#fill(this.#waiting.byteLength - this.#behindBytes);
    }
    const other = this.#waiting;
    const both = Math.min(other.byteLength, bytes.byteLength);
    const told = this.#together(other.subarray(0, both), bytes.subarray(0, both));
    if (bytes.byteLength > both) {
      this.#ahead = track;
      // The server lends its bytes for the time of the call.
      this.#waiting = bytes.slice(both);
      return joined(told, this.#fill(this.#waiting.byteLength - this.#behindBytes));
    }
    this.#waiting = other.subarray(both);
    return told;
  }

  /** What is left of the track that has come further. */
  end(): Uint8Array {
    return this.#fill(this.#waiting.byteLength);
  }

  /** So much of what waits, beside silence. */
  #fill(bytes: number): Uint8Array {
    if (bytes <= 0) return NOTHING;
    const told = this.#together(this.#waiting.subarray(0, bytes), new Uint8Array(bytes).fill(this.#silence));
    this.#waiting = this.#waiting.subarray(bytes);
    return told;
  }

  /** @param ahead of the track that is ahead */
  #together(ahead: Uint8Array, other: Uint8Array): Uint8Array {
    const told = new Uint8Array(ahead.byteLength * 2);
    const [first, second] = this.#ahead === 0 ? [ahead, other] : [other, ahead];
    for (let at = 0; at < first.byteLength; at++) {
      told[at * 2] = first[at] as number;
      told[at * 2 + 1] = second[at] as number;
    }
    return told;
  }
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array {
  const both = new Uint8Array(one.byteLength + other.byteLength);
  both.set(one);
  both.set(other, one.byteLength);
  return both;
}
