// The counters of one sender that were accepted lately: tells a message that comes twice from one that was held up on its way, behind
// later ones, as by a frozen server that others were used instead of.

/** Counters that are remembered; older ones cannot be told apart. */
const COUNTERS = 16_384;

export class CounterWindow {
  /** The last accepted counter. */
  last: number;
  #bits: Uint8Array | undefined;

  constructor(last: number) {
    this.last = last;
  }

  /** The counter is higher than the last one, and is the last one from now on. */
  accept(counter: number): void {
    this.#bits ??= new Uint8Array(COUNTERS / 8);
    const skipped = counter - this.last - 1;
    if (skipped >= COUNTERS) this.#bits.fill(0);
    else for (let each = this.last + 1; each < counter; each++) this.#set(each, false);
    this.#set(counter, true);
    this.last = counter;
  }

  /** Whether a message with that counter was accepted before, as far as it is remembered. */
  wasAccepted(counter: number): boolean {
    if (this.#bits === undefined || counter > this.last || counter <= this.last - COUNTERS) return false;
    const at = counter % COUNTERS;
    return ((this.#bits[at >> 3] as number) & (1 << (at & 7))) !== 0;
  }

  #set(counter: number, isAccepted: boolean): void {
    const bits = this.#bits as Uint8Array;
    const at = counter % COUNTERS;
    if (isAccepted) bits[at >> 3] = (bits[at >> 3] as number) | (1 << (at & 7));
    else bits[at >> 3] = (bits[at >> 3] as number) & ~(1 << (at & 7));
  }
}
