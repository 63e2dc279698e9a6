// FLAC: each frame is decoded by itself.
import { FLACDecoder } from '@wasm-audio-decoders/flac';
import { FlacCutter } from './flac-cutter.ts';
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
