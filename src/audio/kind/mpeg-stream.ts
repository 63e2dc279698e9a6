// Tells compressed frames by themselves, without a file around them and cut anywhere, from raw samples: a recording without its
// tag, a radio stream that was joined.
import { adtsFrame, layerOf, type MpegFrame, mpegFrame } from '../length/frames/mpeg-frame.ts';

/** By chance raw samples look like one frame often, like two that follow each other rarely. */
const FRAMES = 3;

const LAYER_III = 1;
const LAYERS_I_AND_II = [3, 2];

/** Whose frames are in these bytes, wherever the first of them begins. 4 KiB hold enough of them at any bit rate. */
export function mpegStreamIn(bytes: Uint8Array): 'MP3' | 'AAC' | undefined {
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] !== 0xff) continue;
    if (isRun(bytes, at, layerIii)) return 'MP3';
    if (isRun(bytes, at, adtsFrame)) return 'AAC';
  }
  return undefined;
}

/** Layers I and II too, which raw samples resemble more often: for files, and only from their first byte on. */
export function mpegFileIn(bytes: Uint8Array): 'MP3' | 'MP2' | 'AAC' | undefined {
  const runs = (frameAt: FrameAt) => isRun(bytes, 0, frameAt, 2);
  if (runs(adtsFrame)) return 'AAC';
  if (runs(layersIAndIi)) return 'MP2';
  return mpegStreamIn(bytes);
}

type FrameAt = (bytes: Uint8Array, at: number) => MpegFrame | undefined;

const layerIii: FrameAt = (bytes, at) => (layerOf(bytes, at) === LAYER_III ? mpegFrame(bytes, at) : undefined);
const layersIAndIi: FrameAt = (bytes, at) =>
  LAYERS_I_AND_II.includes(layerOf(bytes, at)) ? mpegFrame(bytes, at) : undefined;

function isRun(bytes: Uint8Array, from: number, frameAt: FrameAt, count = FRAMES): boolean {
  const first = frameAt(bytes, from);
  let at = from;
  for (let frames = 0; frames < count; frames++) {
    const frame = at < bytes.length ? frameAt(bytes, at) : undefined;
    if (frame === undefined || frame.bytes === 0 || frame.kind !== first?.kind) return false;
    at += frame.bytes;
  }
  return true;
}
