// Cuts the AAC of MP4 files, which is not decoded here, between two of its access units: each part is an M4A file with the units as they
// are, and without pictures. Where pauses are is not known, so each part shares a few seconds with the next.

import type { Track } from '../../audio/containers/mp4.ts';
import { mp4Tracks } from '../../audio/containers/mp4-length.ts';
import { M4A_HEADER_BYTES, M4A_SAMPLE_BYTES, m4aHeader } from '../../audio/containers/mp4-writer.ts';
import type { Scan } from '../../audio/scan.ts';
import type { AudioFile } from '../file-source.ts';
import {
  BYTES_SHARE,
  OVERLAP_SECONDS,
  PART_SECONDS_MAX,
  PART_SECONDS_MIN,
  type PartLimits,
  SPARE_SECONDS,
} from './plan.ts';

export type ReadAt = (position: number, length: number) => Promise<Uint8Array>;

/** The access units of a track. */
export interface Units {
  description: Uint8Array;
  /** Where each is in the file, and how long. */
  positions: Float64Array;
  sizes: Uint32Array;
  /** Of each unit. */
  seconds: number;
  /** Of the silence that the encoder has put in front, which is not part of the recording. */
  leadSeconds: number;
}

/** A stretch of units. */
export interface UnitPart {
  from: number;
  to: number;
  /** Units at the end that the next part has as well. */
  overlap: number;
}

/** Twelve hours at 44.1 kHz. */
const UNITS_MAX = 2_000_000;
/** Boxes that are read: fragments of half a second have no more in a day. */
const READS_MAX = 500_000;
/** Of each unit, in the header of a part: it need not be the sample rate. */
const TICKS = 1_024;
const PIECE_BYTES = 64 * 1024;

/** The units of a file whose only sound is AAC; undefined where it has none, or its tables are not all there. */
export async function unitsOf(readAt: ReadAt, size: number): Promise<Units | undefined> {
  const movie = await scanned(mp4Tracks(0, size), readAt);
  const [track, ...others] = movie?.tracks ?? [];
  if (track === undefined || others.length > 0) return undefined;
  const { codec, description, runs, timescale, edits } = track;
  const count = runs.reduce((sum, run) => sum + run.count, 0);
  if (codec.kind !== 'aac' || description === undefined || count === 0 || count > UNITS_MAX) return undefined;
  const { positions, sizes, isWhole } = tableOf(runs, count, size);
  if (!isWhole) return undefined;
  const leadSeconds = timescale === 0 ? 0 : edits.skippedSeconds;
  return { description: description.slice(), positions, sizes, seconds: codec.config.seconds, leadSeconds };
}

function tableOf(runs: Track['runs'], count: number, size: number) {
  const positions = new Float64Array(count);
  const sizes = new Uint32Array(count);
  let unit = 0;
  let bytesLeft = size;
  let isWhole = true;
  for (const run of runs) {
    let at = run.at;
    for (let sample = 0; sample < run.count; sample++, unit++) {
      const bytes = run.sizeOf(sample);
      positions[unit] = at;
      sizes[unit] = bytes;
      at += bytes;
      bytesLeft -= bytes;
    }
    isWhole &&= run.at > 0 && at <= size;
  }
  // Bytes that are in several units would make parts that are larger than the file.
  return { positions, sizes, isWhole: isWhole && bytesLeft >= 0 };
}

/**
 * The parts of a file, about equally long, each within the limits; undefined where they would be too short.
 *
 * @param sizes bytes of each unit
 */
export function unitParts(
  { sizes, seconds, description }: Pick<Units, 'sizes' | 'seconds' | 'description'>,
  { bytesMax, secondsMax }: PartLimits,
): UnitPart[] | undefined {
  const room = (bytesMax ?? Number.POSITIVE_INFINITY) - M4A_HEADER_BYTES - description.length;
  const unitBytes = sizes.reduce((sum, bytes) => sum + bytes + M4A_SAMPLE_BYTES, 0) / sizes.length;
  const longestSeconds = Math.min(PART_SECONDS_MAX, (secondsMax ?? Number.POSITIVE_INFINITY) - SPARE_SECONDS);
  const longest = Math.floor(Math.min(longestSeconds / seconds, (room * BYTES_SHARE) / unitBytes));
  const overlap = Math.ceil(OVERLAP_SECONDS / seconds);
  if (longest * seconds < PART_SECONDS_MIN) return undefined;
  const parts: UnitPart[] = [];
  for (let from = 0; ; ) {
    const left = sizes.length - from;
    const most = left <= longest ? left : evenly(left, longest, overlap);
    let to = from;
    // Some stretches have more bytes than the mean.
    for (let bytes = 0; to - from < most; to++) {
      bytes += (sizes[to] as number) + M4A_SAMPLE_BYTES;
      if (bytes > room) break;
    }
    if (to === sizes.length) return [...parts, { from, to, overlap: 0 }];
    if (to - from <= 2 * overlap) return undefined;
    parts.push({ from, to, overlap });
    from = to - overlap;
  }
}

/** What the next part gets where the rest is shared out evenly. */
const evenly = (left: number, longest: number, overlap: number): number =>
  Math.ceil((left - overlap) / Math.ceil((left - overlap) / (longest - overlap))) + overlap;

/** A part as a file. */
export function unitFile(units: Units, { from, to }: UnitPart, readAt: ReadAt): AudioFile {
  const sizes = units.sizes.subarray(from, to);
  const timescale = Math.round(TICKS / units.seconds);
  const header = m4aHeader({ description: units.description, timescale, sampleTicks: TICKS, sizes });
  const seconds = (to - from) * units.seconds;
  return {
    bytes: sizes.reduce((sum, bytes) => sum + bytes, header.length),
    rawSampleRate: undefined,
    seconds,
    secondsMax: seconds,
    read: async function* () {
      yield header;
      yield* unitBytes(units, from, to, readAt);
    },
  };
}

/** The bytes of units, those at once that lie together: pictures may be between them. */
async function* unitBytes(
  { positions, sizes }: Units,
  from: number,
  to: number,
  readAt: ReadAt,
): AsyncGenerator<Uint8Array> {
  for (let unit = from; unit < to; ) {
    const begin = positions[unit] as number;
    let end = begin;
    while (unit < to && positions[unit] === end && end - begin < PIECE_BYTES) {
      end += sizes[unit] as number;
      unit++;
    }
    for (let at = begin; at < end; ) {
      const piece = await readAt(at, end - at);
      if (piece.length === 0) throw new Error('A file is shorter than its tables say.');
      at += piece.length;
      yield piece;
    }
  }
}

/** What a scan finds; undefined where it reads too often. */
async function scanned<Found>(scan: Scan<Found>, readAt: ReadAt): Promise<Found | undefined> {
  let step = scan.next();
  for (let reads = 0; reads < READS_MAX; reads++) {
    if (step.done === true) return step.value;
    step = scan.next(await readAt(step.value.at, step.value.length));
  }
  return undefined;
}
