// Tags as people edit them: what is written is what is read, and what is wrong is named.
import { expect, it } from 'vitest';
import { linesOfTags, tagsOfLines } from '../../src/console/data/tag-lines.ts';

it.each([
  [null, ''],
  [{ customer: 'acme' }, 'customer: acme'],
  [{ customer: 'Smith, Inc.', url: 'https://a.example:1' }, 'customer: Smith, Inc.\nurl: https://a.example:1'],
])('%j is edited as %j', (tags, text) => {
  expect(linesOfTags(tags)).toBe(text);
  expect(tagsOfLines(text)).toEqual(tags);
});

it('takes spaces and empty lines, and names that objects inherit', () => {
  expect(tagsOfLines('\n  customer:acme \n\n')).toEqual({ customer: 'acme' });
  expect(JSON.stringify(tagsOfLines('__proto__: x'))).toBe('{"__proto__":"x"}');
});

it.each([
  ['customer', '“customer” is not a tag'],
  [': acme', '“: acme” is not a tag'],
  ['a: 1\na: 2', '“a” is there twice'],
])('%j is refused: %s', (text, message) => {
  expect(() => tagsOfLines(text)).toThrow(message);
});
