// Aliases as people edit them: what is written is what is read, and what is wrong is named.
import { expect, it } from 'vitest';
import { aliasesOf, linesOf } from '../../src/console/data/alias-lines.ts';

it.each([
  [null, ''],
  [{ best: [{ model: 'a/b' }, { model: 'c/d' }], 'nova-3': [{ model: 'e/f' }] }, 'best = a/b, c/d\nnova-3 = e/f'],
  [
    {
      best: [
        { model: 'a/b', provider_params: { x: 'y=z' } },
        { model: 'c/d', credential: 'own' as const },
      ],
    },
    'best = [{"model":"a/b","provider_params":{"x":"y=z"}},{"model":"c/d","credential":"own"}]',
  ],
])('%j is edited as %j', (aliases, text) => {
  expect(linesOf(aliases)).toBe(text);
  expect(aliasesOf(text)).toEqual(aliases);
});

it('spaces, empty lines and any parting of models are taken', () => {
  expect(aliasesOf('\n  best=a/b c/d ,e/f \n\n')).toEqual({
    best: [{ model: 'a/b' }, { model: 'c/d' }, { model: 'e/f' }],
  });
});

it.each([
  ['best', '“best” is not an alias'],
  ['= a/b', '“= a/b” is not an alias'],
  ['best =', '“best =” is not an alias'],
  ['best = a/b\nbest = c/d', '“best” is there twice'],
  ['best = [{', 'What “best” stands for begins like JSON and is none'],
])('%j is refused: %s', (text, message) => {
  expect(() => aliasesOf(text)).toThrow(message);
});
