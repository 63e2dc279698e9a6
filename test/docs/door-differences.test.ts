// The table of what the doors do differently: as the suite of the doors tries it, row by row.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { DIFFERENCES } from '../suites/door/differences.ts';
import { UWS_GAPS } from '../suites/door/gaps.ts';

const HEAD = '| what a client sends | `node` | `uws`, newest build | `uws`, older build |';
const page = readFileSync(new URL('../../docs/operations/platforms.md', import.meta.url), 'utf8');

test('docs/operations/platforms.md has a row for each gap that the suite of the doors tries, and no other', () => {
  const table = page.slice(page.indexOf(HEAD)).split('\n\n')[0]!.split('\n').slice(2);
  const rows = Object.values(DIFFERENCES).map(
    ({ what, node, uws, older = uws }) => `| ${what} | ${node} | ${uws} | ${older} |`,
  );
  expect(table).toEqual(rows);
});

test('the rows are the gaps that a build of uWebSockets.js has', () => {
  const gaps = new Set(Object.values(UWS_GAPS).flatMap((each) => Object.keys(each)));
  expect([...gaps].sort()).toEqual(Object.keys(DIFFERENCES).sort());
});
