// How much audio a file holds at most, whatever it says of itself: by counting what a decoder would decode. Which container it
// is, its first bytes say; tags may stand in front of them.
import { sniffContainer } from '../container.ts';
import { tagBytes } from '../kind/file-kind.ts';
import { mpegFileIn } from '../kind/mpeg-stream.ts';
import { FlacFrames, flacInfo } from './frames/flac-frames.ts';
import { adtsFrame, mpegFrame } from './frames/mpeg-frame.ts';
import { MpegFrames } from './frames/mpeg-frames.ts';
import { silentSeconds } from './frames/mpeg-silence.ts';
import { amrAudio } from './kinds/amr.ts';
import { asfAudio } from './kinds/asf.ts';
import { sampleFileAudio } from './kinds/sample-files.ts';
import { type MeasuredAudio, secondsAtMost } from './measured.ts';
import { mp4Audio } from './mp4.ts';
import { oggAudio } from './ogg.ts';
import { everyByte, type Scan, viewOf } from './scan.ts';
import { wavAudio } from './wav.ts';
import { webmAudio } from './webm.ts';

/** Two frames of MP3 fit. */
const SNIFF_BYTES = 4_096;
const ID3_HEAD_BYTES = 10;
const TAGS_MAX = 1_000;
const ZEROS_BYTES = 64 * 1024;
/** What of an MP3 file may be something else than frames: tags at its end, holes of a download. */
const REST_BYTES_MAX = 16 * 1024;
const FLAC_HEAD_BYTES = 42;
const FLAC_INFO_BYTES = 34;
/** Of the largest block, in the head. */
const FLAC_BLOCK_AT = 10;

/** Undefined when it cannot be measured. */
export function* audioIn(size: number): Scan<MeasuredAudio | undefined> {
  const from = yield* behindTags(size);
  const name = sniffContainer(yield { at: from, length: SNIFF_BYTES });
  switch (name) {
    case 'Ogg':
      return yield* oggAudio(from, size);
    case 'FLAC':
      return yield* flacAudio(from, size);
    case 'MP4':
      return yield* mp4Audio(from, size);
    case 'WebM or Matroska':
      return yield* webmAudio(from, size);
    case 'WAV':
    case 'WAV (64-bit)':
      return yield* wavAudio(from, size);
    case 'AMR':
      return yield* amrAudio(from, size);
    case 'WMA':
      return yield* asfAudio(from, size);
    case 'AIFF':
    case 'AU':
    case 'CAF':
    case 'Wave64':
    case 'WAV (big-endian)':
      return yield* sampleFileAudio(name, from, size);
    default:
      return yield* mpegAudio(from, size);
  }
}

/** Decoders skip whole tags of ID3v2 in front: one that says that it is longer than the file is none. */
function* behindTags(size: number): Scan<number> {
  let at = 0;
  for (let tags = 0; tags < TAGS_MAX; tags++) {
    const bytes = tagBytes(yield { at, length: ID3_HEAD_BYTES });
    if (bytes === 0 || at + bytes >= size) break;
    at += bytes;
  }
  return at;
}

/** Where the first byte is that is not zero. */
function* behindZeros(from: number, size: number): Scan<number> {
  for (let at = from; at < size; at += ZEROS_BYTES) {
    const bytes: Uint8Array = yield { at, length: Math.min(ZEROS_BYTES, size - at) };
    const first = bytes.findIndex((byte) => byte !== 0);
    if (first >= 0) return at + first;
    if (bytes.length === 0) break;
  }
  return from;
}

/** MP3 and its kin. What is in between may be something else that decoders know, and is taken for the thinnest audio. */
function* mpegAudio(begin: number, size: number): Scan<MeasuredAudio | undefined> {
  const from = yield* behindZeros(begin, size);
  const head: Uint8Array = yield { at: from, length: SNIFF_BYTES };
  const isAdts = adtsFrame(head, 0) !== undefined || mpegFileIn(head) === 'AAC';
  const frames = new MpegFrames(isAdts ? adtsFrame : mpegFrame);
  const silent = silentSeconds(head);
  yield* everyByte({ from, to: size }, (bytes) => frames.push(bytes));
  const { seconds, secondsMax, bytes } = frames.end();
  if (secondsMax === 0) return undefined;
  const rest = Math.max(0, size - from - bytes - REST_BYTES_MAX);
  return {
    seconds: seconds > silent ? seconds - silent : seconds,
    secondsMax: secondsMax + secondsAtMost('MP3', rest),
    channels: frames.channels,
  };
}

/** The stream says how many samples it has, unless it was written live; its frames are counted. The larger of the two counts. */
function* flacAudio(from: number, size: number): Scan<MeasuredAudio | undefined> {
  const head: Uint8Array = yield { at: from, length: FLAC_HEAD_BYTES };
  const info = flacInfo(head.subarray(8));
  const isInfo = head.length === FLAC_HEAD_BYTES && (head[4]! & 0x7f) === 0 && head[7] === FLAC_INFO_BYTES;
  if (!isInfo || info === undefined) return undefined;
  const frames = new FlacFrames(info);
  yield* everyByte({ from: from + FLAC_HEAD_BYTES, to: size }, (bytes) => frames.push(bytes));
  frames.end();
  const secondsMax = Math.max(frames.seconds, info.samples / info.hertz);
  if (secondsMax === 0) return undefined;
  const { seconds: secondsMin, channels } = frames;
  // A header that knows of more than one frame more: the file was cut off.
  const isDamaged = secondsMin > 0 && secondsMax > secondsMin + viewOf(head).getUint16(FLAC_BLOCK_AT) / info.hertz;
  return { seconds: secondsMin || secondsMax, secondsMax, secondsMin, channels, isDamaged };
}
