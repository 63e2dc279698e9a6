// What every catalogue row says of where its audio is processed, and that each endpoint named there has an address of its own.
import type { TSchema } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { expect, it } from 'vitest';
import type { Mode } from '../../src/api/models.ts';
import { Processing } from '../../src/api/processing.ts';
import { modelOf } from '../../src/api/slug.ts';
import { providers } from '../../src/vendors/index.ts';
import { apiKeyForm, type CredentialForm } from '../../src/vendors/kit/credentials.ts';

const cards = providers.flatMap((provider) => provider.models.map((card) => [card.id, provider, card] as const));

it.each(cards)('%s says for each mode where audio is processed', (_, provider, card) => {
  const { names = [], usual } = provider.endpoints ?? { names: [] };
  for (const row of card.processing) {
    expect(Value.Errors(Processing, row).First()).toBeUndefined();
    expect(row.source.date).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    for (const endpoint of row.endpoints ?? []) expect(names).toContain(endpoint);
    if (row.modes !== undefined) expect(card.modes.some((mode) => row.modes?.includes(mode))).toBe(true);
    if (row.region === 'unknown') expect(row.endpoints).toBeUndefined();
  }
  for (const mode of card.modes) {
    const ofMode = card.processing.filter(({ modes }) => modes?.includes(mode) ?? true);
    const usually = ofMode.filter(({ endpoints }) => (usual === undefined ? !endpoints : endpoints?.includes(usual)));
    expect(usually, `where ${mode} audio goes when nothing else is said`).not.toEqual([]);
  }
});

it.each(cards)('%s takes what its rows need of `provider_params`, in each mode they are of', (_, provider, card) => {
  for (const { params, modes = card.modes } of card.processing) {
    if (params === undefined) continue;
    expect(Value.Check(provider.options(modelOf(card.id)), params)).toBe(true);
    for (const name of Object.keys(params))
      for (const mode of modes as Mode[]) expect(provider.honours?.(name, modelOf(card.id), mode) ?? true).toBe(true);
  }
});

const regional = providers.flatMap((provider) => {
  const { endpoints, credentialForm = apiKeyForm } = provider;
  return endpoints === undefined ? [] : [[provider.name, provider, endpoints, credentialForm] as const];
});

it.each(regional)(
  'names each endpoint in a credential of %s, and each serves a model',
  (_, provider, endpoints, form) => {
    const used = provider.models.flatMap((card) => card.processing.flatMap((row) => row.endpoints ?? []));
    for (const name of endpoints.names) {
      expect(Value.Check((form as CredentialForm).properties.region as TSchema, name)).toBe(true);
      expect(used).toContain(name);
    }
  },
);
