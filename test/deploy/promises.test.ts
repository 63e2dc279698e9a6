// The promises in README.md: all of them are there, and each names tests that exist.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const promised = /^## What we promise$([\s\S]*?)^## /m.exec(readme)?.[1] ?? '';
const rows = [...promised.matchAll(/^\| (P\d+) \| (.+) \| (.+) \| (.+) \|$/gm)].map(
  ([, name = '', , , proof = '']) => ({
    name,
    tests: [...proof.matchAll(/`([^`]+)`/g)].map(([, path]) => `test/${path}.test.ts`),
  }),
);

test('P1 to P10 are there, in their order, and what is not promised after them', () => {
  expect(rows.map(({ name }) => name)).toEqual(Array.from({ length: 10 }, (_, index) => `P${index + 1}`));
  expect(promised).toMatch(/\*\*Not promised \(P11\)\*\*/);
});

test.each(rows)('$name names tests, and there they are', ({ tests }) => {
  expect(tests).not.toEqual([]);
  expect(tests.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
