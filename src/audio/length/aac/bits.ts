// Reads bits of AAC, the most significant first. ISO/IEC 14496-3.

/** The bits ended in the middle of something, or say what the standard forbids. */
export class AacSyntaxError extends Error {}

export class BitReader {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  /** Position in bits. */
  at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#end = bytes.length * 8;
  }

  /** Whether more bits were read than there are. */
  get isPastEnd(): boolean {
    return this.at > this.#end;
  }

  /** Up to 25 bits without moving on; zeros after the end. */
  peek(count: number): number {
    const bytes = this.#bytes;
    const byte = this.at >>> 3;
    const four =
      byte + 3 < bytes.length
        ? (bytes[byte]! << 24) | (bytes[byte + 1]! << 16) | (bytes[byte + 2]! << 8) | bytes[byte + 3]!
        : ((bytes[byte] ?? 0) << 24) | ((bytes[byte + 1] ?? 0) << 16) | ((bytes[byte + 2] ?? 0) << 8);
    return (four << (this.at & 7)) >>> (32 - count);
  }

  take(count: number): number {
    const value = count === 0 ? 0 : this.peek(count);
    this.skip(count);
    return value;
  }

  flag(): boolean {
    return this.take(1) === 1;
  }

  /** Throws AacSyntaxError after the end. */
  skip(count: number): void {
    this.at += count;
    if (this.at > this.#end) throw new AacSyntaxError('The bits end too early.');
  }

  alignToByte(): void {
    this.skip(-this.at & 7);
  }
}
