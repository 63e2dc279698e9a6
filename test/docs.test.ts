// What the documents say is what the code does: tables in both directions, commands, links.
// The bytes of generated parts are compared by `npm run check:generated`; here it is their meaning.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fillSections } from '../scripts/reference.ts';
import { ERROR_CATALOGUE } from '../src/api/error-catalogue.ts';
import { commands } from '../src/cli/index.ts';
import { configReference } from '../src/config/reference.ts';
import { closeCodes } from '../src/documents/close-codes.ts';
import { providers } from '../src/providers/index.ts';

const root = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const readme = read('README.md');
const documents = ['.', 'deploy', 'docs', 'machines', 'src', 'scripts', 'test'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: folder !== '.', encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name)),
);

/** The rows of a generated table of the README, as cells. */
function rows(section: string): string[][] {
  const text = readme.split(`<!-- generated:${section} -->`)[1]?.split(`<!-- /generated:${section} -->`)[0] ?? '';
  const lines = text.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) => line.slice(2, -2).split(' | '));
}

const unquoted = (cell: string | undefined) => cell?.replaceAll('`', '');

describe('README.md', () => {
  test('lists every error code with its HTTP status and close code, and no other', () => {
    const told = rows('errors').map(([code, , status, close]) => [unquoted(code), status, close]);
    const real = Object.entries(ERROR_CATALOGUE).map(([code, row]) => [
      code,
      `${row.status ?? '–'}`,
      `${row.close ?? '–'}`,
    ]);
    expect(told, 'Run `npm run reference`.').toEqual(real);
  });

  test('lists every close code with its error codes, and no other', () => {
    const told = rows('close-codes').map(([close, , codes]) => [close, unquoted(codes)]);
    const real = closeCodes().map(({ close, codes }) => [`${close}`, codes.join(', ') || '–']);
    expect(told, 'Run `npm run reference`.').toEqual(real);
  });

  test('lists every model, and no other', () => {
    const told = rows('models').map(([model]) => unquoted(model));
    const real = providers.flatMap(({ models }) => models.map(({ id }) => id));
    expect(told, 'Run `npm run reference`.').toEqual(real);
  });

  test('lists every setting, and no other', () => {
    const told = rows('config').map(([variable]) => unquoted(variable));
    const real = [...configReference().matchAll(/^\| `([^`]+)`/gm)].map(([, variable]) => variable);
    expect(told, 'Run `npm run reference`.').toEqual(real);
  });

  test('lists every command of voxgate, and no other', () => {
    const told = rows('commands').map(([command]) => unquoted(command));
    expect(told, 'Run `npm run reference`.').toEqual(commands.map(({ name }) => name));
  });

  test('has places for its tables: a missing marker is named', () => {
    expect(() => fillSections('no markers', { errors: '' })).toThrow('<!-- generated:errors -->');
  });
});

describe.each(documents)('%s', (path) => {
  const text = read(path);

  test('names only scripts of package.json', () => {
    const scripts = JSON.parse(read('package.json')).scripts;
    const named = [...text.matchAll(/npm (?:run (?:-s )?([a-z][\w:-]*)|(start|test)\b)/g)].map(
      ([, script, short]) => script ?? short,
    );
    expect(named.filter((script) => !(`${script}` in scripts))).toEqual([]);
  });

  test('links only to files that exist', () => {
    const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, link]) => link as string);
    expect(links.filter((link) => !existsSync(join(root, dirname(path), link)))).toEqual([]);
  });
});

test('CHANGELOG.md has a place for what is not released yet', () => {
  expect(read('CHANGELOG.md')).toMatch(/^## Unreleased$/m);
});
