// The search for models: by what people call them, every word of it.
import { expect, it } from 'vitest';
import type { Model } from '../../src/api/models.ts';
import { fitsSearch, languageName, usableFirst } from '../../src/console/data/model-search.ts';

const model = (id: string, more: Partial<Model> = {}): Model =>
  ({
    id,
    name: id,
    owned_by: id.split('/')[0],
    description: '',
    modes: ['live'],
    languages: ['en'],
    capabilities: {},
    pricing: {},
    provider_params: { type: 'object', properties: {} },
    available: false,
    ...more,
  }) as unknown as Model;

const domain = {
  type: 'object',
  properties: { domain: { type: 'string', enum: ['medical'], description: 'Words of a field.' } },
};
const models = [
  model('a/medical', { name: 'Nova Medical' }),
  model('b/multi', { languages: ['en', 'fr', 'pt-BR'], provider_params: domain }),
  model('c/plain', {
    languages: ['fr'],
    modes: ['batch'],
    capabilities: { diarization: true } as Model['capabilities'],
  }),
  model('d/all', { languages: ['*'], pricing: { live: { free: true } } as unknown as Model['pricing'] }),
];
const found = (search: string) =>
  models
    .filter((each) => fitsSearch(each, search))
    .map(({ id }) => id[0])
    .join('');

it.each([
  ['', 'abcd'],
  ['french medical', 'b'],
  ['Medical French', 'b'],
  ['medical', 'ab'],
  ['clinical', 'ab'],
  ['french', 'bcd'],
  ['Français', 'bcd'],
  ['francais', 'bcd'],
  ['fr', 'bcd'],
  ['brazilian', 'b'],
  ['portuguese', 'bd'],
  ['klingon', ''],
  ['diarization', 'c'],
  ['speakers french', 'c'],
  ['streaming', 'abd'],
  ['realtime free', 'd'],
  ['files', 'c'],
  ['a/med', 'a'],
  ['nova english', 'a'],
  ['nova french', ''],
])('finds for %j', (search, expected) => {
  expect(found(search)).toBe(expected);
});

it('names languages in English', () => {
  expect([languageName('fr'), languageName('pt-BR'), languageName('multi')]).toEqual([
    'French (fr)',
    'Brazilian Portuguese (pt-BR)',
    'multi',
  ]);
});

it('puts usable models first, in their order otherwise', () => {
  const some = [model('a/1'), model('b/2', { available: true }), model('c/3'), model('d/4', { available: true })];
  expect(usableFirst(some).map(({ id }) => id)).toEqual(['b/2', 'd/4', 'a/1', 'c/3']);
});
