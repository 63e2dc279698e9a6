// How much sound of Windows Media Audio some bytes hold. Versions 1 and 2 are blocks of one size, each of which says how many frames end in
// it; other versions go by their average rate. As FFmpeg's decoder reads them.
import { viewOf } from '../scan.ts';

const VERSIONS = [0x160, 0x161];
/** Samples, and all of Windows Media Audio: other codings state rates that are not their average. */
const RATED = [0x1, 0x162, 0x163, ...VERSIONS];
/** Of the description, in front of what is only of this codec. */
const WAVE_BYTES = 18;
const HAS_RESERVOIR = 2;
/** 320 kbit/s: a header that says more makes a file no shorter. */
const BYTES_PER_SECOND_MAX = 40_000;

export class WmaFrames {
  readonly channels: number;
  /** Whether the bytes tell how long it is. */
  readonly isKnown: boolean;
  readonly #bytesPerSecond: number;
  readonly #blockBytes: number;
  /** 0 where frames are not counted. */
  readonly #frameSeconds: number;
  readonly #hasReservoir: boolean;
  #bytes = 0;
  #frames = 0;

  /** @param wave as in the `fmt ` chunk of a WAV file, with at least 16 bytes */
  constructor(wave: Uint8Array) {
    const view = viewOf(wave);
    const coding = view.getUint16(0, true);
    const version = VERSIONS.indexOf(coding) + 1;
    this.isKnown = RATED.includes(coding);
    const hertz = view.getUint32(4, true);
    const optionsAt = WAVE_BYTES + (version === 1 ? 2 : 4);
    const isCounted = version > 0 && hertz > 0 && wave.length >= optionsAt + 2;
    this.channels = view.getUint16(2, true) || 1;
    this.#bytesPerSecond = Math.min(view.getUint32(8, true), BYTES_PER_SECOND_MAX);
    this.#blockBytes = view.getUint16(12, true);
    this.#frameSeconds = isCounted && this.#blockBytes > 0 ? frameSamples(hertz, version) / hertz : 0;
    this.#hasReservoir = isCounted && (view.getUint16(optionsAt, true) & HAS_RESERVOIR) !== 0;
  }

  /** Exactly, and not by an average. */
  get isCounted(): boolean {
    return this.#frameSeconds > 0;
  }

  get seconds(): number {
    if (this.isCounted) return this.#frames * this.#frameSeconds;
    return this.#bytesPerSecond > 0 ? this.#bytes / this.#bytesPerSecond : 0;
  }

  push(bytes: Uint8Array): void {
    if (this.isCounted) {
      const untilBlock = (this.#blockBytes - (this.#bytes % this.#blockBytes)) % this.#blockBytes;
      for (let at = untilBlock; at < bytes.length; at += this.#blockBytes)
        this.#frames += this.#hasReservoir ? bytes[at]! & 15 : 1;
    }
    this.#bytes += bytes.length;
  }
}

function frameSamples(hertz: number, version: number): number {
  if (hertz <= 16_000) return 512;
  return hertz <= (version === 1 ? 32_000 : 22_050) ? 1_024 : 2_048;
}
