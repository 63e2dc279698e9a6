// Two transcripts of audio that overlaps: no word is lost or doubled, however the models differ at the edges.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Utterance, Word } from '../../../machines/events.ts';
import { joinedAt, type Seam } from '../../../src/files/long/seam.ts';
import { drawn } from '../../fakes/drawn.ts';

const SEAM: Seam = { from: 20, to: 23 };

const textOf = (utterances: readonly Utterance[]): string => utterances.map(({ text }) => text).join(' ');
const wordsOf = (utterances: readonly Utterance[]): string[] =>
  utterances.flatMap(({ words = [] }) => words.map(({ word }) => word));

/** An utterance for each so many words. */
function utterancesOf(words: readonly Word[], each: number, hasWords: boolean): Utterance[] {
  const utterances: Utterance[] = [];
  for (let at = 0; at < words.length; at += each) {
    const own = words.slice(at, at + each);
    const [first, last] = [own[0] as Word, own.at(-1) as Word];
    const text = own.map(({ word }) => word).join(' ');
    utterances.push({ text, start: first.start, end: last.end, ...(hasWords ? { words: own } : {}) });
  }
  return utterances;
}

const LENGTH = 30;
const vocabulary = fc.constantFrom(
  ...'the of and a to in he was it that no no-one Straße naïve it’s 17 said'.split(' '),
);
const spoken = fc
  .array(fc.tuple(vocabulary, fc.integer({ min: 150, max: 600 }), fc.integer({ min: 20, max: 250 })), {
    minLength: 60,
    maxLength: 120,
  })
  .map((steps) => {
    const words: Word[] = [];
    let at = 10;
    for (const [word, ms, gapMs] of steps) {
      words.push({ word, start: at, end: at + ms / 1000 });
      at += (ms + gapMs) / 1000;
      if (at > LENGTH + 10) break;
    }
    return words;
  });

const jitters = fc.array(fc.integer({ min: -80, max: 80 }), { minLength: 240, maxLength: 240 });
const edge = fc.constantFrom('whole', 'garbled', 'missing');

/** What a model makes of the words between two times; a word that is cut off may be wrong or missing. */
function view(words: readonly Word[], bounds: Seam, how: string, jitter: (word: number) => number): Word[] {
  return words.flatMap((word, index): Word[] => {
    if (word.end <= bounds.from || word.start >= bounds.to) return [];
    const isCut = word.start < bounds.from || word.end > bounds.to;
    if (isCut && how === 'missing') return [];
    const placed = (seconds: number) => Math.min(bounds.to, Math.max(bounds.from, seconds + jitter(index) / 1000));
    const said = isCut && how === 'garbled' ? 'gar' : word.word;
    return [{ word: said, start: placed(word.start), end: placed(word.end) }];
  });
}

describe('two parts that overlap', () => {
  it('have each word once where words have times', () => {
    fc.assert(
      fc.property(
        spoken,
        jitters,
        edge,
        edge,
        fc.integer({ min: 1, max: 9 }),
        (words, jitter, ending, beginning, each) => {
          const before = view(words, { from: 10, to: SEAM.to }, ending, (word) => jitter[2 * word] as number);
          const after = view(words, { from: SEAM.from, to: 99 }, beginning, (word) => jitter[2 * word + 1] as number);
          const joined = joinedAt(SEAM, utterancesOf(before, each, true), utterancesOf(after, each, true)).flat();
          const expected = words.map(({ word }) => word);
          expect(wordsOf(joined)).toEqual(expected);
          expect(textOf(joined)).toBe(expected.join(' '));
          for (const [index, { start, end }] of joined.entries()) {
            expect(end).toBeGreaterThanOrEqual(start);
            expect(start).toBeGreaterThanOrEqual((joined[index - 1]?.start ?? 0) - 0.17);
          }
        },
      ),
      { numRuns: drawn(3_000), seed: 391 },
    );
  });

  it('have each word once where there are no times, as long as two words in a row are in both', () => {
    fc.assert(
      fc.property(fc.integer({ min: 4, max: 9 }), edge, edge, fc.boolean(), (shared, ending, beginning, isOne) => {
        const words = Array.from({ length: 40 }, (_, at) => `word${at}`);
        const cutOff = (how: string) => (how === 'missing' ? [] : [how === 'garbled' ? 'gar' : 'wordy']);
        const before = [...words.slice(0, 20 + shared), ...cutOff(ending)].join(' ');
        const after = [...cutOff(beginning), ...words.slice(20)].join(' ');
        const [first, ...others] = isOne ? [after] : after.split(/ (?=word30)/);
        const joined = joinedAt(
          SEAM,
          [{ text: before, start: 0, end: SEAM.to }],
          [first as string, ...others].map((text) => ({ text, start: SEAM.from, end: 40 })),
        ).flat();
        expect(textOf(joined)).toBe(words.join(' '));
      }),
      { numRuns: drawn(1_000), seed: 392 },
    );
  });
});

describe('a seam', () => {
  const at = (text: string, start: number, end: number): Utterance => ({ text, start, end });
  it.each<[string, string, string, string]>([
    [
      'keeps the punctuation of the side that continues',
      'It was a dark and',
      'a dark and, as ever, stormy night.',
      'It was a dark and, as ever, stormy night.',
    ],
    [
      'drops a sentence end that the cut made up',
      'He said that it was.',
      'that it was late.',
      'He said that it was late.',
    ],
    [
      'joins characters of a script without spaces',
      '今天天气很好我们',
      '很好我们去公园。',
      '今天天气很好我们 去公园。',
    ],
    [
      'ignores case and typographic apostrophes',
      'and IT’S over now',
      "it's over now, friends",
      'and IT’S over now, friends',
    ],
    ['keeps all of both where nothing is the same', 'one two three', 'four five six', 'one two three four five six'],
    [
      'takes no phrase from elsewhere for the same',
      'the end was near for us',
      'we saw the end and left',
      'the end was near for us we saw the end and left',
    ],
    [
      'changes over behind a word that only one side understood',
      'we went to the sea and',
      'to a sea and swam',
      'we went to the sea and swam',
    ],
    ['drops what the next part only repeats', 'we agree on this', 'on this', 'we agree on this'],
    ['takes a part without words', 'we agree', '…', 'we agree …'],
  ])('%s', (_, before, after, expected) => {
    expect(textOf(joinedAt(SEAM, [at(before, 0, 23)], [at(after, 20, 40)]).flat())).toBe(expected);
  });

  it('cuts at the middle where words have times and none is the same', () => {
    const timed = (word: string, start: number): Word => ({ word, start, end: start + 0.4 });
    const before = utterancesOf([timed('one', 19), timed('two', 20.5), timed('wrong', 22.5)], 3, true);
    const after = utterancesOf([timed('false', 20.6), timed('three', 22), timed('four', 24)], 3, true);
    expect(wordsOf(joinedAt(SEAM, before, after).flat())).toEqual(['one', 'two', 'three', 'four']);
    expect(joinedAt(SEAM, before, after).flat()).toMatchObject([
      { text: 'one two', start: 19, end: 20.9 },
      { text: 'three four', start: 22, end: 24.4 },
    ]);
  });

  it('takes no words for the same that were said before or after it', () => {
    const before = [at('Goodbye.', 10, 11), at('Thank you very much.', 16, 18.5)];
    const after = [at('Thank you very much.', 24.5, 26), at('Well.', 27, 28)];
    expect(joinedAt(SEAM, before, after)).toEqual([before, after]);
  });

  it('leaves a side without text as it is', () => {
    const one = [at('only', 1, 2)];
    expect(joinedAt(SEAM, one, [])).toEqual([one, []]);
    expect(
      joinedAt(
        SEAM,
        [],
        one.map((each) => ({ ...each, start: 21, end: 24 })),
      ),
    ).toEqual([[], [at('only', 21, 24)]]);
  });
});
