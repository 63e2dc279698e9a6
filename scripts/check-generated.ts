// Compares every generated file with what its generator makes now, and names the command that brings it up to date.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { generators } from './generators.ts';

const root = join(import.meta.dirname, '..');

for (const { command, files } of generators) {
  for (const [path, content] of await files()) {
    const file = join(root, path);
    const state = !existsSync(file)
      ? 'is missing'
      : readFileSync(file, 'utf8') !== content
        ? 'is out of date'
        : undefined;
    if (state === undefined) continue;
    console.error(`${path} ${state}: run \`${command}\` and commit the result.`);
    process.exitCode = 1;
  }
}
