// How much may be on its way to the NATS server: bytes sent that no round trip has confirmed yet. What does not fit is refused;
// nothing waits here.

/** Enough for a second of everything that a node sends; a server that takes nothing for longer is as good as away. */
export const IN_FLIGHT_BYTES_MAX = 8 * 1_048_576;
/** A round trip each so many bytes: few enough to cost nothing. */
const MARK_BYTES = 256 * 1024;
/** Protocol and memory of one message beside its payload: very small ones are bounded as well. */
const MESSAGE_BYTES = 128;

export class InFlightWindow {
  readonly #bytesMax: number;
  readonly #roundTrip: () => Promise<void>;
  #bytes = 0;
  #unmarked = 0;
  /** Marks of an earlier connection confirm nothing. */
  #era = 0;

  /** `roundTrip` resolves when the server has taken everything that was sent before. */
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

  /** The connection is another one: what was on its way has arrived or is lost. */
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
      // The connection was lost: whoever tells of that resets.
      () => {},
    );
  }
}
