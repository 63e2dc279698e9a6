// How much sound a WebM or Matroska file holds: the frames in its blocks are counted, and their times are what the file says of
// itself; the larger of the two counts. RFC 9559.
import { elementsOf, numberOf } from './ebml.ts';
import { type MeasuredAudio, statedOnly } from './measured.ts';
import type { Scan } from './scan.ts';
import {
  BLOCK_HEAD_BYTES,
  everyElement,
  isBlock,
  READ_BYTES_MAX,
  readBlock,
  TRACK_ENTRY,
  TRACKS,
  trackOf,
} from './webm-blocks.ts';
import { type WebmTrack, webmTrack } from './webm-codec.ts';

const TIMESTAMP_SCALE = 0x2a_d7b1;
const CLUSTER_TIMESTAMP = 0xe7;

const NANOSECONDS = 1e9;
const SCALE_DEFAULT = 1_000_000;

/** Undefined where there is no block of sound, or it cannot be measured. */
export function* webmAudio(from: number, size: number): Scan<MeasuredAudio | undefined> {
  const blocks = new Blocks();
  const end = yield* everyElement(from, size, (id, at, bytes) => blocks.hear(id, at, bytes));
  const { measured } = blocks;
  if (end === 'ended' || measured === undefined || measured.isStated) return end === 'ended' ? undefined : measured;
  return { ...measured, isDamaged: end === 'cut off' || measured.isDamaged === true };
}

class Blocks {
  /** By number; a number may be described twice. */
  readonly #tracks = new Map<number, { counts: WebmTrack[]; firstTime: number; lastTime: number }>();
  readonly #silent = new Set<number>();
  /** Of sound in an unknown coding: only the times of their blocks are looked at. */
  readonly #unread = new Set<number>();
  #scale = SCALE_DEFAULT;
  #cluster = 0;
  #isUnknown = false;

  get measured(): MeasuredAudio | undefined {
    let [seconds, secondsMax, channels, isDamaged] = [0, 0, 1, false];
    for (const { counts, firstTime, lastTime } of this.#tracks.values()) {
      const stated = Math.max(0, ((lastTime - firstTime) * this.#scale) / NANOSECONDS);
      secondsMax = Math.max(secondsMax, stated);
      for (const count of counts) {
        const counted = count.seconds();
        seconds = Math.max(seconds, counted);
        secondsMax = Math.max(secondsMax, counted, count.secondsMax?.() ?? 0);
        channels = Math.max(channels, count.channels);
        isDamaged ||= count.isDamaged?.() === true;
      }
    }
    if (this.#unread.size > 0) return statedOnly(secondsMax);
    const hasVideo = this.#silent.size > 0;
    return seconds > 0 && Number.isFinite(secondsMax)
      ? { seconds, secondsMax, channels, isDamaged, hasVideo }
      : undefined;
  }

  /** False where it cannot be measured. */
  *hear(id: number, at: number, bytes: number): Scan<boolean> {
    if (id === TIMESTAMP_SCALE) this.#scale = numberOf(yield { at, length: Math.min(bytes, 8) }) || SCALE_DEFAULT;
    else if (id === CLUSTER_TIMESTAMP) this.#cluster = numberOf(yield { at, length: Math.min(bytes, 8) });
    else if (id === TRACKS) {
      if (bytes > READ_BYTES_MAX) this.#isUnknown = true;
      else this.#describe(yield { at, length: bytes });
    } else if (isBlock(id)) {
      const number = trackOf(yield { at, length: Math.min(bytes, BLOCK_HEAD_BYTES) });
      if (this.#silent.has(number)) return true;
      // Of a track that is not described yet, or with more bytes than sound has.
      if (!this.#tracks.has(number) || bytes > READ_BYTES_MAX) this.#isUnknown = true;
      else
        this.#block(number, yield { at, length: this.#unread.has(number) ? Math.min(bytes, BLOCK_HEAD_BYTES) : bytes });
    }
    return !this.#isUnknown;
  }

  #describe(tracks: Uint8Array): void {
    for (const { id, body } of elementsOf(tracks)) {
      if (id !== TRACK_ENTRY) continue;
      const track = webmTrack(body);
      const { number } = track;
      if ('unknown' in track && !track.unknown) {
        this.#silent.add(number);
        continue;
      }
      const counts = 'unknown' in track ? [] : [track];
      if ('unknown' in track) this.#unread.add(number);
      const known = this.#tracks.get(number);
      if (known !== undefined) known.counts.push(...counts);
      else this.#tracks.set(number, { counts, firstTime: Number.POSITIVE_INFINITY, lastTime: 0 });
    }
  }

  #block(number: number, block: Uint8Array): void {
    const track = this.#tracks.get(number)!;
    const read = readBlock(block);
    if (read === undefined) return;
    const time = this.#cluster + read.time;
    track.firstTime = Math.min(track.firstTime, time);
    track.lastTime = Math.max(track.lastTime, time);
    for (const frame of read.frames) for (const count of track.counts) count.frame(frame);
  }
}
