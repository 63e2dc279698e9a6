// For how long packets of Vorbis sound: each is of one of two sizes, and the modes at the end of the stream's setup say of which.
// Vorbis I, sections 4.2 and 4.3.
import { vorbisModes } from './vorbis-setup.ts';

const IDENTIFICATION_BYTES = 29;

/** A stream, from its three headers on. */
export class VorbisStream {
  readonly #sizes: readonly [short: number, long: number];
  readonly #hertz: number;
  readonly channels: number;
  /** Whether each is of the longer packets. */
  #modes: readonly boolean[] = [true];
  #before = 0;
  #samples = 0;

  private constructor(identification: Uint8Array) {
    const view = new DataView(identification.buffer, identification.byteOffset, identification.length);
    this.channels = identification[11] || 1;
    this.#hertz = view.getUint32(12, true);
    this.#sizes = [1 << (identification[28]! & 15), 1 << (identification[28]! >> 4)];
  }

  /** Undefined where the first header says no rate. */
  static of(identification: Uint8Array): VorbisStream | undefined {
    if (identification.length < IDENTIFICATION_BYTES) return undefined;
    const stream = new VorbisStream(identification);
    return stream.#hertz === 0 ? undefined : stream;
  }

  get seconds(): number {
    return this.#samples / this.#hertz;
  }

  /** Hears of the third header. A decoder that understands more of it than this has packets of the longer size at most. */
  setUp(setup: Uint8Array): void {
    this.#modes = vorbisModes(setup, this.channels) ?? [true];
  }

  /** @param first its first byte: one bit that is 0, and the number of the mode */
  packet(first: number): void {
    if ((first & 1) === 1) return;
    const bits = 32 - Math.clz32(this.#modes.length - 1);
    const isLong = this.#modes[(first >> 1) & ((1 << bits) - 1)] ?? true;
    const size = this.#sizes[isLong ? 1 : 0];
    if (this.#before > 0) this.#samples += (this.#before + size) / 4;
    this.#before = size;
  }
}
