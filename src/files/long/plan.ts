// Where a long file is cut into parts: in pauses, and with an overlap where there is none within reach. Pure: pauses in, cuts out.
import { BYTES_PER_SAMPLE } from '../../api/audio-formats.ts';
import { WAV_HEADER_BYTES } from '../../audio/containers/wav.ts';

/** How long parts are, in samples. */
export interface CutRules {
  /** No part is longer. */
  longest: number;
  /** A part ends within this much of its longest length. */
  search: number;
  /** A shorter pause is a gap between words. */
  pause: number;
  /** Audio that two parts share where they are cut in speech. */
  overlap: number;
}

/** A stretch without speech, in samples of the file. */
export interface Pause {
  start: number;
  end: number;
}

/** A stretch of the file that is transcribed alone, in samples of the file. */
export interface Part {
  start: number;
  end: number;
  /** The end of it that the next part has as well: 0 where the cut is in a pause, and in the last part. */
  overlap: number;
}

/** What a model takes at most; null where it has no limit. */
export interface PartLimits {
  bytesMax: number | null;
  secondsMax: number | null;
}

/** Longer parts would be transcribed later, and take more of the disk: 38 MB at 16 kHz. */
export const PART_SECONDS_MAX = 1_200;
/** A model that takes less is not worth cutting for: every cut may cost a word. */
export const PART_SECONDS_MIN = 10;
/** A pause is looked for in the last two minutes of a part, or its last quarter. */
const SEARCH_SECONDS_MAX = 120;
const SEARCH_SHARE = 1 / 4;
const PAUSE_SECONDS = 0.4;
/** Long enough for a few words, by which two parts are joined. */
export const OVERLAP_SECONDS = 3;
/** Providers count a little differently. */
export const SPARE_SECONDS = 1;
export const BYTES_SHARE = 0.98;

/** The rules for parts of linear16 WAV that a model takes; undefined where it takes too little. */
export function rulesOf({ bytesMax, secondsMax }: PartLimits, sampleRate: number): CutRules | undefined {
  const ofBytes =
    ((bytesMax ?? Number.POSITIVE_INFINITY) * BYTES_SHARE - WAV_HEADER_BYTES) / BYTES_PER_SAMPLE / sampleRate;
  const ofSeconds = (secondsMax ?? Number.POSITIVE_INFINITY) - SPARE_SECONDS;
  const longestSeconds = Math.min(PART_SECONDS_MAX, ofBytes, ofSeconds);
  if (longestSeconds < PART_SECONDS_MIN) return undefined;
  const searchSeconds = Math.min(SEARCH_SECONDS_MAX, longestSeconds * SEARCH_SHARE);
  const samplesOf = (seconds: number) => Math.floor(seconds * sampleRate);
  return {
    longest: samplesOf(longestSeconds),
    search: samplesOf(searchSeconds),
    pause: samplesOf(PAUSE_SECONDS),
    overlap: samplesOf(Math.min(OVERLAP_SECONDS, searchSeconds / 2)),
  };
}

/**
 * Up to where the part that begins at `start` may reach. Where the length of the file is known, the parts are about equally long:
 * none is left with a second at the end, and all are done at about the same time.
 */
export function reachOf(start: number, samples: number | undefined, { longest, search }: CutRules): number {
  const left = samples === undefined ? 0 : samples - start;
  if (left <= longest) return start + longest;
  const parts = partsOf(left, { longest, search });
  return start + Math.min(longest, Math.ceil(left / parts + search / 2));
}

/** About how many parts so much audio makes. */
export const partsOf = (samples: number, { longest, search }: Pick<CutRules, 'longest' | 'search'>): number =>
  samples <= longest ? 1 : Math.ceil(samples / (longest - search / 2));

/**
 * The part that begins at `start` and has to end at `reach`: in the middle of the longest pause within its last stretch, the later
 * one where several are as long. Without a pause it is cut in speech, and the next part begins before its end.
 *
 * @param pauses in their order; the last may still continue
 */
export function partAt(start: number, reach: number, pauses: readonly Pause[], rules: CutRules): Part {
  const earliest = reach - rules.search;
  let longest = rules.pause;
  let end: number | undefined;
  for (const pause of pauses) {
    const from = Math.max(pause.start, earliest);
    const to = Math.min(pause.end, reach);
    if (to - from < longest) continue;
    longest = to - from;
    end = Math.floor((from + to) / 2);
  }
  return end === undefined ? { start, end: reach, overlap: rules.overlap } : { start, end, overlap: 0 };
}

/** Where the next part begins. */
export const startAfter = ({ end, overlap }: Part): number => end - overlap;
