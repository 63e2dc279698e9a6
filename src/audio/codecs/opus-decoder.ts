// The Opus decoders of this process, each in a memory of its own: what one stream does to its decoder reaches no other. The decoder's
// program is loaded when the first is wanted.
import type { OpusDecoder as Library } from 'opus-decoder';

/** 120 ms at 48 kHz. */
export const PACKET_SAMPLES_MAX = 5_760;
/** What a packet without sound counts: it takes time as well. */
const PACKET_MS_MIN = 5;

type Rate = 8000 | 12000 | 16000 | 24000 | 48000;

let open = 0;

/** Decoders that are open in this process. */
export const openDecoders = (): number => open;

/** Decodes packets one after the other, of one or two channels, to one. */
export class OpusDecoder {
  #library: Library<Rate> | undefined;
  readonly #freed: () => void;
  /** Sound that was decoded. */
  decodedMs = 0;

  /** @param library is loaded, and counted as open */
  constructor(library: Library<Rate>, freed: () => void) {
    this.#library = library;
    this.#freed = freed;
  }

  /**
   * Samples from −1 to 1; undefined where the packet cannot be decoded.
   *
   * @param packet what `isOpusPacket` has found to be one
   * @throws Error when the decoder is of no use any more
   */
  decode(packet: Uint8Array): Float32Array | undefined {
    if (this.#library === undefined) throw new Error('The decoder is gone.');
    const { channelData, samplesDecoded, sampleRate } = this.#library.decodeFrame(packet);
    this.decodedMs += Math.max(PACKET_MS_MIN, (samplesDecoded / sampleRate) * 1000);
    return samplesDecoded === 0 ? undefined : channelData[0];
  }

  /** Releases its memory, whole: it is the collector's then. Calling it twice does no harm. */
  free(): void {
    if (this.#library === undefined) return;
    this.#library = undefined;
    open--;
    this.#freed();
  }
}

/**
 * @param sampleRate what it decodes to: 8000, 12000, 16000, 24000 or 48000 Hz
 * @param freed called once: when it is freed, or could not be opened
 */
export async function openOpusDecoder(sampleRate: number, freed: () => void = () => {}): Promise<OpusDecoder> {
  open++;
  try {
    const { OpusDecoder: Loaded } = await import('opus-decoder');
    const library = new Loaded({ channels: 1, sampleRate: sampleRate as Rate });
    await library.ready;
    return new OpusDecoder(library, freed);
  } catch (error) {
    open--;
    freed();
    throw error;
  }
}
