// How much sound an AMR file holds, by its frames. RFC 4867, section 5.
import { AmrFrames } from '../frames/amr-frames.ts';
import type { MeasuredAudio } from '../measured.ts';
import { everyByte, type Scan, textAt, viewOf } from '../scan.ts';

const HEAD_BYTES = 19;

export function* amrAudio(from: number, size: number): Scan<MeasuredAudio | undefined> {
  const head: Uint8Array = yield { at: from, length: HEAD_BYTES };
  const [magic = ''] = textAt(head, 0, head.length).split('\n');
  const isSeveral = magic.endsWith('_MC1.0');
  const framesAt = magic.length + 1;
  const channels = isSeveral && head.length >= framesAt + 4 ? viewOf(head).getUint32(framesAt) & 15 : 1;
  const frames = new AmrFrames(magic.startsWith('#!AMR-WB'));
  yield* everyByte({ from: from + framesAt + (isSeveral ? 4 : 0), to: size }, (bytes) => frames.push(bytes));
  // One frame of each channel in turn.
  const seconds = frames.seconds / (channels || 1);
  return seconds > 0 ? { seconds, secondsMax: seconds, channels: channels || 1, isDamaged: frames.isCut } : undefined;
}
