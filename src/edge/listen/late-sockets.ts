// How many sockets may be open that have said no credential yet, and what they may hold together.
import { WaitingHandshakes } from '../../auth/waiting-handshakes.ts';

/** What all of them hold of messages while their credentials are judged. */
const HELD_BYTES_MAX = 32 * 1024 * 1024;

export class LateSockets {
  readonly #handshakes: WaitingHandshakes;
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(settings: { handshakesMax: number; handshakesPerAddressMax: number }, bytesMax: number = HELD_BYTES_MAX) {
    const { handshakesMax, handshakesPerAddressMax: perAddressMax } = settings;
    this.#handshakes = new WaitingHandshakes({ handshakesMax, perAddressMax, credentials: 'to be said' });
    this.#bytesMax = bytesMax;
  }

  get size(): number {
    return this.#handshakes.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Counts a socket until the returned function is called, once. Throws a Refusal `overloaded` or `rate_limit_exceeded`. */
  enter(address: string): () => void {
    return this.#handshakes.enter(address);
  }

  /** Whether so many bytes more may be held; then they are, until they are given back. */
  hold(bytes: number): boolean {
    if (this.#bytes + bytes > this.#bytesMax) return false;
    this.#bytes += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#bytes -= bytes;
  }
}
