// What reads the same in the bundle as in the source, although the bundler renames classes and functions.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { read, sourceFiles } from '../structure/project.ts';

const FOLDER = fileURLToPath(new URL('../../dist/program/', import.meta.url));
const programs = readdirSync(FOLDER).map((name) => readFileSync(`${FOLDER}${name}`, 'utf8'));
const ERROR_CLASS = /class (\w+) extends (\w*Error)\b[^{]*\{([^}]*)/g;

/** The project's modules in the bundle: esbuild writes the path of each above it. */
const modules = programs.flatMap((text) =>
  text.split(/^(?=\/\/ [\w@./-]+$)/m).filter((module) => /^\/\/ (?:src|machines)\//.test(module)),
);

test('every error of the source keeps a separate name in the bundle', () => {
  const declared = sourceFiles('src', 'machines')
    .filter(({ path }) => !path.startsWith('src/console/'))
    .flatMap(({ path }) => [...read(path).matchAll(ERROR_CLASS)].map(([, name]) => name));
  const named = new Set(
    modules.flatMap((module) =>
      [...module.matchAll(/class(?: \w+)? extends \w*Error\d*\b[^{]*\{[^}]*?\bname = "(\w+)"/g)].map(
        ([, name]) => name,
      ),
    ),
  );
  expect(declared.length).toBeGreaterThan(25);
  expect(declared.filter((name) => name !== undefined && !named.has(name))).toEqual([]);
});

test('nothing is paid at run time for the names of functions', () => {
  expect(modules.length).toBeGreaterThan(500);
  expect(modules.filter((module) => /\b__name\(/.test(module))).toEqual([]);
});
