// Writes generated files: those of the generators named on the command line, or of all.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { generators } from './generators.ts';

const root = join(import.meta.dirname, '..');
const names = process.argv.slice(2);
const unknown = names.filter((name) => !generators.some((generator) => generator.name === name));
if (unknown.length > 0) {
  console.error(`No generator "${unknown.join('", "')}"; there are: ${generators.map(({ name }) => name).join(', ')}.`);
  process.exit(1);
}

for (const generator of generators) {
  if (names.length > 0 && !names.includes(generator.name)) continue;
  for (const [path, content] of await generator.files()) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
    console.log(path);
  }
}
