// Interleaved samples, cut anywhere, to the bytes of each channel.

/** Of each channel at a time, so that the buffer it is written into stays small. */
const PART_BYTES_MAX = 65_536;

export class ChannelSplit {
  readonly #channels: number;
  readonly #sampleBytes: number;
  /** The beginning of a frame (a sample of each channel) whose rest has not come yet. */
  readonly #begun: Uint8Array;
  #begunBytes = 0;
  /** Bytes of one channel, used again for each. */
  #part = new Uint8Array(0);

  constructor(channels: number, sampleBytes: number) {
    this.#channels = channels;
    this.#sampleBytes = sampleBytes;
    this.#begun = new Uint8Array(channels * sampleBytes);
  }

  /** Bytes that make no whole frame yet. */
  get restBytes(): number {
    return this.#begunBytes;
  }

  /** @param give takes the bytes of a channel, valid during the call; channel by channel, each time as many of each */
  take(bytes: Uint8Array, give: (channel: number, bytes: Uint8Array) => void): void {
    const frameBytes = this.#begun.length;
    let at = this.#begunBytes === 0 ? 0 : this.#complete(bytes, give);
    const wholeEnd = at + Math.floor((bytes.length - at) / frameBytes) * frameBytes;
    const most = Math.floor(PART_BYTES_MAX / this.#sampleBytes) * frameBytes;
    for (; at < wholeEnd; at += most) this.#give(bytes.subarray(at, Math.min(wholeEnd, at + most)), give);
    if (wholeEnd >= bytes.length) return;
    this.#begun.set(bytes.subarray(wholeEnd));
    this.#begunBytes = bytes.length - wholeEnd;
  }

  /** Gives the frame that was begun, where these bytes are its rest. Gives how many of them are. */
  #complete(bytes: Uint8Array, give: (channel: number, bytes: Uint8Array) => void): number {
    const rest = bytes.subarray(0, this.#begun.length - this.#begunBytes);
    this.#begun.set(rest, this.#begunBytes);
    this.#begunBytes += rest.length;
    if (this.#begunBytes === this.#begun.length) {
      this.#begunBytes = 0;
      this.#give(this.#begun, give);
    }
    return rest.length;
  }

  #give(frames: Uint8Array, give: (channel: number, bytes: Uint8Array) => void): void {
    const sampleBytes = this.#sampleBytes;
    const frameBytes = this.#begun.length;
    const partBytes = frames.length / this.#channels;
    if (this.#part.length < partBytes) this.#part = new Uint8Array(partBytes);
    const part = this.#part.subarray(0, partBytes);
    for (let channel = 0; channel < this.#channels; channel++) {
      let to = 0;
      for (let from = channel * sampleBytes; from < frames.length; from += frameBytes) {
        for (let byte = 0; byte < sampleBytes; byte++) part[to++] = frames[from + byte] as number;
      }
      give(channel, part);
    }
  }
}
