// What a name of a model means: aliases of the key, of its organisation, and what the request itself says beside them.
import { describe, expect, it } from 'vitest';
import { aliasOf, chainNamed } from '../../../src/accounts/auth/aliases.ts';
import type { Candidate } from '../../../src/api/listen.ts';

const BEST: Candidate[] = [
  { model: 'a/first', provider_params: { x: 1, y: 1 }, credential: 'own' },
  { model: 'a/more' },
];
const ORGANISATIONS: Candidate[] = [{ model: 'b/first' }];
const key = {
  aliases: { best: BEST, 'nova-3': [{ model: 'a/nova' }] },
  organisationAliases: { best: ORGANISATIONS, cheap: ORGANISATIONS },
};

describe('an alias', () => {
  it.each<[string, readonly Candidate[] | undefined]>([
    ['best', BEST],
    ['cheap', ORGANISATIONS],
    ['Best', undefined],
    ['a/first', undefined],
    ['toString', undefined],
    ['__proto__', undefined],
    ['', undefined],
  ])('%s of a key goes before its organisation’s', (name, chain) => {
    expect(aliasOf(key, name)).toEqual(chain);
  });

  it.each([[{}], [{ aliases: null, organisationAliases: null }], [{ aliases: {} }]])(
    'does not exist in %j',
    (without) => {
      expect(aliasOf(without, 'best')).toBeUndefined();
    },
  );
});

const request = { providerParams: {}, fallbacks: [] as Candidate[], strict: true };

describe('a request', () => {
  it.each<[string, Parameters<typeof chainNamed>[1], object]>([
    [
      'has the chain of its alias, with what its first model is given',
      { ...request, model: 'best' },
      { model: 'a/first', credential: 'own', providerParams: { x: 1, y: 1 }, fallbacks: [{ model: 'a/more' }] },
    ],
    [
      'gives its own fallbacks behind those of the alias, as they are',
      { ...request, model: 'best', fallbacks: [{ model: 'c/d' }, { model: 'cheap' }] },
      { fallbacks: [{ model: 'a/more' }, { model: 'c/d' }, { model: 'cheap' }] },
    ],
    [
      'gives its options to the first model, before those of the alias',
      { ...request, model: 'best', providerParams: { y: 2, z: 2 } },
      { providerParams: { x: 1, y: 2, z: 2 }, fallbacks: [{ model: 'a/more' }] },
    ],
    ['keeps the rest of what it asks for', { ...request, model: 'cheap' }, { model: 'b/first', strict: true }],
  ])('%s', (_, asked, named) => {
    expect(chainNamed(key, asked)).toMatchObject(named);
  });

  it('stays unchanged when it names a model', () => {
    const asked = { ...request, model: 'a/first' };
    expect(chainNamed(key, asked)).toBe(asked);
  });
});
