// Which words of a leg were told before: those that are the same at the same place, and no others, however short turns are, however
// closely they follow each other, and however much the provider's clock jitters.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Utterance, Word } from '../../../machines/events.ts';
import { ToldWords } from '../../../src/vendors/kit/turns/told-words.ts';

type Spoken = readonly (readonly [word: string, start: number, end: number])[];

const wordsOf = (spoken: Spoken): Word[] => spoken.map(([word, start, end]) => ({ word, start, end }));
const textOf = (spoken: Spoken): string => spoken.map(([word]) => word).join(' ');
const say = (spoken: Spoken): Utterance => ({
  text: textOf(spoken),
  start: spoken[0]?.[1] ?? 0,
  end: spoken.at(-1)?.[2] ?? 0,
  words: wordsOf(spoken),
});
const wordless = (text: string, start: number, end: number): Utterance => ({ text, start, end });

/** What is left of each, when all of them come in this order. */
function leftOf(...utterances: Utterance[]): (string | undefined)[] {
  const told = new ToldWords();
  return utterances.map((utterance) => {
    const fresh = told.without(utterance);
    if (fresh !== undefined) told.note(fresh);
    return fresh?.text;
  });
}

const GREETING: Spoken = [
  ['good', 1, 1.3],
  ['morning', 1.3, 1.8],
];

describe('words that were sent before', () => {
  it.each<[string, Utterance[], (string | undefined)[]]>([
    ['are known at the same place', [say(GREETING), say(GREETING)], ['good morning', undefined]],
    [
      'are known with marks and capitals, and some milliseconds off their place',
      [
        say(GREETING),
        say([
          ['Good', 1.004, 1.304],
          ['morning.', 1.302, 1.797],
        ]),
      ],
      ['good morning', undefined],
    ],
    [
      'are known without the times of words',
      [say(GREETING), wordless('Good morning.', 1, 1.8), wordless('good morning', 1.8, 1.8)],
      ['good morning', undefined, undefined],
    ],
    ['are known however short they are', [say([['yes', 2, 2.004]]), say([['yes', 2, 2.004]])], ['yes', undefined]],
    [
      'are known together, in one that joins several',
      [
        say(GREETING),
        say([
          ['dear', 2, 2.4],
          ['friend', 2.4, 3],
        ]),
        say([...GREETING, ['dear', 2, 2.4], ['friend', 2.4, 3]]),
      ],
      ['good morning', 'dear friend', undefined],
    ],
    [
      'are left out of one that continues',
      [
        say(GREETING),
        say([
          ['morning', 1.3, 1.8],
          ['to', 1.9, 2],
          ['you', 2, 2.2],
        ]),
      ],
      ['good morning', 'to you'],
    ],
    [
      'are known in another version of the same',
      [
        say([...GREETING, ['dear', 1.9, 2.4]]),
        say([
          ['good', 1, 1.3],
          ['warning', 1.3, 1.8],
          ['dear', 1.9, 2.4],
        ]),
      ],
      ['good morning dear', undefined],
    ],
  ])('%s', (_, utterances, left) => expect(leftOf(...utterances)).toEqual(left));
});

describe('words that were not sent before', () => {
  it.each<[string, Utterance[]]>([
    ['the same in two turns that touch', [say([['yes', 1, 1.4]]), say([['yes', 1.4, 1.8]])]],
    ['the same in two turns that touch, without words', [wordless('Yes.', 1, 1.4), wordless('Yes.', 1.39, 1.8)]],
    [
      'the same word again and again, with a clock that jitters',
      [
        say([
          ['no', 1, 1.2],
          ['no', 1.2, 1.4],
        ]),
        say([['no', 1.38, 1.6]]),
        say([['no', 1.59, 1.75]]),
      ],
    ],
    // Recorded: an interim of the next turn lies before the end of the last, and words overlap in time.
    [
      'others that overlap the last in time',
      [
        say([
          ['so', 4.48, 4.96],
          ['what', 4.96, 5.6],
        ]),
        say([
          ['about', 5.44, 5.68],
          ['that', 5.6, 5.9],
        ]),
      ],
    ],
    // Recorded: windows of 9.6 to 14.36 s and of 14.36 to 17.04 s.
    ['windows that follow each other', [wordless('we had a look', 9.6, 14.36), wordless('at it', 14.36, 17.04)]],
    ['a turn whose final comes after that of a later one', [say([['later', 5, 5.4]]), say(GREETING)]],
    [
      'others at the same time, of a clock that has gone back',
      [
        say(GREETING),
        say([
          ['this', 1, 1.3],
          ['is', 1.3, 1.8],
        ]),
      ],
    ],
    ['the same, where nothing has a length', [wordless('Yes.', 0, 0), wordless('Yes.', 0, 0)]],
    ['the same in some milliseconds right behind it', [say([['yes', 1.75, 2.1]]), say([['yes', 2.1, 2.11]])]],
    ['the same in some milliseconds, without words', [wordless('Yes.', 1.75, 2.1), wordless('Yes.', 2.1, 2.102)]],
    ['the same right behind some milliseconds of it', [say([['yes', 2, 2.005]]), say([['yes', 2.005, 2.3]])]],
    ['the same without a length, right behind it', [say([['yes', 1.75, 2.1]]), say([['yes', 2.1, 2.1]])]],
    ['the same right behind one without a length', [say([['yes', 2, 2]]), say([['yes', 2, 2.3]])]],
    [
      'the same word at the beginning of a turn, right behind one without a length',
      [
        say([
          ['oh', 1.7, 2],
          ['no', 2, 2],
        ]),
        say([
          ['no', 2, 2.2],
          ['way', 2.2, 2.5],
        ]),
      ],
    ],
    [
      'the same in some milliseconds, that comes after what followed it',
      [say([['yes', 2, 2.4]]), say([['yes', 1.992, 2]])],
    ],
  ])('stay: %s', (_, utterances) => {
    expect(leftOf(...utterances)).toEqual(utterances.map(({ text }) => text));
  });

  it.each([
    { jitterMs: 0, shortestMs: 1 },
    { jitterMs: 5, shortestMs: 60 },
    { jitterMs: 100, shortestMs: 250 },
  ])('stay at any pace, with times that jitter by $jitterMs ms', ({ jitterMs, shortestMs }) => {
    const spoken = fc.array(
      fc.record({
        word: fc.constantFrom('yes', 'no', 'one', 'uh'),
        length: fc.integer({ min: shortestMs, max: 600 }),
        gap: fc.integer({ min: 0, max: 300 }),
        jitter: fc.integer({ min: -jitterMs, max: jitterMs }),
        ends: fc.boolean(),
        isTimed: fc.boolean(),
      }),
      { minLength: 1, maxLength: 60 },
    );
    fc.assert(
      fc.property(spoken, (all) => {
        const turns: Utterance[] = [];
        let [at, open] = [0, [] as [string, number, number][]];
        for (const { word, length, gap, jitter, ends, isTimed } of all) {
          open.push([word, Math.max(0, at + jitter) / 1_000, (at + length + jitter) / 1_000]);
          at += length + gap;
          if (!ends) continue;
          const { text, start, end } = say(open);
          turns.push(isTimed ? say(open) : wordless(text, start, end));
          open = [];
        }
        expect(leftOf(...turns)).toEqual(turns.map(({ text }) => text));
      }),
    );
  });
});
