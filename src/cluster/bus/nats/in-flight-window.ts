// Bounds the bytes in flight to the NATS server: sent, and not yet confirmed by a round trip. What does not fit is refused;
// nothing is queued here.

/** Enough for about a second of a node's traffic. A server that accepts nothing for longer counts as down. */
export const IN_FLIGHT_BYTES_MAX = 8 * 1_048_576;
/** Bytes between two round trips. */
const MARK_BYTES = 256 * 1024;
/** Overhead of one message beside its payload, so that very small messages are bounded too. */
const MESSAGE_BYTES = 128;

export class InFlightWindow {
  readonly #bytesMax: number;
  readonly #roundTrip: () => Promise<void>;
  #bytes = 0;
  #unmarked = 0;
  /** A round trip of an earlier connection confirms nothing. */
  #era = 0;

  /** `roundTrip` resolves when the server has received everything that was sent before. */
  constructor(roundTrip: () => Promise<void>, bytesMax = IN_FLIGHT_BYTES_MAX) {
    this.#roundTrip = roundTrip;
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  fits(payloadBytes: number): boolean {
    return this.#bytes + payloadBytes + MESSAGE_BYTES <= this.#bytesMax;
  }

  sent(payloadBytes: number): void {
    this.#bytes += payloadBytes + MESSAGE_BYTES;
    this.#unmarked += payloadBytes + MESSAGE_BYTES;
    if (this.#unmarked >= MARK_BYTES) this.#mark();
  }

  /** The connection is a new one: what was in flight has arrived or is lost. */
  reset(): void {
    this.#era++;
    this.#bytes = 0;
    this.#unmarked = 0;
  }

  #mark(): void {
    const era = this.#era;
    const bytes = this.#unmarked;
    this.#unmarked = 0;
    this.#roundTrip().then(
      () => {
        if (era === this.#era) this.#bytes -= bytes;
      },
      // The connection was lost; the bus calls `reset`.
      () => {},
    );
  }
}
