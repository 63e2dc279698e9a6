// `npm run provider-lines`: how many lines each provider has of its own, in its simulator, for its own clients and in its tests, and the medians. Few
// lines say that the kit carries what providers have in common.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { providers } from '../src/vendors/index.ts';

const linesIn = (folder: string, isCounted = (_name: string) => true): number => {
  if (!existsSync(folder)) return 0;
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => name.endsWith('.ts') && isCounted(name));
  return files.reduce((sum, name) => sum + readFileSync(`${folder}/${name}`, 'utf8').trimEnd().split('\n').length, 0);
};
const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
};

const rows = providers.map(({ name, models }) => {
  const folder = `src/vendors/${name}`;
  return {
    name,
    models: models.length,
    own: linesIn(folder, (name) => !name.startsWith('simulator') && !name.startsWith('compat')),
    simulator: linesIn(`${folder}/simulator`),
    compat: linesIn(`${folder}/compat`),
    tests: linesIn(`test/vendors/${name}`),
  };
});
console.table(rows);
const of = (column: 'own' | 'simulator' | 'tests') =>
  median(rows.map((row) => row[column]).filter((lines) => lines > 0));
const total = rows.reduce((sum, { models }) => sum + models, 0);
console.log(
  `${rows.length} providers, ${total} models; medians: own ${of('own')}, simulator ${of('simulator')}, tests ${of('tests')}.`,
);
