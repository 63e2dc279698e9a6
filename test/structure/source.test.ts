// The reader behind the structure test: what it takes for code, and the references it finds.
import { describe, expect, test } from 'vitest';
import { codeOnly, referencesOf } from './source.ts';

describe('codeOnly', () => {
  test.each([
    ['a line comment', 'a(); // b()', 'a();       '],
    ['a block comment over lines', 'a/* b\n c */d', 'a    \n     d'],
    ['strings, with escapes', `a('b\\'c', "d")`, `a('    ', " ")`],
    ['a template, but not the code inside it', '`a ${b({ c: `d` })} e`', '`  ${b({ c: ` ` })}  `'],
    ['a regular expression with quotes and slashes', String.raw`x.match(/['"\/[/]]/g, y)`, 'x.match(/         /g, y)'],
    ['comment marks inside a string', `'// a' + b`, `'    ' + b`],
    ['a comment that never ends', 'a /* b', 'a     '],
  ])('blanks %s', (_what, text, code) => {
    expect(codeOnly(text)).toBe(code);
  });

  test('takes a division for a division', () => {
    expect(codeOnly('a / b / c; d(e) / f')).toBe('a / b / c; d(e) / f');
  });
});

test('referencesOf finds every way of naming a module, with its line', () => {
  const text = [
    `import 'side-effect';`,
    `import type { A } from './type.ts';`,
    `import {\n  b,\n  c,\n} from "double";`,
    `export * from './all.ts';`,
    `export { d } from './named.ts';`,
    `const e = await import('./dynamic.ts');`,
    `type F = import('./type-query.ts').F;`,
    `const g = createRequire(import.meta.url);\nrequire('common');`,
    `const h = createRequire(import.meta.url)('at-once');`,
    `new Worker(workerFile(import.meta.url, 'some-worker'));`,
    `fork(new URL('./forked.ts', import.meta.url), new URL('../', base), new URL('https://a.b/c.js'));`,
    `export const text = "import 'not-me'"; // import 'nor-me'`,
  ].join('\n');
  const found = referencesOf(text, codeOnly(text)).map(({ specifier, line }) => `${line} ${specifier}`);
  expect(found.sort()).toEqual(
    [
      '1 side-effect',
      '2 ./type.ts',
      '3 double',
      '7 ./all.ts',
      '8 ./named.ts',
      '9 ./dynamic.ts',
      '10 ./type-query.ts',
      '12 common',
      '13 at-once',
      '14 ./some-worker.ts',
      '15 ./forked.ts',
    ].sort(),
  );
});
