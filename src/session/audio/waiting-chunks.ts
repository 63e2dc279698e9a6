// Chunks of a client that complete no frame: they wait together, where a chunk costs a copy and touches nothing else of its session.

export class WaitingChunks {
  readonly #onFirst: () => void;
  #bytes = new Uint8Array(0);
  #length = 0;
  #bytesMax = 0;

  /** @param onFirst something begins to wait */
  constructor(onFirst: () => void) {
    this.#onFirst = onFirst;
  }

  /** From now on so many bytes may wait, less one; what waits has been taken. */
  set bytesMax(bytesMax: number) {
    if (bytesMax > this.#bytes.length) this.#bytes = new Uint8Array(bytesMax);
    this.#bytesMax = bytesMax;
  }

  /** Whether the chunk waits; else it is to be taken behind what does. */
  hold(chunk: Uint8Array): boolean {
    const length = this.#length + chunk.length;
    if (length >= this.#bytesMax) return false;
    this.#bytes.set(chunk, this.#length);
    if (this.#length === 0) this.#onFirst();
    this.#length = length;
    return true;
  }

  /** What waits, valid until the next chunk does; nothing waits, or may, until it is said again how much. */
  take(): Uint8Array | undefined {
    this.#bytesMax = 0;
    if (this.#length === 0) return undefined;
    const waited = this.#bytes.subarray(0, this.#length);
    this.#length = 0;
    return waited;
  }
}
