// FLAC: the file is cut into frames, each of which is decoded separately. RFC 9639, sections 8 and 9.
import { FLACDecoder } from '@wasm-audio-decoders/flac';
import { FLAC_HEAD_BYTES_MAX, flacFrameAt, flacInfo } from '../../../audio/containers/flac.ts';
import { joined } from '../../../audio/containers/mpeg.ts';
import { type Sound, Undecodable } from './sound.ts';

/** The decoder knows no others. */
const BITS: readonly number[] = [8, 16, 24, 32];

export async function* flacSound(bytes: AsyncIterable<Uint8Array>, onDamage: () => void): AsyncGenerator<Sound> {
  const cutter = new FlacCutter();
  const decoder = new FlacFrameDecoder();
  await decoder.ready;
  let samples = 0;
  const decode = async function* (frames: Iterable<Uint8Array>) {
    for (const frame of frames) {
      const sound = await decoder.decode(frame);
      samples += sound.samplesDecoded;
      yield sound;
    }
  };
  for await (const block of bytes) yield* decode(cutter.push(block));
  yield* decode(cutter.end());
  if (samples < cutter.samples) onDamage();
}

export class FlacFrameDecoder {
  readonly #decoder = new FLACDecoder();

  get ready(): Promise<void> {
    return this.#decoder.ready;
  }

  /** @throws Undecodable */
  async decode(frame: Uint8Array): Promise<Sound> {
    const sound = await this.#decoder.decodeFrames([frame]);
    if (sound.samplesDecoded > 0 && !BITS.includes(sound.bitDepth)) {
      throw new Undecodable(`its samples have ${sound.bitDepth} bits, and 8, 16, 24 or 32 are read`);
    }
    return sound;
  }
}

const MARK_BYTES = 'fLaC'.length;
const BLOCK_HEAD_BYTES = 4;
/** The first block describes the stream. */
const INFO_BLOCK_BYTES = BLOCK_HEAD_BYTES + 34;
const LAST_BLOCK = 0x80;
/** What is longer is not a frame: 65,535 samples of eight channels of 32 bits, and what they need beside. */
const FRAME_BYTES_MAX = 2_200_000;

/** Cuts a file into its frames, each of which begins with a head that carries a checksum. */
class FlacCutter {
  #held: Uint8Array = new Uint8Array(0);
  /** Of what is in front of the frames: so much is passed over before the next block begins. */
  #skip = MARK_BYTES;
  #next: 'first block' | 'block' | 'frames' = 'first block';
  #isBehindBlocks = false;
  /** What is held begins with a frame; the next one is looked for from there on. */
  #isOpen = false;
  #searched = 0;
  /** What the heads of all frames have in common. */
  #like: readonly number[] | undefined;
  /** As the file says; 0 where its writer did not know. */
  samples = 0;

  /** The frames that these bytes complete. */
  *push(bytes: Uint8Array): Generator<Uint8Array> {
    this.#held = joined(this.#held, bytes);
    while (!this.#isBehindBlocks && this.#block());
    if (this.#isBehindBlocks) yield* this.#frames(Math.max(0, this.#held.length - FLAC_HEAD_BYTES_MAX));
  }

  /** The last frame. */
  *end(): Generator<Uint8Array> {
    yield* this.#frames(this.#held.length);
    if (this.#isOpen) yield this.#held;
  }

  /** Passes over one block in front of the frames; false when more bytes are needed, or none is left. */
  #block(): boolean {
    const passed = Math.min(this.#skip, this.#held.length);
    this.#held = this.#held.subarray(passed);
    this.#skip -= passed;
    if (this.#skip > 0) return false;
    if (this.#next === 'frames') {
      this.#isBehindBlocks = true;
      return false;
    }
    const isFirst = this.#next === 'first block';
    if (this.#held.length < (isFirst ? INFO_BLOCK_BYTES : BLOCK_HEAD_BYTES)) return false;
    const [kind = 0, a = 0, b = 0, c = 0] = this.#held;
    if (isFirst) this.samples = flacInfo(this.#held.subarray(BLOCK_HEAD_BYTES))?.samples ?? 0;
    this.#skip = BLOCK_HEAD_BYTES + (a << 16) + (b << 8) + c;
    this.#next = (kind & LAST_BLOCK) === 0 ? 'block' : 'frames';
    return true;
  }

  /** Looks for heads up to a position. */
  *#frames(end: number): Generator<Uint8Array> {
    const held = this.#held;
    let from = 0;
    for (let at = held.indexOf(0xff, this.#searched); at !== -1 && at < end; at = held.indexOf(0xff, at + 1)) {
      if (!this.#isFrame(held, at)) continue;
      if (this.#isOpen) yield held.subarray(from, at);
      this.#isOpen = true;
      from = at;
    }
    if (!this.#isOpen || end - from > FRAME_BYTES_MAX) {
      this.#isOpen = false;
      from = end;
    }
    this.#held = held.subarray(from);
    this.#searched = Math.max(end - from, this.#isOpen ? 1 : 0);
  }

  #isFrame(bytes: Uint8Array, at: number): boolean {
    if (flacFrameAt(bytes, at) === undefined) return false;
    const head = [bytes[at + 1]!, bytes[at + 2]! & 15, bytes[at + 3]! & 15];
    this.#like ??= head;
    return this.#like.every((value, place) => value === head[place]);
  }
}
