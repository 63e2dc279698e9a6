// Audio of a live session from the end of the last final on, so that a broken connection loses none of it. Pure: what is kept
// and for how long is decided by live-link.ts.

const BLOCK_BYTES = 65_536;

/** Bytes by their position in the session's audio. Appending copies, so callers may use their buffer again. */
export class AudioTape {
  #blocks: Uint8Array<ArrayBuffer>[] = [];
  /** Position of the first byte of the first block. */
  #base = 0;
  #start = 0;
  #end = 0;

  /** Position of the first byte that is still there. */
  get start(): number {
    return this.#start;
  }

  /** Position behind the last byte. */
  get end(): number {
    return this.#end;
  }

  append(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const offset = (this.#end - this.#base) % BLOCK_BYTES;
      if (offset === 0) this.#blocks.push(new Uint8Array(BLOCK_BYTES));
      const part = bytes.subarray(at, at + BLOCK_BYTES - offset);
      (this.#blocks.at(-1) as Uint8Array).set(part, offset);
      at += part.length;
      this.#end += part.length;
    }
  }

  /** At most `bytesMax` bytes from a position on, as they lie together: at least one where there is one. Not to be changed. */
  read(from: number, bytesMax: number): Uint8Array<ArrayBuffer> {
    if (from < this.#start || from > this.#end) throw new RangeError(`Byte ${from} is not on the tape.`);
    const offset = (from - this.#base) % BLOCK_BYTES;
    const block = this.#blocks[(from - this.#base - offset) / BLOCK_BYTES];
    if (block === undefined) return new Uint8Array(0);
    return block.subarray(offset, Math.min(BLOCK_BYTES, offset + bytesMax, offset + this.#end - from));
  }

  /** Lets go of what lies before a position. */
  trim(to: number): void {
    this.#start = Math.min(this.#end, Math.max(this.#start, to));
    const whole = Math.floor((this.#start - this.#base) / BLOCK_BYTES);
    if (whole === 0) return;
    this.#blocks.splice(0, whole);
    this.#base += whole * BLOCK_BYTES;
  }
}
