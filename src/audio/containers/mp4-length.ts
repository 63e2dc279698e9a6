// How much sound an MP4, M4A, MOV or 3GP file holds: the samples of its tracks are counted, in tables or in fragments, since the
// times beside them are only what the file says of itself. ISO/IEC 14496-12.
import { AccessUnits } from '../codecs/aac/access-units.ts';
import type { AacConfig } from '../codecs/aac/config.ts';
import { OPUS_HEAD_BYTES, opusSeconds } from '../codecs/opus.ts';
import { everyByte, type MeasuredAudio, type Scan, secondsAtMost, statedOnly } from '../scan.ts';
import { AmrFrames } from './amr.ts';
import { FlacFrames } from './flac.ts';
import { addFragment, BOX_HEAD_BYTES, boxHead, type Mp4Codec, movieOf, type Run, type Track } from './mp4.ts';
import { MpegFrames } from './mpeg.ts';

/** Tables of a day of sound are smaller. */
const BOX_BYTES_MAX = 16 * 1024 * 1024;
/** Encoders put up to three packets of silence in front of the sound, and fill up the last one. */
const TRIMMED_PACKETS_MAX = 4;
/** Ten days of AAC have fewer. */
const UNITS_MAX = 20_000_000;

/** What the samples of a track hold. */
type Content = Omit<MeasuredAudio, 'hasVideo'> & {
  /** Of one packet, where all have the same length. */
  packetSeconds?: number;
};

/** Its tracks of sound, with all of their samples; undefined where its tables are larger than any that is honest. */
export function* mp4Tracks(from: number, size: number): Scan<{ tracks: Track[]; hasVideo: boolean } | undefined> {
  const tracks: Track[] = [];
  let hasVideo = false;
  for (let at = from; at + 8 <= size; ) {
    const { type, headBytes, bytes } = boxHead(yield { at, length: BOX_HEAD_BYTES }, size - at);
    if (bytes < headBytes) break;
    if (type === 'moov' || (type === 'moof' && tracks.length > 0)) {
      if (bytes - headBytes > BOX_BYTES_MAX) return undefined;
      const body: Uint8Array = yield { at: at + headBytes, length: bytes - headBytes };
      if (type === 'moov') {
        // The next piece takes its place.
        const movie = movieOf(body.slice(), size);
        tracks.push(...movie.tracks);
        hasVideo ||= movie.hasVideo;
      } else for (const track of tracks) addFragment(track, body, at, size);
    }
    at += bytes;
  }
  return { tracks, hasVideo };
}

/** Of the longest of its tracks; undefined where there is none, or it cannot be measured. */
export function* mp4Audio(from: number, size: number): Scan<MeasuredAudio | undefined> {
  const movie = yield* mp4Tracks(from, size);
  if (movie === undefined) return undefined;
  const { tracks, hasVideo } = movie;
  const measured: MeasuredAudio = { seconds: 0, secondsMax: 0, channels: 1, isDamaged: false, hasVideo };
  let statedSeconds = 0;
  for (const track of tracks) {
    const stated = track.timescale === 0 ? 0 : track.ticks / track.timescale;
    if (track.codec.kind === 'unknown') {
      statedSeconds = Math.max(statedSeconds, stated);
      continue;
    }
    const content: Content | undefined = yield* contentOf(track, size);
    if (content === undefined) return undefined;
    const { edits } = track;
    measured.seconds = Math.max(
      measured.seconds,
      trimmed(content, [stated, edits.shownSeconds, stated - edits.skippedSeconds]),
    );
    measured.secondsMax = Math.max(measured.secondsMax, content.secondsMax, stated);
    measured.channels = Math.max(measured.channels, content.channels);
    measured.isDamaged ||= content.isDamaged ?? false;
  }
  if (tracks.some(({ codec }) => codec.kind === 'unknown'))
    return statedOnly(Math.max(statedSeconds, measured.seconds));
  return measured.secondsMax > 0 ? measured : undefined;
}

/** Without the silence of the encoder at both ends, where the file says so and does not say more. */
function trimmed({ seconds, packetSeconds = 0 }: Content, claims: readonly number[]): number {
  const credible = claims.filter((claim) => claim > 0 && claim > seconds - TRIMMED_PACKETS_MAX * packetSeconds);
  return Math.min(seconds, ...credible);
}

/** Undefined when they cannot be read. */
function* contentOf({ codec, runs, isAlone }: Track, size: number): Scan<Content | undefined> {
  if (codec.kind === 'unknown') return undefined;
  const { channels } = codec;
  switch (codec.kind) {
    case 'samples': {
      const seconds = runs.reduce((sum, run) => sum + secondsOf(run, codec), 0);
      return { seconds, secondsMax: seconds, packetSeconds: codec.seconds, channels };
    }
    case 'aac':
      return yield* aacRuns(runs, codec.config, size);
    case 'pcm': {
      // QuickTime says one byte where a sample has more.
      const bytes = runs.reduce((sum, run) => sum + run.count * Math.max(run.sizeOf(0), codec.frameBytes), 0);
      const seconds = bytes / codec.bytesPerSecond;
      const secondsMax = isAlone ? Math.max(seconds, size / codec.bytesPerSecond) : seconds;
      return { seconds, secondsMax, channels };
    }
    case 'opus': {
      const seconds = yield* opusRuns(runs);
      return { seconds, secondsMax: seconds, packetSeconds: OPUS_PACKET_SECONDS, channels };
    }
    case 'flac': {
      const frames = new FlacFrames(codec);
      yield* everyRun(runs, size, (bytes) => frames.push(bytes));
      frames.end();
      return { seconds: frames.seconds, secondsMax: frames.seconds, channels: frames.channels };
    }
    case 'narrow amr':
    case 'wide amr': {
      const frames = new AmrFrames(codec.kind === 'wide amr');
      yield* everyRun(runs, size, (bytes) => frames.push(bytes));
      return { seconds: frames.seconds, secondsMax: frames.seconds, channels };
    }
    case 'mpeg': {
      const frames = new MpegFrames();
      yield* everyRun(runs, size, (bytes) => frames.push(bytes));
      const { seconds, secondsMax } = frames.end();
      return { seconds, secondsMax, packetSeconds: frames.frameSeconds, channels: frames.channels };
    }
  }
}

const OPUS_PACKET_SECONDS = 0.02;

/** One packet for each sample; what is too large to be one may be any number of them. */
function secondsOf({ count, sizeOf }: Run, { seconds, packetBytesMax }: Mp4Codec & { kind: 'samples' }): number {
  let sum = 0;
  for (let sample = 0; sample < count; sample++) {
    const bytes = sizeOf(sample);
    sum += bytes > packetBytesMax ? secondsAtMost('MP4', bytes) : seconds;
  }
  return sum;
}

function* aacRuns(runs: readonly Run[], config: AacConfig, size: number): Scan<Content | undefined> {
  if (runs.reduce((sum, { count }) => sum + count, 0) > UNITS_MAX) return undefined;
  const units = new AccessUnits(config);
  for (const { at: begin, count, sizeOf } of runs) {
    let at = begin;
    for (let sample = 0; sample < count; sample++) {
      const length = sizeOf(sample);
      if (at + length > size) units.missingUnit();
      else if (units.isChecked(length)) units.unit(yield { at, length });
      else units.uncheckedUnit(length);
      at += length;
    }
  }
  const { seconds, secondsMax, isDamaged, channels } = units;
  return { seconds, secondsMax, isDamaged, packetSeconds: config.seconds, channels };
}

/** Packet by packet, by its first bytes. */
function* opusRuns(runs: readonly Run[]): Scan<number> {
  let seconds = 0;
  for (const { at: begin, count, sizeOf } of runs) {
    let at = begin;
    for (let sample = 0; sample < count; sample++) {
      const bytes = sizeOf(sample);
      seconds += opusSeconds(yield { at, length: Math.min(bytes, OPUS_HEAD_BYTES) });
      at += bytes;
    }
  }
  return seconds;
}

/** The bytes of all samples in their order. */
function* everyRun(runs: readonly Run[], size: number, push: (bytes: Uint8Array) => void): Scan<void> {
  for (const { at, count, sizeOf } of runs) {
    let to = at;
    for (let sample = 0; sample < count; sample++) to += sizeOf(sample);
    yield* everyByte({ from: at, to: Math.min(to, size) }, push);
  }
}
