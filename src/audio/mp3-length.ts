// How long an MP3 file is, frame by frame: what its own header claims of itself is not asked. Where the bytes come from is the
// caller's. Layer III alone: the other layers are no MP3.
import { mp3Frame } from './container.ts';
import type { LengthScan } from './length-scan.ts';

const BLOCK_BYTES = 64 * 1024;
/** A frame's header, and the mark of one that holds no sound but facts about the others. */
const FRAME_HEAD_BYTES = 40;
/** Where `Xing`, `Info` or `VBRI` stand in a frame, by version and channels. */
const FACTS_AT = [13, 21, 36];
const ID3V2_HEAD_BYTES = 10;

/** Seconds; undefined where fewer than two frames follow one another. */
export function* mp3Seconds(size: number): LengthScan {
  let at = yield* behindTag();
  let block: { at: number; bytes: Uint8Array } = { at: 0, bytes: new Uint8Array(0) };
  let frames = 0;
  let seconds = 0;
  while (at + 4 <= size) {
    if (at < block.at || at + FRAME_HEAD_BYTES > block.at + block.bytes.length) {
      block = { at, bytes: yield { at, length: Math.min(BLOCK_BYTES, size - at) } };
      if (block.bytes.length < 4) break;
    }
    const offset = at - block.at;
    const frame = mp3Frame(block.bytes, offset);
    if (frame === undefined) {
      // Between frames there may be anything: a tag, or the hole of a broken download.
      const next = block.bytes.indexOf(0xff, offset + 1);
      at = next === -1 ? block.at + block.bytes.length : block.at + next;
      continue;
    }
    const holdsSound = frames > 0 || !holdsFacts(block.bytes, offset);
    frames++;
    // The last frame may be cut off: there is no sound in half a frame.
    if (holdsSound && at + frame.bytes <= size) seconds += frame.seconds;
    at += frame.bytes;
  }
  return frames < 2 ? undefined : seconds;
}

/** Behind the tags at the beginning of the file. */
function* behindTag(): Generator<{ at: number; length: number }, number, Uint8Array> {
  const head = yield { at: 0, length: ID3V2_HEAD_BYTES };
  if (head.length < ID3V2_HEAD_BYTES || String.fromCharCode(...head.subarray(0, 3)) !== 'ID3') return 0;
  const [a = 0, b = 0, c = 0, d = 0] = head.subarray(6);
  return ID3V2_HEAD_BYTES + ((a & 0x7f) << 21) + ((b & 0x7f) << 14) + ((c & 0x7f) << 7) + (d & 0x7f);
}

function holdsFacts(bytes: Uint8Array, offset: number): boolean {
  return FACTS_AT.some((at) => {
    const mark = String.fromCharCode(...bytes.subarray(offset + at, offset + at + 4));
    return mark === 'Xing' || mark === 'Info' || mark === 'VBRI';
  });
}
