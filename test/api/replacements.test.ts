// Replacement rules as requests give them: pairs with a colon, JSON, what is wrong with them, and how many there may be.
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/api/errors.ts';
import {
  checkedReplacements,
  REPLACED_LENGTH_MAX,
  REPLACEMENT_LENGTH_MAX,
  REPLACEMENTS_LENGTH_MAX,
  REPLACEMENTS_MAX,
  readReplacements,
  replacementsWithin,
} from '../../src/api/replacements.ts';

function refusal(...texts: string[]): ApiError {
  try {
    readReplacements(texts);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error(`${texts} was not refused.`);
}

/** What people write. */
const HONEST: readonly [text: string, from: string, to: string][] = [
  ['vox gate:Voxgate', 'vox gate', 'Voxgate'],
  [' vox  gate : Voxgate ', 'vox gate', 'Voxgate'],
  ['um:', 'um', ''],
  ['10\\:30:half past ten', '10:30', 'half past ten'],
  ['time:10:30', 'time', '10:30'],
  ['path:C\\:\\\\temp', 'path', 'C:\\temp'],
  ['c\\d:x', 'c\\d', 'x'],
  ['[BLANK_AUDIO]:', '[BLANK_AUDIO]', ''],
  ['{name}:Zoë', '{name}', 'Zoë'],
  ['Smith and co:Smith, Inc.', 'Smith and co', 'Smith, Inc.'],
  ['a&b=c:100 %', 'a&b=c', '100 %'],
  ['"quoted":“quoted”', '"quoted"', '“quoted”'],
  ['(.*)+$:$1', '(.*)+$', '$1'],
  ['__proto__:constructor', '__proto__', 'constructor'],
  ['שלום:peace', 'שלום', 'peace'],
  ['مرحبا:hello', 'مرحبا', 'hello'],
  ['东京:Tokyo', '东京', 'Tokyo'],
  ['🙂:smile', '🙂', 'smile'],
  ['👩‍👩‍👧:family', '👩‍👩‍👧', 'family'],
  ['don’t:do not', 'don’t', 'do not'],
  ['Ἀθῆναι:Athens', 'Ἀθῆναι', 'Athens'],
  ['नमस्ते:hello', 'नमस्ते', 'hello'],
  ['null:0', 'null', '0'],
  ['true:false', 'true', 'false'],
];

describe('rules of a request', () => {
  it.each(HONEST)('are read from %j', (text, from, to) => {
    expect(readReplacements([text])).toEqual([{ from, to }]);
  });

  it('are read from everyday words of a hundred names, one by one and as JSON', () => {
    const names = Array.from({ length: 100 }, (_, index) => `name ${index}: Name-${index} & Söhne (${index} %)`);
    const rules = readReplacements(names);
    expect(rules).toHaveLength(100);
    expect(rules?.[7]).toEqual({ from: 'name 7', to: 'Name-7 & Söhne (7 %)' });
    expect(readReplacements([JSON.stringify(rules)])).toEqual(rules);
    expect(readReplacements([JSON.stringify(names)])).toEqual(rules);
  });

  it('are read from JSON with one rule, a list, and texts among them', () => {
    const literal = { from: ' comma', to: ',', match: 'literal', language: 'en' };
    expect(readReplacements([JSON.stringify(literal), '["a:b"]', 'c:d'])).toEqual([
      literal,
      { from: 'a', to: 'b' },
      { from: 'c', to: 'd' },
    ]);
    expect(readReplacements(['{"from":"a","to":"b","match":"word"}'])).toEqual([{ from: 'a', to: 'b' }]);
  });

  it('are none where nothing is given', () => {
    expect(readReplacements([])).toBeUndefined();
    expect(readReplacements(['', ' ', '[]'])).toBeUndefined();
  });
});

describe('rules that cannot be used', () => {
  it.each([
    ['vox gate', 'number 1: write `from:to`'],
    [':Voxgate', '`from` must be a string of 1'],
    [' :x', '`from` must be a string of 1'],
    ['[{"from":"a"}]', '`to` must be a string'],
    ['[{"from":"a","to":1}]', '`to` must be a string'],
    ['[{"from":["a"],"to":"b"}]', '`from` must be a string'],
    ['[{"from":"a","to":"b","regex":true}]', '`regex` is unknown. Known: from, to, match, language.'],
    ['[{"from":"a","to":"b","match":"regex"}]', '`match` must be word or literal'],
    ['[{"from":"a","to":"b","language":"german, please"}]', '`language` must be a BCP-47 tag'],
    ['[["a","b"]]', 'it must be `from:to`, or an object'],
    ['[null]', 'it must be `from:to`, or an object'],
    ['[7]', 'it must be `from:to`, or an object'],
    ['[{"from":"a"', 'is not JSON'],
    ['{"from":"a"', 'is not JSON'],
    ['a:b\nc', 'without control characters'],
    ['a\u202e:b', 'without control characters'],
    ['a:\ud83d', 'without control characters'],
    [`${'a'.repeat(REPLACED_LENGTH_MAX + 1)}:b`, '`from` must be a string'],
    [`a:${'b'.repeat(REPLACEMENT_LENGTH_MAX + 1)}`, '`to` must be a string'],
  ])('are refused by name: %j', (text, words) => {
    const { code, message, extras } = refusal('x:y', ...(words.includes('number 1') ? [] : []), text);
    expect([code, extras.param]).toEqual(['invalid_request', 'replace']);
    expect(message).toContain(words.replace('number 1', 'number 2'));
  });

  it('are refused where there are too many, or too long ones together', () => {
    const many = (count: number, to = 'x') => JSON.stringify(Array.from({ length: count }, (_, n) => `w${n}:${to}`));
    expect(readReplacements([many(REPLACEMENTS_MAX)])).toHaveLength(REPLACEMENTS_MAX);
    expect(refusal(many(REPLACEMENTS_MAX + 1)).message).toBe('`replace` has 201 rules. Send 200 at most.');
    expect(refusal(many(101, 'x'.repeat(REPLACEMENT_LENGTH_MAX))).message).toMatch(
      new RegExp(`characters in its rules. Send ${REPLACEMENTS_LENGTH_MAX} at most`),
    );
  });

  it('that are not a list are refused', () => {
    for (const value of ['a:b', { from: 'a', to: 'b' }, 7, undefined, true])
      expect(checkedReplacements(value).fault).toContain('must be a list of rules');
  });
});

it('takes of a longer list of another vendor’s client the rules that fit, and counts the others', () => {
  const rules = [
    { from: 'x'.repeat(101), to: 'y' },
    ...Array.from({ length: 250 }, (_, n) => ({ from: `w${n}`, to: 'x' })),
  ];
  const { rules: fit, leftOut } = replacementsWithin(rules);
  expect([fit.length, leftOut, fit[0]]).toEqual([REPLACEMENTS_MAX, 51, { from: 'w0', to: 'x' }]);
  const long = Array.from({ length: 150 }, (_, n) => ({ from: `w${n}`, to: 'x'.repeat(200) }));
  expect(replacementsWithin(long)).toMatchObject({ leftOut: 52 });
});
