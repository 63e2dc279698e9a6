// Words and times of a replaced text: they say the same as the text, in the same order, within the times of what they stand for.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Word } from '../../machines/events.ts';
import { type Replacement, readReplacements } from '../../src/api/replacements.ts';
import { Replacer } from '../../src/replacements/replaced.ts';
import { Rules } from '../../src/replacements/rules.ts';

const wordsOf = (text: string): Word[] =>
  text.split(' ').map((word, index) => ({ word, start: index, end: index + 0.5, confidence: 1 - index / 10 }));

function said(text: string, rules: string[], words = wordsOf(text)) {
  const replacer = new Replacer({ rules: readReplacements(rules) ?? [] });
  const replaced = replacer.replaced({ text, words });
  return replaced && { text: replaced.text, words: replaced.words?.map(({ word, start, end }) => [word, start, end]) };
}

describe('words of a replaced text', () => {
  it('are one from the start of the first to the end of the last of a phrase', () => {
    expect(said('use the vox gate, now', ['vox gate:Voxgate'])).toEqual({
      text: 'use the Voxgate, now',
      words: [
        ['use', 0, 0.5],
        ['the', 1, 1.5],
        ['Voxgate,', 2, 3.5],
        ['now', 4, 4.5],
      ],
    });
  });

  it('share the time of one by their length', () => {
    const words = [{ word: 'Gonna,', start: 1, end: 2.2 }];
    expect(said('Gonna,', ['gonna:going to'], words)).toEqual({
      text: 'Going to,',
      words: [
        ['Going', 1, 1.857],
        ['to,', 1.857, 2.2],
      ],
    });
  });

  it('keep their times where there are as many as before', () => {
    expect(said('a vox gate', ['vox gate:Vox Gateway'])?.words).toEqual([
      ['a', 0, 0.5],
      ['Vox', 1, 1.5],
      ['Gateway', 2, 2.5],
    ]);
  });

  it('disappear where they are left out, and their signs move to the word before', () => {
    expect(said('um, so we um go um.', ['um:'])).toEqual({
      text: 'so we go.',
      words: [
        ['so', 1, 1.5],
        ['we', 2, 2.5],
        ['go.', 4, 4.5],
      ],
    });
    expect(said('um um.', ['um:'])).toEqual({ text: '', words: [] });
  });

  it('are as sure as the least sure of those they stand for, and their speaker’s', () => {
    const words = wordsOf('vox gate').map((word) => ({ ...word, speaker: 3 }));
    const rules = readReplacements(['vox gate:Voxgate']) ?? [];
    expect(new Replacer({ rules }).replaced({ text: 'vox gate', words })?.words).toEqual([
      { word: 'Voxgate', start: 0, end: 1.5, confidence: 0.9, speaker: 3 },
    ]);
  });

  it('of two speakers are never one phrase', () => {
    const words = wordsOf('vox gate gate').map((word, index) => ({ ...word, speaker: index }));
    expect(said('vox gate gate', ['vox gate:Voxgate'], words)).toBeUndefined();
  });

  it('of spelling and signs other than the text’s are replaced in their own', () => {
    const words = wordsOf('vox gate is two');
    expect(said('Vox Gate is 2.', ['vox gate:voxgate', '2:II', 'two:II'], words)).toMatchObject({
      text: 'Voxgate is II.',
      words: [
        ['voxgate', 0, 1.5],
        ['is', 2, 2.5],
        ['II', 3, 3.5],
      ],
    });
  });

  it('of one character each become one word', () => {
    const words = [...'在东京都'].map((word, index) => ({ word, start: index, end: index + 1 }));
    expect(said('在东京都', ['东京:Tokyo'], words)?.words).toEqual([
      ['在', 0, 1],
      ['Tokyo', 1, 3],
      ['都', 3, 4],
    ]);
  });

  it('joined by a literal rule are one', () => {
    const rules = ['[{"from":" comma","to":",","match":"literal"},{"from":"pre ","to":"pre-","match":"literal"}]'];
    expect(said('hello comma pre order', rules)).toEqual({
      text: 'hello, pre-order',
      words: [
        ['hello,', 0, 0.5],
        ['pre-order', 2, 3.5],
      ],
    });
  });

  it('are the same objects where nothing of them is replaced', () => {
    const words = wordsOf('so vox');
    const replaced = new Replacer({ rules: [{ from: 'vox', to: 'Vox' }] }).replaced({ text: 'so vox', words });
    expect(replaced?.words?.[0]).toBe(words[0]);
    expect(words[1]?.word).toBe('vox');
  });
});

const term = fc.constantFrom(
  'vox',
  'gate',
  'um',
  'Um,',
  'go.',
  'GATE',
  'naïve',
  'l’avion',
  'e-mail',
  '东京',
  '3.5',
  '—',
  'I',
);
const text = fc.array(term, { minLength: 1, maxLength: 12 }).map((terms) => terms.join(' '));
const rule = fc.record<Replacement>({
  from: fc.constantFrom('vox', 'vox gate', 'um', 'gate um', '东', 'mail', '3', 'i', 'go', 'e-mail vox', '—', 'um um'),
  to: fc.constantFrom('', 'Voxgate', 'a b', 'gate', 'one two three', 'x-y', ',', '京 都'),
});
const literal = fc.record<Replacement>({
  from: fc.constantFrom('o', 'x g', ' ', 'te', '. ', ' —'),
  to: fc.constantFrom('', 'Z', 'a b', ','),
  match: fc.constant('literal' as const),
});

describe('any text with any rules', () => {
  it('has words that say the same as the text, within its times and in order', () => {
    fc.assert(
      fc.property(text, fc.array(rule, { minLength: 1, maxLength: 6 }), (said, rules) => {
        const words = wordsOf(said);
        const replaced = new Replacer({ rules }).replaced({ text: said, words });
        if (replaced === undefined) return;
        const { words: after = [] } = replaced;
        expect(after.map(({ word }) => word).join(' ')).toBe(replaced.text.trim().replace(/\s+/g, ' '));
        let end = 0;
        for (const word of after) {
          expect(word.start).toBeGreaterThanOrEqual(end);
          expect(word.end).toBeGreaterThanOrEqual(word.start);
          end = word.end;
        }
        expect(end).toBeLessThanOrEqual(words.at(-1)?.end ?? 0);
      }),
      { numRuns: 2_000 },
    );
  });

  it('keeps the order and bounds of times with literal rules as well', () => {
    fc.assert(
      fc.property(text, fc.array(fc.oneof(rule, literal), { minLength: 1, maxLength: 6 }), (said, rules) => {
        const words = wordsOf(said);
        const { words: after = [] } = new Replacer({ rules }).replaced({ text: said, words }) ?? {};
        let end = 0;
        for (const word of after) {
          expect(word.start).toBeGreaterThanOrEqual(end);
          end = word.end;
        }
        expect(end).toBeLessThanOrEqual(words.at(-1)?.end ?? 0);
      }),
      { numRuns: 1_000 },
    );
  });

  it('is left alone where no rule finds anything', () => {
    fc.assert(
      fc.property(text, (said) => {
        const replacer = new Replacer({
          rules: [
            { from: 'absent', to: '' },
            { from: 'Ω', to: 'x', match: 'literal' },
          ],
        });
        expect(replacer.replaced({ text: said, words: wordsOf(said) })).toBeUndefined();
      }),
    );
  });
});

describe('the work for a hostile text', () => {
  it.each([
    ['words', 'a '.repeat(49).trim(), 'word', 'a '],
    ['characters', 'a'.repeat(99), 'literal', 'a'],
  ] as const)('of %s grows with its length alone', (_, prefix, match, unit) => {
    const rules = Array.from({ length: 200 }, (_, index) => ({
      from: `${prefix}${index}`.slice(-100),
      to: 'x',
      match,
    }));
    const stepsFor = (length: number) => {
      const compiled = new Rules([...rules, { from: `${prefix} b`.slice(0, 100), to: 'x', match }]);
      compiled.find(unit.repeat(length));
      return compiled.steps;
    };
    const [short, long] = [stepsFor(1_000), stepsFor(10_000)];
    expect(long).toBeLessThanOrEqual(10_000 * 101);
    expect(long / short).toBeGreaterThan(9);
    expect(long / short).toBeLessThan(11);
  });
});
