// The length of a file between what its provider reports and what is in it.
import { describe, expect, it } from 'vitest';
import type { Utterance } from '../../machines/events.ts';
import { credible, type HeldAudio, isContradicted } from '../../src/files/claims.ts';
import type { BatchResult } from '../../src/vendors/kit/provider.ts';

const said = (seconds: number | undefined, utterances: Utterance[] = []): BatchResult => ({
  utterances,
  language: 'en',
  seconds,
  warnings: [],
});
const words = (start: number, end: number): Utterance[] => [
  { text: 'heard', start, end, words: [{ word: 'heard', start, end }] },
];
const spoken = (text: string): Utterance[] => [{ text, start: 0, end: 0 }];
const WAV: HeldAudio = { seconds: 15.4, secondsMax: 15.4 };

describe('the length of a file', () => {
  it.each<[string, BatchResult, HeldAudio, number, string[]]>([
    ["is the file's when the claim agrees", said(15.38), WAV, 15.4, []],
    ["is the file's when the claim is rounded up", said(16), WAV, 15.4, []],
    ["is the file's when the claim is rounded down", said(15), WAV, 15.4, []],
    ["is the file's when the claim is missing", said(undefined, words(1, 15)), WAV, 15.4, []],
    ["is the file's when the claim is zero", said(0, words(1, 15)), WAV, 15.4, ['duration_bounded']],
    ["is the file's when the claim is a hundredth", said(0.01), WAV, 15.4, ['duration_bounded']],
    ["is the file's when the claim is negative", said(-3), WAV, 15.4, []],
    ["is the file's when the claim is not a number", said(Number.NaN), WAV, 15.4, []],
    ["is the file's when the claim leaves silence out", said(9), WAV, 15.4, ['duration_bounded']],
    ["is the file's when the claim is far more", said(3_600), WAV, 15.4, ['duration_bounded']],
    ["is the file's for a short file and a claim of zero", said(0), { seconds: 0.4, secondsMax: 0.4 }, 0.4, []],
    ['is the claim where the file was not measured', said(15.38), {}, 15.38, []],
    ['is the claim where a last word ends after it', said(15.4, words(15, 15.6)), {}, 15.4, []],
    ["is the last word's where the claim is before it", said(0.01, words(0.2, 0.9)), {}, 0.9, ['duration_unknown']],
    [
      "is the last word's where the header is before it",
      said(undefined, words(50, 59)),
      { seconds: 1, secondsMax: 60 },
      59,
      ['duration_unknown'],
    ],
    [
      'is what the header says where nothing else does',
      said(undefined),
      { statedSeconds: 15.4 },
      15.4,
      ['duration_unknown'],
    ],
    ['is what the header says where the claim is zero', said(0), { statedSeconds: 15.4 }, 15.4, ['duration_unknown']],
    ['is the claim where a header says more', said(12), { statedSeconds: 15.4 }, 12, []],
    [
      'is the time that its words take where a header says less',
      said(undefined, spoken('hear'.repeat(250))),
      { statedSeconds: 0.1 },
      40,
      ['duration_unknown'],
    ],
    [
      'is the time that its words take where nothing says it, up to what the bytes can hold',
      said(undefined, spoken('hear'.repeat(250))),
      { secondsMax: 30 },
      30,
      ['duration_unknown'],
    ],
    [
      'is that of a measured file however many words are reported',
      said(undefined, spoken('hear'.repeat(250))),
      { seconds: 5, secondsMax: 6 },
      5,
      [],
    ],
    [
      'is the claim where the header is before the words',
      said(60, words(50, 59)),
      { seconds: 1, secondsMax: 60 },
      60,
      [],
    ],
    [
      'is the claim between what was counted and what a header says',
      said(60),
      { seconds: 10_800, secondsMin: 2, secondsMax: 10_800 },
      60,
      [],
    ],
    [
      'is what was counted at least',
      said(1),
      { seconds: 10_800, secondsMin: 60, secondsMax: 10_800 },
      60,
      ['duration_bounded'],
    ],
  ])('%s', (_, result, held, seconds, warnings) => {
    const outcome = credible(result, held);
    expect([outcome.seconds, outcome.warnings.map(({ code }) => code)]).toEqual([seconds, warnings]);
  });

  it.each<[string, number | undefined, Utterance[], number]>([
    ['is stretched over the file where the provider reports zero', 0, [{ text: 'heard', start: 0, end: 0 }], 15.4],
    [
      'is stretched over the file where the provider reports too little',
      3,
      [{ text: 'heard', start: 0, end: 3 }],
      15.4,
    ],
    ['stays where its words are', 0, words(0, 2), 2],
    ['stays where its segment is', 15.4, [{ text: 'heard', start: 0, end: 2 }], 2],
    ['stays where its segment is without a claim', undefined, [{ text: 'heard', start: 0, end: 2 }], 2],
    ['stays where it begins later', 0, [{ text: 'heard', start: 1, end: 2 }], 2],
  ])('bounds a text that %s', (_, seconds, utterances, end) => {
    expect(credible(said(seconds, utterances), WAV).utterances).toMatchObject([{ end }]);
  });
});

describe('a file that was not measured', () => {
  it.each<[string, BatchResult, number, number | undefined, boolean]>([
    ['stays unmeasured when the claim is possible', said(15, words(1, 14)), 100_000, undefined, false],
    ['stays unmeasured when the claim is near the header', said(15), 0, 15.4, false],
    ['is measured when the claim is missing', said(undefined), 100_000, undefined, true],
    ['is measured when the claim is zero', said(0), 100_000, undefined, true],
    ['is measured when words come after the claim', said(3, words(1, 14)), 100_000, undefined, true],
    ['is measured when no recording has as many bytes', said(0.1), 100_000, undefined, true],
    ['is measured when the claim is far beyond the header', said(230), 0, 200, true],
  ])('%s', (_, result, bytes, seconds, isOpen) => {
    expect(isContradicted(result, bytes, seconds)).toBe(isOpen);
  });
});
