// WebM and Matroska with Opus in it, as browsers record it: of the first track of sound.

import type { OpusHead } from '../../../audio/codecs/opus.ts';
import {
  BLOCK_HEAD_BYTES,
  everyElement,
  isBlock,
  opusTrackIn,
  READ_BYTES_MAX,
  readBlock,
  TRACKS,
  trackOf,
} from '../../../audio/containers/webm.ts';
import type { Scan } from '../../../audio/scan.ts';

import { opusPackets, type Sound, Undecodable } from './sound.ts';

export async function* webmSound(bytes: AsyncIterable<Uint8Array>, onDamage: () => void): AsyncGenerator<Sound> {
  const track = new SoundTrack();
  const scan = everyElement(0, Number.POSITIVE_INFINITY, (id, at, length) => track.hear(id, at, length));
  let packets: ((packet: Uint8Array) => Sound) | undefined;
  for await (const isCut of steps(scan, bytes)) {
    if (isCut) onDamage();
    for (const packet of track.taken()) {
      packets ??= await opusPackets(track.head);
      yield packets(packet);
    }
  }
}

/** Takes a scan through a file that can be read once. Gives control back at each step; true when the file ends in the middle of one. */
async function* steps(scan: Scan<unknown>, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<boolean> {
  const chunks = bytes[Symbol.asyncIterator]();
  let held: Uint8Array = new Uint8Array(0);
  let heldAt = 0;
  let isOver = false;
  for (let step = scan.next(); step.done !== true; ) {
    const { at, length } = step.value;
    while (!isOver && heldAt + held.length < at + length) {
      const next = await chunks.next();
      isOver = next.done === true;
      if (next.done === true) break;
      const passed = Math.min(at - heldAt, held.length);
      held = passed === held.length ? next.value : Buffer.concat([held.subarray(passed), next.value]);
      heldAt += passed;
    }
    const here = held.subarray(Math.min(at - heldAt, held.length)).subarray(0, length);
    if (here.length === 0) {
      if (at > heldAt + held.length) yield true;
      return;
    }
    step = scan.next(here);
    yield false;
  }
}

/** Collects the packets of the first track of sound. */
class SoundTrack {
  #number: number | undefined;
  #packets: Uint8Array[] = [];
  head: OpusHead = { channels: 1, preSkip: 0 };

  /** The packets since the last time. */
  taken(): Uint8Array[] {
    const packets = this.#packets;
    this.#packets = [];
    return packets;
  }

  *hear(id: number, at: number, bytes: number): Scan<boolean> {
    if (id === TRACKS && this.#number === undefined) {
      this.#choose(yield { at, length: Math.min(bytes, READ_BYTES_MAX) });
    } else if (isBlock(id)) {
      const number = trackOf(yield { at, length: Math.min(bytes, BLOCK_HEAD_BYTES) });
      if (number !== this.#number || bytes > READ_BYTES_MAX) return true;
      for (const frame of readBlock(yield { at, length: bytes })?.frames ?? []) this.#packets.push(frame);
    }
    return true;
  }

  #choose(tracks: Uint8Array): void {
    const track = opusTrackIn(tracks);
    if (track === undefined) return;
    if ('codec' in track) {
      throw new Undecodable(`its sound is ${track.codec.replace(/^A_/, '')}, and of WebM only Opus is decoded`);
    }
    this.#number = track.number;
    this.head = track.head;
  }
}
