// What reads the same in the bundle as in the source, although the bundler renames classes and functions.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { read, sourceFiles } from '../structure/project.ts';

const FOLDER = fileURLToPath(new URL('../../dist/program/', import.meta.url));
/** A long line is broken within its strings. */
const programs = readdirSync(FOLDER).map((name) => readFileSync(`${FOLDER}${name}`, 'utf8').replaceAll('\\\n', ''));
const ERROR_CLASS = /class (\w+) extends (\w*Error)\b[^{]*\{([^}]*)/g;

test('every error of the source keeps a separate name in the bundle', () => {
  const declared = sourceFiles('src', 'machines')
    .filter(({ path }) => !path.startsWith('src/console/'))
    .flatMap(({ path }) => [...read(path).matchAll(ERROR_CLASS)].map(([, name]) => name));
  const classes = /class(?:\s\w+)?\sextends\s\w*Error\d*\b[^{]*\{[^}]*?\bname=\s?"(\w+)"/g;
  const named = new Set(programs.flatMap((text) => [...text.matchAll(classes)].map(([, name]) => name)));
  expect(declared.length).toBeGreaterThan(25);
  expect(declared.filter((name) => name !== undefined && !named.has(name))).toEqual([]);
});

test('nothing is paid at run time for the names of functions', () => {
  expect(programs.filter((text) => /\b__name\(/.test(text))).toEqual([]);
});

test('files of the program are short in memory: a string with one character beyond Latin-1 takes two bytes for each', () => {
  const wide = programs.filter((text) => text.length > 100_000 && /[\u0100-\uffff]/.test(text));
  expect(wide.map((text) => /.{0,20}[\u0100-\uffff].{0,20}/.exec(text)?.[0])).toEqual([]);
});
