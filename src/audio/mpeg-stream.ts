// Tells compressed frames by themselves, without a file around them and cut anywhere, from raw samples: a recording without its
// tag, a radio stream that was joined.
import { adtsFrame, isLayerIii, type MpegFrame, mpegFrame } from './length/frames/mpeg-frame.ts';

/** By chance raw samples look like one frame often, like two that follow each other rarely. */
const FRAMES = 3;

/** Whose frames are in these bytes, wherever the first of them begins. 4 KiB hold enough of them at any bit rate. */
export function mpegStreamIn(bytes: Uint8Array): 'MP3' | 'AAC' | undefined {
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] !== 0xff) continue;
    if (isRun(bytes, at, (place) => (isLayerIii(bytes, place) ? mpegFrame(bytes, place) : undefined))) return 'MP3';
    if (isRun(bytes, at, (place) => adtsFrame(bytes, place))) return 'AAC';
  }
  return undefined;
}

function isRun(bytes: Uint8Array, from: number, frameAt: (at: number) => MpegFrame | undefined): boolean {
  const first = frameAt(from);
  let at = from;
  for (let frames = 0; frames < FRAMES; frames++) {
    const frame = at < bytes.length ? frameAt(at) : undefined;
    if (frame === undefined || frame.bytes === 0 || frame.kind !== first?.kind) return false;
    at += frame.bytes;
  }
  return true;
}
