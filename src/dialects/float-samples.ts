// Samples of 32-bit floats as 16-bit integers, out of chunks that end anywhere.

import { toSample } from '../audio/pcm.ts';

const BYTES = 4;

export class FloatSamples {
  /** The beginning of a sample whose end has not come: fewer than 4 bytes. */
  #rest = new Uint8Array(0);

  take(bytes: Uint8Array): Uint8Array {
    const all = new Uint8Array(this.#rest.byteLength + bytes.byteLength);
    all.set(this.#rest);
    all.set(bytes, this.#rest.byteLength);
    const count = Math.floor(all.byteLength / BYTES);
    const view = new DataView(all.buffer);
    const samples = new Uint8Array(count * 2);
    const into = new DataView(samples.buffer);
    for (let at = 0; at < count; at++) {
      into.setInt16(at * 2, toSample(view.getFloat32(at * BYTES, true) * 32_768), true);
    }
    this.#rest = all.slice(count * BYTES);
    return samples;
  }
}
