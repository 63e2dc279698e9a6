// What a client's frames say of themselves, read from the bytes of its connection before the library has gathered a message:
// how large it becomes, and in how many pieces it comes.

const HEAD_BYTES_MAX = 14;
const MASK_BYTES = 4;

export class FrameHeads {
  readonly #head = Buffer.alloc(HEAD_BYTES_MAX);
  #filled = 0;
  #needed = 2;
  /** Of the frame that is passing. */
  #left = 0;
  #pieces = 0;
  /** What the message that is passing has announced so far; 0 between messages. */
  messageBytes = 0;
  isBinary = false;
  #isLast = true;

  /** Pieces of messages beyond their first, since it was asked. */
  takePieces(): number {
    const pieces = this.#pieces;
    this.#pieces = 0;
    return pieces;
  }

  read(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.#left > 0) {
        const passed = Math.min(this.#left, chunk.length - at);
        at += passed;
        this.#pass(passed);
        continue;
      }
      this.#head[this.#filled++] = chunk[at++]!;
      if (this.#filled === 2) this.#needed = this.#headBytes();
      if (this.#filled === this.#needed) this.#begin();
    }
  }

  #pass(bytes: number): void {
    this.#left -= bytes;
    if (this.#left === 0 && this.#isLast) this.messageBytes = 0;
  }

  #headBytes(): number {
    const second = this.#head[1]!;
    const length = second & 0x7f;
    return 2 + (length === 127 ? 8 : length === 126 ? 2 : 0) + (second & 0x80 ? MASK_BYTES : 0);
  }

  #begin(): void {
    const [first, second] = this.#head as unknown as [number, number];
    const short = second & 0x7f;
    const length =
      short === 127 ? Number(this.#head.readBigUInt64BE(2)) : short === 126 ? this.#head.readUInt16BE(2) : short;
    this.#filled = 0;
    this.#needed = 2;
    this.#left = length;
    const opcode = first & 0x0f;
    // Control frames may come between the pieces of a message, and are no part of it.
    if (opcode > 2) return;
    if (opcode === 0) this.#pieces++;
    else {
      this.messageBytes = 0;
      this.isBinary = opcode === 2;
    }
    this.messageBytes += length;
    this.#isLast = (first & 0x80) !== 0;
    this.#pass(0);
  }
}
