// Silence that an MP3 file says its encoder added: a first frame that only describes the others, and samples at both ends. The tag
// is the one of Xing and LAME; decoders leave all of that out.
import { type MpegFrame, mpegFrame } from './mpeg-frame.ts';

/** The tag begins after the side information, whose size goes by version and channels. */
const TAG_BYTES_FROM_MAX = 40;
const FLAGS = [
  { flag: 1, bytes: 4 },
  { flag: 2, bytes: 4 },
  { flag: 4, bytes: 100 },
  { flag: 8, bytes: 4 },
];
/** From the beginning of LAME's part. */
const DELAY_AT = 21;
/** Encoders add less. */
const FRAMES_MAX = 4;

/** @param head the beginning of the file, after tags of ID3v2 */
export function silentSeconds(head: Uint8Array): number {
  const frame = mpegFrame(head, 0);
  if (frame === undefined || frame.bytes === 0) return 0;
  const view = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, frame.bytes));
  const isXing = ['Xing', 'Info'].map((mark) => view.indexOf(mark)).find((at) => at > 0 && at <= TAG_BYTES_FROM_MAX);
  if (isXing === undefined) return view.indexOf('VBRI') === 36 ? frame.seconds : 0;
  return frame.seconds + delaySeconds(view, isXing, frame);
}

function delaySeconds(view: Buffer, tagAt: number, { seconds, samples }: MpegFrame): number {
  if (tagAt + 8 > view.length) return 0;
  const flags = view.readUInt32BE(tagAt + 4);
  const lameAt = FLAGS.reduce((at, { flag, bytes }) => at + ((flags & flag) === 0 ? 0 : bytes), tagAt + 8);
  if (lameAt + DELAY_AT + 3 > view.length) return 0;
  const both = view.readUIntBE(lameAt + DELAY_AT, 3);
  const delaySamples = (both >> 12) + (both & 0xfff);
  return delaySamples > FRAMES_MAX * samples ? 0 : (delaySamples / samples) * seconds;
}
