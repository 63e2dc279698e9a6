// How much sound a WMA or WMV file holds, by the frames in its packets. Where frames are not counted, the duration in the header is
// believed if it fits the bytes. Microsoft, "Advanced Systems Format Specification", revision 1.2.
import { WmaFrames } from '../frames/wma-frames.ts';
import { type MeasuredAudio, statedOnly } from '../measured.ts';
import { type Scan, viewOf } from '../scan.ts';
import { everyPayload } from './asf-packets.ts';

const OBJECT_HEAD_BYTES = 24;
/** Of the object that holds the packets, in front of them. */
const DATA_HEAD_BYTES = 50;
const HEADER_BYTES_MAX = 1024 * 1024;
const PACKET_BYTES_MIN = 100;
const FILE_PROPERTIES = 'a1dcab8c47a9cf118ee400c00c205365';
const STREAM_PROPERTIES = '9107dcb7b7a9cf118ee600c00c205365';
const AUDIO = '409e69f84d5bcf11a8fd00805f5c442b';
const VIDEO = 'c0ef19bc4d5bcf11a8fd00805f5c442b';
const TICKS_PER_SECOND = 1e7;
/** A rate is an average. */
const FITS = { share: 1.25, seconds: 1 };
const COUNTED_FITS = { share: 1.01, seconds: 0.25 };
interface Header {
  statedSeconds: number;
  packetBytes: number;
  stream: number;
  frames: WmaFrames | undefined;
  hasVideo: boolean;
}

export function* asfAudio(from: number, size: number): Scan<MeasuredAudio | undefined> {
  const head: Uint8Array = yield { at: from, length: OBJECT_HEAD_BYTES };
  const bytes = head.length < OBJECT_HEAD_BYTES ? 0 : Number(viewOf(head).getBigUint64(16, true));
  if (bytes > HEADER_BYTES_MAX) return undefined;
  const header = headerOf(yield { at: from, length: bytes });
  const { statedSeconds, packetBytes, stream, frames, hasVideo } = header;
  if (frames === undefined || packetBytes < PACKET_BYTES_MIN) return undefined;
  if (!frames.isKnown) return statedOnly(statedSeconds);
  yield* everyPayload({ from: from + bytes + DATA_HEAD_BYTES, to: size }, packetBytes, stream, (payload) =>
    frames.push(payload),
  );
  const { seconds: here, channels, isCounted } = frames;
  if (here === 0) return undefined;
  const isFitting = statedSeconds > 0 && here <= statedSeconds * FITS.share + FITS.seconds;
  // Less than the header says is a file that is cut off.
  const { share, seconds: spareSeconds } = isCounted ? COUNTED_FITS : FITS;
  const isDamaged = statedSeconds > here * share + spareSeconds;
  const seconds = isCounted || !isFitting || isDamaged ? here : statedSeconds;
  return { seconds, secondsMax: Math.max(seconds, here), channels, hasVideo, isDamaged };
}

function headerOf(bytes: Uint8Array): Header {
  const header: Header = {
    statedSeconds: 0,
    packetBytes: 0,
    stream: 0,
    frames: undefined,
    hasVideo: false,
  };
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 30; at + OBJECT_HEAD_BYTES <= all.length; ) {
    const id = all.toString('hex', at, at + 16);
    const length = Number(all.readBigUInt64LE(at + 16));
    const body = all.subarray(at + OBJECT_HEAD_BYTES, at + length);
    if (id === FILE_PROPERTIES && body.length >= 76) {
      // The sound begins after the preroll, which is in milliseconds.
      const played = Number(body.readBigUInt64LE(40)) / TICKS_PER_SECOND - Number(body.readBigUInt64LE(56)) / 1000;
      header.statedSeconds = Math.max(0, played);
      header.packetBytes = body.readUInt32LE(72);
    }
    if (id === STREAM_PROPERTIES && body.length >= 70) describeStream(body, header);
    if (length < OBJECT_HEAD_BYTES) break;
    at += length;
  }
  return header;
}

function describeStream(body: Buffer, header: Header): void {
  const kind = body.toString('hex', 0, 16);
  header.hasVideo ||= kind === VIDEO;
  if (kind !== AUDIO) return;
  header.stream = body.readUInt16LE(48) & 0x7f;
  header.frames = new WmaFrames(body.subarray(54));
}
