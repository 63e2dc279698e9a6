// Bytes of a stream that are not whole yet: taken behind, let go of in front.

const BYTES_MIN = 4_096;
/** A larger memory is given back as soon as it is empty. */
const KEPT_BYTES_MAX = 65_536;

export class HeldBytes {
  #bytes = new Uint8Array(BYTES_MIN);
  #from = 0;
  #to = 0;

  get length(): number {
    return this.#to - this.#from;
  }

  push(bytes: Uint8Array): void {
    const length = this.length + bytes.length;
    if (this.#to + bytes.length > this.#bytes.length) {
      const held = this.#bytes.subarray(this.#from, this.#to);
      if (length > this.#bytes.length) this.#bytes = new Uint8Array(Math.max(length, 2 * this.#bytes.length));
      this.#bytes.set(held);
      this.#from = 0;
      this.#to = held.length;
    }
    this.#bytes.set(bytes, this.#to);
    this.#to += bytes.length;
  }

  /** At most so many bytes from a place on. Valid until the next `push` or `skip`. */
  view(at: number, length: number): Uint8Array {
    const from = Math.min(this.#from + at, this.#to);
    return this.#bytes.subarray(from, Math.min(from + length, this.#to));
  }

  /** Where these bytes begin; -1 where they do not. */
  indexOf(mark: Uint8Array): number {
    const { buffer, byteOffset } = this.#bytes;
    return Buffer.from(buffer, byteOffset + this.#from, this.length).indexOf(mark);
  }

  /** Releases so many bytes, or all there are; gives how many. */
  skip(bytes: number): number {
    const skipped = Math.min(bytes, this.length);
    this.#from += skipped;
    if (this.#from < this.#to) return skipped;
    this.#from = 0;
    this.#to = 0;
    if (this.#bytes.length > KEPT_BYTES_MAX) this.#bytes = new Uint8Array(BYTES_MIN);
    return skipped;
  }
}
