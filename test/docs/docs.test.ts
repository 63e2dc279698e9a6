// What the documents say is what the project has: commands, options, settings, files, endpoints, links. The bytes of generated
// pages are compared by `npm run check:generated`; typed.test.ts runs what can be run.
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import { guides, pages, ROOT, read } from './pages.ts';
import { isEndpoint, isThere, problemOf, variables } from './real.ts';
import { commandsOf } from './shell.ts';

const byPath = new Map(pages.map((page) => [page.path, page]));
const isRelative = (link: string) => !/^(?:https?|mailto):/.test(link);

describe.each(pages)('$path', ({ path, links, codes, blocks, text }) => {
  test('links to what is there', () => {
    const lost = links.filter(isRelative).filter((link) => {
      const [target = '', anchor] = link.split('#');
      const file = target === '' ? path : normalize(join(dirname(path), target));
      return !existsSync(join(ROOT, file)) || (anchor !== undefined && !byPath.get(file)?.anchors.has(anchor));
    });
    expect(lost).toEqual([]);
  });

  test('contains existing commands only', () => {
    const typed = blocks.filter(({ language }) => language === 'sh').flatMap((block) => commandsOf(block.text));
    const named = codes.filter((code) => /^(?:sudo |npm |npx |voxgate )/.test(code)).flatMap(commandsOf);
    /** Functions of the page's own. */
    const defined = new Set(typed.flatMap(([program = '']) => (program.endsWith('()') ? [program.slice(0, -2)] : [])));
    const problems = [...typed, ...named].flatMap((words) => {
      const problem = defined.has(words[0] ?? '') ? undefined : problemOf(words);
      return problem === undefined ? [] : [`${words.join(' ')}: ${problem}`];
    });
    expect(problems).toEqual([]);
  });

  test('names settings, files and endpoints that there are', () => {
    const settings = text.match(/\bVOXGATE_[A-Z][A-Z_]*[A-Z]\b|\b[A-Z]+_API_KEY\b/g) ?? [];
    const paths = codes.filter((code) =>
      /^(?:\.ci|bin|deploy|docs|machines|scripts|src|test)\/[\w./<>*-]+$/.test(code),
    );
    const sources = codes.filter((code) => /^[\w./<>*-]+\.(?:ts|md)$/.test(code));
    const endpoints = codes.flatMap((code) => [...code.matchAll(/^(?:(GET|POST) )?(\/v1\/[\w/{}-]+)$/g)]);
    expect(settings.filter((name) => !variables.has(name))).toEqual([]);
    expect([...paths, ...sources].filter((file) => !isThere(file, dirname(path)))).toEqual([]);
    expect(endpoints.filter(([, method, where = '']) => !isEndpoint(method, where)).map(([whole]) => whole)).toEqual(
      [],
    );
  });
});

describe('a command that is not there', () => {
  test.each([
    ['npm run tests', 'package.json has no script "tests"'],
    ['npm run -s voxgate -- transcibe FILE', 'there is no command "transcibe"'],
    ['VOXGATE_PORT=1 voxgate keys mint', 'voxgate keys has no action "mint"'],
    ['sudo voxgate serve --worker 4', 'voxgate serve has no --worker'],
    ['curl http://127.0.0.1:8080/v1/listens', 'there is no GET /v1/listens'],
    ['curl http://127.0.0.1:8080/v1/models -F a=b', 'there is no POST /v1/models'],
    ['curl https://example.com/v1/models', 'curl goes to https://example.com/v1/models'],
    ['npx vitest run test/nothing.test.ts', 'there is no test/nothing.test.ts'],
    ['npx nothing', 'there is no tool "nothing"'],
    ['cd /tmp && nothing --here', 'what is nothing?'],
    ['.ci/nothing', 'there is no .ci/nothing'],
  ])('gets reported: %s', (command, problem) => {
    expect(commandsOf(command).map(problemOf)).toContain(problem);
  });

  test('never appears among existing ones', () => {
    const there = ['export VOXGATE_KEY=1', 'npm ci && npm start # a word', 'voxgate serve --workers 4', '.ci/run'];
    expect(there.flatMap(commandsOf).map(problemOf)).toEqual([undefined, undefined, undefined, undefined]);
    expect(commandsOf("sudo tee x <<'END'\nnothing\nEND\n")).toEqual([['tee', 'x']]);
  });
});

describe('the documents', () => {
  test('link to each other from docs/README.md', () => {
    const known = byPath.get('docs/README.md')?.links.map((link) => join('docs', link));
    const own = pages.map(({ path }) => path).filter((path) => path.startsWith('docs/') && path !== 'docs/README.md');
    expect(own.filter((path) => !known?.includes(path))).toEqual([]);
  });

  test('begin with README.md, which is read in a few minutes', () => {
    const text = read('README.md');
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(130);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(10_000);
  });

  test('install the package that is packed', () => {
    const { name, version } = JSON.parse(read('package.json'));
    const packed = guides.flatMap(({ text }) => text.match(/\bvoxgate-[\d.]+\.tgz/g) ?? []);
    expect([...new Set(packed)]).toEqual([`${name}-${version}.tgz`]);
  });

  test('name P1 to P11 in order, each with its tests, and what is not promised', () => {
    const sections = read('docs/promises.md').split(/^## /m).slice(1);
    expect(sections.map((section) => /^(P\d+)|^Not promised$/m.exec(section)?.[0])).toEqual([
      ...Array.from({ length: 11 }, (_, index) => `P${index + 1}`),
      'Not promised',
    ]);
    for (const section of sections.slice(0, -1)) expect(section).toMatch(/^\| `test\/\S+\.test\.ts`/m);
  });

  test('tell of every file in deploy, whose settings there are', () => {
    const beside = readdirSync(join(ROOT, 'deploy'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.includes('.') || /^[A-Z]|^environment$/.test(name))
      .filter((name) => name !== 'README.md');
    // Of the chart, its folder and its values.
    const told = beside.filter((name) => !name.startsWith('helm/')).concat('helm/', 'helm/values.yaml');
    expect(
      byPath
        .get('deploy/README.md')
        ?.links.filter((link) => !link.startsWith('..'))
        .sort(),
    ).toEqual(told.sort());
    const settings = beside.flatMap((name) => read(`deploy/${name}`).match(/\bVOXGATE_[A-Z][A-Z_]*[A-Z]\b/g) ?? []);
    expect(settings.filter((name) => !variables.has(name))).toEqual([]);
  });

  test('keep a place for unreleased changes, on one page', () => {
    const changes = read('CHANGELOG.md');
    expect(changes).toMatch(/^## Unreleased$/m);
    const hint =
      'The first release has no history: say in the fitting part what it does now. Did a merge bring old lines back?';
    expect(changes.split('\n').length, hint).toBeLessThanOrEqual(130);
  });
});

test('runs the README’s test command in the build', () => {
  const [, command = ''] = /^npm ci && (npm .+)$/m.exec(read('README.md').split('**The test suite**')[1] ?? '') ?? [];
  expect(command).toMatch(/^npm /);
  expect(read('.ci/run')).toContain(` ${command} --\n`);
});

test.each(['.ci/run', 'scripts/ci/release.sh', 'test/setup/longest-first.ts', 'vitest.config.ts'])(
  '%s names test files that exist',
  (list) => {
    const named = read(list).match(/\btest\/[\w/-]+\.test\.ts\b/g) ?? [];
    expect(named.length).toBeGreaterThan(1);
    expect(named.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  },
);
