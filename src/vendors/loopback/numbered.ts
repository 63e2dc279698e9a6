// Numbered audio: sample i is the low 16 bits of i. Whoever hears it can say exactly which samples it was given.

/** Ranges told of one turn; more are left out. */
const RANGES_MAX = 100;

/**
 * Collects the ranges of sample numbers heard, counted on from the first one: "17-32017", or "17-900 905-32017" with a gap.
 * Silence between them, which someone put in to fill a frame or a pause, reads "17-900 s1600 900-32017".
 */
export class NumberedRanges {
  #first = -1;
  #next = -1;
  /** Samples of the silence that is being heard. */
  #silent = 0;
  readonly #done: string[] = [];

  /** Hears `samples` linear16 samples of `bytes` from byte `offset`. */
  hear(bytes: Uint8Array, offset: number, samples: number): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset + offset, samples * 2);
    for (let index = 0; index < samples; index++) {
      const value = view.getUint16(index * 2, true);
      if (this.#silent === 0 && this.#next >= 0 && value === (this.#next & 0xffff)) this.#next++;
      else this.#break(value);
    }
  }

  text(): string {
    const last = this.#silent > 0 ? `s${this.#silent}` : this.#first < 0 ? '' : `${this.#first}-${this.#next}`;
    return [...this.#done, ...(last === '' ? [] : [last])].join(' ');
  }

  /** A sample that does not follow the one before. */
  #break(value: number): void {
    if (value === 0 && this.#next >= 0 && (this.#silent > 0 || value !== (this.#next & 0xffff))) {
      if (this.#silent === 0) this.#note(`${this.#first}-${this.#next}`);
      this.#silent++;
      return;
    }
    if (this.#silent > 0) this.#note(`s${this.#silent}`);
    else if (this.#first >= 0) this.#note(`${this.#first}-${this.#next}`);
    this.#silent = 0;
    // After a gap the count goes on from the nearest number that fits.
    this.#first = this.#next < 0 ? value : this.#next + ((value - this.#next) & 0xffff);
    this.#next = this.#first + 1;
  }

  #note(range: string): void {
    if (this.#done.length < RANGES_MAX) this.#done.push(range);
  }
}
