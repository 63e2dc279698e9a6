// Where voices are in audio, and which text is near them: how the speech gates of live sessions and of files judge text.
import type { Utterance } from '../../../machines/events.ts';
import type { SpeechGateMode } from '../../api/listen.ts';
import type { ModelCard } from '../../vendors/kit/provider.ts';

/** Times of providers are this inexact. */
export const NEAR_SECONDS = 0.3;
/** Samples up to this are digital silence: they need no detector. */
const SILENT_SAMPLE_MAX = 4;

export interface Range {
  from: number;
  to: number;
}

/** What is done with text of this model: as requested, or else by what the model is known for. */
export const speechGateOf = (requested: SpeechGateMode | undefined, { isWhisper }: ModelCard): SpeechGateMode =>
  requested ?? (isWhisper ? 'mark' : 'off');

/** Voices in the order in which they were found. */
export class VoiceRanges {
  readonly #max: number;
  readonly #ranges: Range[] = [];

  /** @param max beyond it the oldest is forgotten */
  constructor(max: number) {
    this.#max = max;
  }

  get isFull(): boolean {
    return this.#ranges.length >= this.#max;
  }

  /** Begins at or after the beginning of the one before. */
  add(from: number, to: number): void {
    const last = this.#ranges.at(-1);
    if (last !== undefined && from <= last.to) {
      last.to = Math.max(last.to, to);
      return;
    }
    if (this.isFull) this.#ranges.shift();
    this.#ranges.push({ from, to });
  }

  /** Seconds of voice in [from, to). */
  secondsWithin(from: number, to: number): number {
    let seconds = 0;
    for (let at = this.#firstBeyond(from); at < this.#ranges.length; at++) {
      const range = this.#ranges[at] as Range;
      if (range.from >= to) break;
      seconds += Math.max(0, Math.min(to, range.to) - Math.max(from, range.from));
    }
    return seconds;
  }

  /** The first range that ends after a position. */
  #firstBeyond(position: number): number {
    let low = 0;
    let high = this.#ranges.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ranges[middle] as Range).to > position) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/** From the first to the last time that its provider gave. */
export function boundsOf({ start, end, words }: Utterance): Range {
  const times = [start, end, words?.[0]?.start, words?.at(-1)?.end].filter(
    (time): time is number => time !== undefined && Number.isFinite(time),
  );
  return { from: Math.min(...times), to: Math.max(...times) };
}

/** The first sample that is not digital silence; -1 where all are. */
export const soundAt = (samples: Int16Array): number =>
  samples.findIndex((sample) => Math.abs(sample) > SILENT_SAMPLE_MAX);
