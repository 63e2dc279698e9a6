// Every provider of the registry is proven: it has a folder here that feeds the suite.
import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { providers } from '../../src/providers/index.ts';
import { simulators } from '../../src/providers/simulators.ts';

it.each(providers.map(({ name }) => name))('%s has its fixtures in the suite', (name) => {
  const file = `${import.meta.dirname}/${name}/provider.test.ts`;
  expect(existsSync(file), `Write ${file}: it calls testProvider of test/suites/provider.suite.ts.`).toBe(true);
});

it('every simulator is one of a provider', () => {
  const names = providers.map(({ name }) => name);
  for (const { provider } of simulators) expect(names).toContain(provider);
});
