// How many large messages a process gathers at a time: each is held whole until its last byte has come. The others wait unread, in
// the order in which they began.
import { SharedPlaces } from '../../runtime/limits/shared-places.ts';

/** Messages up to this size are gathered without asking. */
export const LARGE_BYTES = 1024 * 1024;

interface Waiting {
  organisationId: string;
  granted(): void;
}

export class LargeMessages {
  readonly #places: SharedPlaces;
  #waiting: Waiting[] = [];

  constructor(max: number) {
    this.#places = new SharedPlaces(max);
  }

  /** Whether the message has a place at once; where it has none, `granted` is called as soon as it has. */
  enter(waiting: Waiting): boolean {
    if (this.#places.take(waiting.organisationId)) return true;
    this.#waiting.push(waiting);
    return false;
  }

  /** Gives up a place, or the wait for one. */
  leave(waiting: Waiting): void {
    const at = this.#waiting.indexOf(waiting);
    if (at >= 0) {
      this.#waiting.splice(at, 1);
      return;
    }
    this.#places.giveBack(waiting.organisationId);
    const next = this.#waiting.find((other) => this.#places.take(other.organisationId));
    if (next === undefined) return;
    this.#waiting.splice(this.#waiting.indexOf(next), 1);
    next.granted();
  }
}

/** The largest message of a session. What is coded comes in small ones: a long one could be hours of sound. */
export function messageBytesMaxOf(
  pace: { messageBytesMax: number },
  isCoded: boolean,
  socket?: { messageBytesMax?: number | undefined },
): number {
  const bytesMax = Math.min(pace.messageBytesMax, socket?.messageBytesMax ?? Number.POSITIVE_INFINITY);
  return isCoded ? Math.min(LARGE_BYTES, bytesMax) : bytesMax;
}
