// Checks the finals of the numbered-audio model against the samples that were sent: each once, in order, none shifted.
import { expect } from 'vitest';

export interface NumberedFinal {
  text: string;
  turn: number;
  start: number;
  end: number;
}

/** The finals together cover [0, samples) exactly once; turns count from 0 without a gap. */
export function expectWhole(finals: readonly NumberedFinal[], samples: number, sampleRate = 16_000): void {
  let next = 0;
  for (const [index, { text, turn, start, end }] of finals.entries()) {
    const from = Math.round(start * sampleRate);
    const to = Math.round(end * sampleRate);
    // The leg counts on from the first number it heard, so the text names the start modulo 65,536 and the exact length.
    const first = from & 0xffff;
    expect({ turn, from, text }).toEqual({ turn: index, from: next, text: `${first}-${first + to - from}` });
    next = to;
  }
  expect(next).toBe(samples);
}
