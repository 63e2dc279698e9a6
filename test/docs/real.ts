// Whether what a document tells people to type is there: scripts, commands with their options, files, endpoints, settings.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { commands } from '../../src/cli/index.ts';
import { configFields } from '../../src/config/fields.ts';
import { CLIENT_KEY_VARIABLE, CONFIG_FILE_VARIABLE } from '../../src/config/load.ts';
import { operations } from '../../src/docs/openapi.ts';
import { providers } from '../../src/vendors/index.ts';
import { ROOT, read } from './pages.ts';

/** Of the system, or of the shell. */
const ELSEWHERE =
  /^(?:cd|certbot|chmod|chown|cp|docker|done|echo|for|git|helm|install|journalctl|kill|kubectl|ln|mkdir|node|openssl|podman|cat|sed|sh|sleep|systemctl|tee|useradd|wait|\.|console|nats-server)$|\(\)$/;
const NPM = new Set(['ci', 'install', 'pack', 'prune']);
const LEFT_OUT = /[<…]|^[A-Z_]+$/;

/** What is wrong with a command; undefined where nothing is. */
export function problemOf(words: readonly string[]): string | undefined {
  const [program = '', ...rest] = words;
  const lost = rest.map(unquoted).find((word) => isOwnPath(word) && !existsSync(join(ROOT, pathIn(word))));
  if (lost !== undefined) return `there is no ${lost}`;
  if (program === 'npm') return npmProblem(rest);
  if (program === 'voxgate') return voxgateProblem(rest);
  if (program === 'curl') return curlProblem(rest);
  if (program === 'npx') return npxProblem(rest);
  if (program === 'podman' && rest[0] === 'exec') return problemOf(rest.slice(2));
  if (program.includes('/')) return existsSync(join(ROOT, program)) ? undefined : `there is no ${program}`;
  return ELSEWHERE.test(program) ? undefined : `what is ${program}?`;
}

const unquoted = (word: string): string => word.replace(/^(["'])(.*)\1$/, '$2');
const pathIn = (word: string): string => word.replace(/^\w+=@/, '');
const isOwnPath = (word: string): boolean => /^(?:\w+=@)?(?:bin|deploy|docs|machines|scripts|src|test)\//.test(word);

const npxProblem = ([tool = '', ...rest]: readonly string[]): string | undefined =>
  tool === 'voxgate'
    ? voxgateProblem(rest)
    : existsSync(join(ROOT, 'node_modules/.bin', tool))
      ? undefined
      : `there is no tool "${tool}"`;

const loaded = await Promise.all(commands.map(async ({ name, load }) => ({ name, usage: (await load()).usage })));
const scripts: Readonly<Record<string, string>> = JSON.parse(read('package.json')).scripts;

function npmProblem([name = '', ...rest]: readonly string[]): string | undefined {
  if (NPM.has(name)) return undefined;
  const [script = '', ...args] = name === 'run' ? rest.filter((word) => word !== '-s') : [name, ...rest];
  if (scripts[script] === undefined) return `package.json has no script "${script}"`;
  return script === 'voxgate' ? voxgateProblem(args.slice(args.indexOf('--') + 1)) : undefined;
}

function voxgateProblem([name = '', ...rest]: readonly string[]): string | undefined {
  if (LEFT_OUT.test(name) || name === '--help') return undefined;
  const command = loaded.find((each) => name === each.name);
  if (command === undefined) return `there is no command "${name}"`;
  const actions = actionsIn(command.name, command.usage);
  // `voxgate models` lists without an action, and has one.
  const isOption = rest[0]?.startsWith('--') === true && command.usage.startsWith(`Usage: voxgate ${name} [--`);
  const words = isOption ? [] : (rest[0] ?? '').split('|');
  const unknown = words.find((action) => actions.size > 0 && !actions.has(action));
  if (unknown !== undefined && unknown !== '' && !LEFT_OUT.test(unknown))
    return `voxgate ${name} has no action "${unknown}"`;
  const option = rest.find((word) => /^--\w/.test(word) && !`${command.usage} `.match(`${word}[^\\w-]`));
  return option === undefined ? undefined : `voxgate ${name} has no ${option}`;
}

/** The first words that a command takes, where it takes some and no others. */
function actionsIn(name: string, usage: string): Set<string> {
  const first = [...usage.matchAll(new RegExp(`voxgate ${name} ([a-z|<>]+)(?=[ \\n])`, 'g'))];
  return new Set(first.flatMap(([, words = '']) => words.replaceAll(/[<>]/g, '').split('|')));
}

const endpoints = operations.map(({ method, path }) => ({
  method: method.toUpperCase(),
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));

export const isEndpoint = (method: string | undefined, path: string): boolean =>
  endpoints.some((each) => each.pattern.test(path) && (method === undefined || each.method === method));

function curlProblem(words: readonly string[]): string | undefined {
  const url = words.map(unquoted).find((word) => /^https?:\/\//.test(word));
  // Further nodes on one machine, whose port may be a variable.
  if (url === undefined || !/^http:\/\/127\.0\.0\.1:(?:80\d\d|\$\w+)\//.test(url)) return `curl goes to ${url}`;
  const { pathname } = new URL(url.replace(/:\$\w+\//, '/'));
  const named = words.indexOf('-X');
  const usual = words.some((word) => word === '-F' || word === '-d') ? 'POST' : 'GET';
  const method = named === -1 ? usual : words[named + 1];
  if (pathname.startsWith('/console/') || isEndpoint(method, pathname)) return undefined;
  return `there is no ${method} ${pathname}`;
}

export const variables: ReadonlySet<string> = new Set([
  ...configFields([...providers.map(({ name }) => name), '<provider>']).map(({ env }) => env),
  CONFIG_FILE_VARIABLE,
  CLIENT_KEY_VARIABLE,
]);

const files = [
  '.ci',
  'bin',
  'clients/python',
  'clients/typescript',
  'deploy',
  'docs',
  'machines',
  'scripts',
  'src',
  'test',
].flatMap((folder) => [
  folder,
  ...readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
]);

/** Whether a path, in which `*` and `<name>` stand for anything, is there, seen from a folder or from the project's. */
export function isThere(path: string, folder: string): boolean {
  if (existsSync(join(ROOT, folder, path)) || existsSync(join(ROOT, path))) return true;
  const patterns = [join(folder, path), path].map(
    (each) =>
      new RegExp(
        `^${each
          .replaceAll('.', '\\.')
          .replaceAll(/\*+|<[^>]+>/g, '.*')
          .replace(/\/$/, '')}$`,
      ),
  );
  return files.some((file) => patterns.some((pattern) => pattern.test(file)));
}
