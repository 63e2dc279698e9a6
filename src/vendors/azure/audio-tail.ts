// The last audio that was sent, in a ring: what a turn of the service's has not told of is sent again in the next one.

export class AudioTail {
  readonly #ring: Uint8Array;
  #sentBytes = 0;

  /** @param bytes how much is kept */
  constructor(bytes: number) {
    this.#ring = new Uint8Array(bytes);
  }

  push(audio: Uint8Array): void {
    const size = this.#ring.length;
    const kept = audio.subarray(Math.max(0, audio.length - size));
    const at = (this.#sentBytes + audio.length - kept.length) % size;
    const before = Math.min(kept.length, size - at);
    this.#ring.set(kept.subarray(0, before), at);
    this.#ring.set(kept.subarray(before), 0);
    this.#sentBytes += audio.length;
  }

  /** Bytes of all audio that are kept no more. */
  get lostBytes(): number {
    return Math.max(0, this.#sentBytes - this.#ring.length);
  }

  /** All audio from this byte on, which is not one that is lost. */
  from(byte: number): Uint8Array {
    const size = this.#ring.length;
    const [length, at] = [Math.max(0, this.#sentBytes - byte), byte % size];
    const audio = new Uint8Array(length);
    const before = Math.min(length, size - at);
    audio.set(this.#ring.subarray(at, at + before));
    audio.set(this.#ring.subarray(0, length - before), before);
    return audio;
  }
}
