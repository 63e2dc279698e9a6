// How much sound an MP4 or M4A file holds: its samples are counted, in tables or in fragments, since the times beside them are
// what the file says of itself. The larger of the two counts. ISO/IEC 14496-12.
import { FlacFrames } from './frames/flac-frames.ts';
import { MpegFrames } from './frames/mpeg-frames.ts';
import { OPUS_HEAD_BYTES, opusSeconds } from './frames/opus.ts';
import { type MeasuredAudio, secondsAtMost } from './measured.ts';
import { BOX_HEAD_BYTES, boxesOf, boxHead, inside, wordAt } from './mp4-boxes.ts';
import { handlerOf, type Mp4Codec, mp4Codec } from './mp4-codec.ts';
import { addFragment, type Run, type Track, tableRuns } from './mp4-samples.ts';
import { everyByte, type Scan, type Span } from './scan.ts';

/** Tables of a day of sound are smaller. */
const BOX_BYTES_MAX = 16 * 1024 * 1024;

/** Of the longest of its tracks; undefined where there is none, or it cannot be measured. */
export function* mp4Audio(from: number, size: number): Scan<MeasuredAudio | undefined> {
  const tracks: Track[] = [];
  for (let at = from; at + 8 <= size; ) {
    const { type, headBytes, bytes } = boxHead(yield { at, length: BOX_HEAD_BYTES }, size - at);
    if (bytes < headBytes) break;
    if (type === 'moov' || (type === 'moof' && tracks.length > 0)) {
      if (bytes - headBytes > BOX_BYTES_MAX) return undefined;
      const body: Uint8Array = yield { at: at + headBytes, length: bytes - headBytes };
      // The next piece takes its place.
      if (type === 'moov') tracks.push(...soundTracks(body.slice(), size));
      else for (const track of tracks) addFragment(track, body, at, size);
    }
    at += bytes;
  }
  let secondsMax = 0;
  let channels = 1;
  for (const track of tracks) {
    const counted = yield* contentOf(track, { from, to: size }, tracks.length === 1);
    if (counted === undefined) return undefined;
    const stated = track.timescale === 0 ? 0 : track.ticks / track.timescale;
    secondsMax = Math.max(secondsMax, counted.seconds, stated);
    channels = Math.max(channels, counted.channels);
  }
  return secondsMax > 0 ? { secondsMax, channels } : undefined;
}

/** Every track but those of pictures: decoders take one for sound by how its samples are coded, whatever it is called. */
function soundTracks(moov: Uint8Array, size: number): Track[] {
  const tracks: Track[] = [];
  for (const { type, body } of boxesOf(moov)) {
    if (type !== 'trak') continue;
    const media = inside(body, 'mdia');
    const table = inside(media, 'minf', 'stbl');
    const codec = mp4Codec(inside(table, 'stsd'));
    const isSound = handlerOf(media) === 'soun';
    if (codec === undefined || (codec.kind === 'unknown' && !isSound)) continue;
    const header = inside(media, 'mdhd');
    const trackHeader = inside(body, 'tkhd');
    const id = wordAt(trackHeader, trackHeader?.[0] === 1 ? 20 : 12);
    tracks.push({
      id,
      codec,
      timescale: wordAt(header, header?.[0] === 1 ? 20 : 12),
      ticks: ticksOfTable(inside(table, 'stts')),
      runs: tableRuns(table, size),
      defaults: defaultsOf(inside(moov, 'mvex'), id),
    });
  }
  return tracks;
}

function ticksOfTable(stts: Uint8Array | undefined): number {
  let ticks = 0;
  for (let at = 8; stts !== undefined && at + 8 <= stts.length; at += 8)
    ticks += wordAt(stts, at) * wordAt(stts, at + 4);
  return ticks;
}

function defaultsOf(mvex: Uint8Array | undefined, id: number): Track['defaults'] {
  for (const { type, body } of boxesOf(mvex)) {
    if (type === 'trex' && wordAt(body, 4) === id) return { ticks: wordAt(body, 12), bytes: wordAt(body, 16) };
  }
  return { ticks: 0, bytes: 0 };
}

/** What the samples of a track hold; undefined when they cannot be read. */
function* contentOf(
  { codec, runs }: Track,
  all: Span,
  isAlone: boolean,
): Scan<{ seconds: number; channels: number } | undefined> {
  switch (codec.kind) {
    case 'unknown':
      return undefined;
    case 'samples': {
      const seconds = runs.reduce((sum, run) => sum + secondsOf(run, codec), 0);
      return { seconds, channels: codec.channels };
    }
    case 'pcm': {
      const samples = runs.reduce((sum, run) => sum + run.count * run.sizeOf(0), 0);
      const bytes = isAlone ? all.to - all.from : samples;
      return { seconds: bytes / codec.bytesPerSecond, channels: codec.channels };
    }
    case 'opus':
      return { seconds: yield* opusRuns(runs), channels: codec.channels };
    case 'flac': {
      const frames = new FlacFrames(codec);
      yield* everyByte(all, (bytes) => frames.push(bytes));
      frames.end();
      return frames;
    }
    case 'mpeg': {
      const frames = new MpegFrames();
      yield* everyByte(all, (bytes) => frames.push(bytes));
      return { seconds: frames.end().seconds, channels: frames.channels };
    }
  }
}

/** One packet for each sample; what is too large to be one may be any number of them. */
function secondsOf({ count, sizeOf }: Run, { seconds, packetBytesMax }: Mp4Codec & { kind: 'samples' }): number {
  let sum = 0;
  for (let sample = 0; sample < count; sample++) {
    const bytes = sizeOf(sample);
    sum += bytes > packetBytesMax ? secondsAtMost('MP4', bytes) : seconds;
  }
  return sum;
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
