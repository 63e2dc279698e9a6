// Several channels of numbered audio, interleaved; the numbers of each begin elsewhere, so that none is taken for another.
import { expect } from 'vitest';
import { numberedSample } from './numbered-audio.ts';
import type { NumberedFinal } from './numbered-finals.ts';

const APART = 1_000;

/** Frames [0, frames): sample i of channel c is the low 16 bits of i + 1,000 c. */
export function interleavedNumbers(channels: number, frames: number): Uint8Array {
  const samples = new Int16Array(channels * frames);
  for (let at = 0; at < samples.length; at++)
    samples[at] = numberedSample(Math.floor(at / channels) + APART * (at % channels));
  return new Uint8Array(samples.buffer);
}

/** What was heard of a channel, as if its numbers began at 0. Silence that was put in stays what it is. */
export const numbersOfChannel = (text: string, channel: number): string =>
  text
    .split(' ')
    .map((range) => {
      if (range.startsWith('s') || range === '0-1' || range === '') return range;
      const [from, to] = range.split('-').map(Number) as [number, number];
      return `${from - APART * channel}-${to - APART * channel}`;
    })
    .join(' ');

/** The finals of each channel cover its samples exactly once, and its turns count from 0 without a gap. */
export function expectChannelsWhole(
  finals: readonly (NumberedFinal & { channel?: number })[],
  { channels, frames, sampleRate }: { channels: number; frames: number; sampleRate: number },
): void {
  expect(new Set(finals.map(({ channel }) => channel))).toEqual(
    new Set(Array.from({ length: channels }, (_, at) => at)),
  );
  for (let channel = 0; channel < channels; channel++) {
    let next = 0;
    for (const [index, final] of finals.filter((each) => each.channel === channel).entries()) {
      const from = (next + APART * channel) & 0xffff;
      const length = Math.round(final.end * sampleRate) - next;
      const { turn, start, text } = final;
      expect({ channel, turn, start: Math.round(start * sampleRate), text }).toEqual({
        ...{ channel, turn: index, start: next },
        text: `${from}-${from + length}`,
      });
      next += length;
    }
    expect({ channel, next }).toEqual({ channel, next: frames });
  }
}
