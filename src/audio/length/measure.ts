// How much audio a file holds at most, whatever it says of itself: by counting what a decoder would decode. Which container it
// is, its first bytes say; tags may stand in front of them.
import { sniffContainer } from '../container.ts';
import { FlacFrames, flacInfo } from './frames/flac-frames.ts';
import { adtsFrame, mpegFrame } from './frames/mpeg-frame.ts';
import { MpegFrames } from './frames/mpeg-frames.ts';
import { silentSeconds } from './frames/mpeg-silence.ts';
import { type MeasuredAudio, secondsAtMost } from './measured.ts';
import { mp4Audio } from './mp4.ts';
import { oggAudio } from './ogg.ts';
import { everyByte, type Scan } from './scan.ts';
import { wavAudio } from './wav.ts';
import { webmAudio } from './webm.ts';

/** Two frames of MP3 fit. */
const SNIFF_BYTES = 4_096;
const ID3_HEAD_BYTES = 10;
const TAGS_MAX = 1_000;
/** What of an MP3 file may be something else than frames: tags at its end, holes of a download. */
const REST_BYTES_MAX = 16 * 1024;
const FLAC_HEAD_BYTES = 42;
const FLAC_INFO_BYTES = 34;

/** Undefined when it cannot be measured. */
export function* audioIn(size: number): Scan<MeasuredAudio | undefined> {
  const from = yield* behindTags(size);
  switch (sniffContainer(yield { at: from, length: SNIFF_BYTES })) {
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
    default:
      return yield* mpegAudio(from, size);
  }
}

/** Decoders pass over whole tags of ID3v2 at the beginning; what says that it is longer than the file is none. */
function* behindTags(size: number): Scan<number> {
  let at = 0;
  for (let tags = 0; tags < TAGS_MAX; tags++) {
    const head: Uint8Array = yield { at, length: ID3_HEAD_BYTES };
    if (head.length < ID3_HEAD_BYTES || String.fromCharCode(...head.subarray(0, 3)) !== 'ID3') break;
    const [a = 0, b = 0, c = 0, d = 0] = head.subarray(6);
    const footer = (head[5]! & 0x10) === 0 ? 0 : ID3_HEAD_BYTES;
    const end = at + ID3_HEAD_BYTES + ((a & 0x7f) << 21) + ((b & 0x7f) << 14) + ((c & 0x7f) << 7) + (d & 0x7f) + footer;
    if (end >= size) break;
    at = end;
  }
  return at;
}

/** MP3 and its kin. What is in between may be something else that decoders know, and is taken for the thinnest audio. */
function* mpegAudio(from: number, size: number): Scan<MeasuredAudio | undefined> {
  const head: Uint8Array = yield { at: from, length: SNIFF_BYTES };
  const frames = new MpegFrames(adtsFrame(head, 0) === undefined ? mpegFrame : adtsFrame);
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
  return { seconds: secondsMin || secondsMax, secondsMax, secondsMin, channels };
}
