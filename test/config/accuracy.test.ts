// The file of measured accuracies: what is refused in it, and that a change is noticed without a restart.
import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { KnownAccuracies, loadAccuracies, readAccuracies } from '../../src/config/accuracy.ts';
import { loadConfig } from '../../src/config/load.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';

const row = (model: string, language: string | null, errors: number, more: object = {}) => ({
  ...{ model, language, unit: 'words', units: 1_000, errors, files: 10, measured_at: '2026-11-29' },
  ...more,
});
const textOf = (...rows: object[]) => JSON.stringify({ measured: rows });

it.each([
  ['{', 'it is not valid JSON'],
  ['[]', 'it has no list `measured`'],
  [textOf(...Array.from({ length: 5_001 }, () => row('a/b', 'de', 1))), 'at most 5000 rows'],
  [textOf(row('a/b', 'de', 1), row('a/b', 'german', 1)), 'row 2 of `measured` has no usable `language`'],
  [textOf(row('a/b', 'de', 1, { unit: 'letters' })), 'has no usable `unit`; it is "words" or "characters"'],
  [textOf(row('a/b', 'de', -1)), 'has no usable `errors`; it is a whole number from 0'],
  [textOf(row('a/b', 'de', 1, { units: 0 })), 'has no usable `units`'],
  [textOf(row('a/b', 'de', 1, { more: 1 })), 'has a member that is not known'],
  ['{"measured": [7]}', 'is not an object'],
])('%s is refused', (text, words) => {
  expect(() => readAccuracies(text)).toThrow(words);
});

it('names the variable of a file that cannot be used', () => {
  expect(() => loadAccuracies('/no/such/file')).toThrow(
    'VOXGATE_ACCURACY_FILE (session.accuracyFile) names "/no/such/file", which cannot be read (ENOENT)',
  );
  const readFile = () => '{';
  expect(() =>
    loadConfig({ VOXGATE_ACCURACY_FILE: '/accuracy.json' }, { readFile, providers: [], catalogue: [] }),
  ).toThrow('is not valid JSON');
});

it('is known by model and language, in any region of it, and not with a few words', () => {
  const path = join(temporaryDirectory(), 'accuracy.json');
  const few = row('a/few', 'de', 1, { units: 499 });
  writeFileSync(path, textOf(row('a/b', 'de-AT', 50), row('a/b', null, 70), few));
  const known = new KnownAccuracies(path, { now: () => 0 }, () => expect.unreachable());
  expect(known.of('a/b', 'de')).toEqual({ unit: 'words', units: 1_000, errorRate: 0.05 });
  expect(known.of('a/b', null)?.errorRate).toBe(0.07);
  expect([known.of('a/b', 'fr'), known.of('a/few', 'de')]).toEqual([undefined, undefined]);
});

it('is read again within 30 seconds of a change, and stays what it was if the new one cannot be used', () => {
  const path = join(temporaryDirectory(), 'accuracy.json');
  let now = 0;
  let changes = 1;
  const write = (text: string) => {
    writeFileSync(path, text);
    utimesSync(path, ++changes, changes);
  };
  write(textOf(row('a/b', 'de', 50)));
  const faults: unknown[] = [];
  const known = new KnownAccuracies(path, { now: () => now }, (error) => faults.push(error));
  const rate = () => known.of('a/b', 'de')?.errorRate;
  write(textOf(row('a/b', 'de', 60)));
  now = 29_999;
  expect(rate()).toBe(0.05);
  now = 30_000;
  expect(rate()).toBe(0.06);
  write('{');
  now = 60_000;
  expect([rate(), faults.length]).toEqual([0.06, 1]);
  now = 90_000;
  expect([rate(), faults.length]).toEqual([0.06, 1]);
});
