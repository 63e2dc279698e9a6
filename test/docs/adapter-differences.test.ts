// The table of what the server adapters do differently: as the suite of the adapters tries it, row by row.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { DIFFERENCES, UWS_GAPS } from '../suites/server-adapter/gaps.ts';

const HEAD = '| what a client sends | `node` | `uws` |';
const page = readFileSync(new URL('../../docs/operations/platforms.md', import.meta.url), 'utf8');

test('docs/operations/platforms.md has a row for each gap that the suite of the adapters tries, and no other', () => {
  const table = page.slice(page.indexOf(HEAD)).split('\n\n')[0]!.split('\n').slice(2);
  const rows = Object.values(DIFFERENCES).map(({ what, node, uws }) => `| ${what} | ${node} | ${uws} |`);
  expect(table).toEqual(rows);
});

test('lists the gaps of uWebSockets.js', () => {
  expect(Object.keys(UWS_GAPS).sort()).toEqual(Object.keys(DIFFERENCES).sort());
});
