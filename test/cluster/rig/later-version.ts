// A node of a version that is not there yet: the real program, whose files are changed as they are loaded. All that it says has
// members that nobody knows, it says things that nobody knows, and it has a role that nobody knows.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

export const LATER_VERSION = '99.1.0';

const isObject = `(value) => typeof value === 'object' && value !== null && [Object.prototype, null].includes(Object.getPrototypeOf(value))`;
/** Every object that travels, however deep, but for those whose members are names of something. */
const WITH_MORE = `
  const isObject = ${isObject};
  const withMore = (value) =>
    Array.isArray(value) ? value.map(withMore)
    : isObject(value) ? { ...Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withMore(each)])), laterMember: { isNew: true } }
    : value;
`;

interface Edit {
  /** End of the path of a compiled file. */
  file: string;
  from: string;
  to: string;
  /** Put after the last line of it. */
  more?: string;
}

/** Each of them is found, or the node does not start. */
const EDITS: readonly Edit[] = [
  {
    file: 'src/bus/nats/frames.js',
    from: 'JSON.stringify({ from, body })',
    to: "JSON.stringify({ from, body: withMore(body), later: 'new' })",
    more: WITH_MORE,
  },
  {
    file: 'src/bus/nats/batches/batch.js',
    from: 'JSON.stringify(body)',
    to: 'JSON.stringify(withMore(body))',
    more: WITH_MORE,
  },
  {
    file: 'src/bus/signed.js',
    from: 'JSON.stringify(value,',
    to: 'JSON.stringify(withMore(value),',
    more: WITH_MORE,
  },
  {
    file: 'src/cluster/accounts/protocol.js',
    from: 'textOfPlain(content)',
    to: 'textOfPlain(withMore(content))',
    more: WITH_MORE,
  },
  {
    file: 'src/cluster/membership/membership.js',
    from: 'roles: [...self.roles],',
    to: "roles: [...self.roles, 'oracle'],",
  },
  {
    file: 'src/assembly/members.js',
    from: 'version: buildVersion()',
    to: `version: '${LATER_VERSION}'`,
  },
  // Whatever it says, it says something beside it that nobody understands.
  {
    file: 'src/bus/nats/bus.js',
    from: 'const refused = this.#outbound.send(pair, body, bytes);',
    to: "this.#outbound.send(pair, { type: 'later.word' }); const refused = this.#outbound.send(pair, body, bytes);",
  },
  {
    file: 'src/bus/nats/bus.js',
    from: 'this.#local.publish(topic, body);',
    to: "if (isSafeName(topic)) this.#outbound.say(this.#subjects.topic(topic), undefined, this.address('publish'), { type: 'later.word' }); this.#local.publish(topic, body);",
  },
  {
    file: 'src/bus/nats/bus.js',
    from: 'const place = {',
    to: "if (body.type !== 'later.word') this.request(service, from, { type: 'later.word' }, timeoutMs).catch(() => {}); const place = {",
  },
];

/** The program out of its compiled files, one by one: the build puts them together. */
function programInFiles(): string {
  const source = readFileSync(fileURLToPath(new URL('../../../src/main.ts', import.meta.url)), 'utf8');
  return source.replaceAll(".ts'", ".js'");
}

/** What such a node is started with besides. */
export function laterVersion(): Record<string, string> {
  const directory = temporaryDirectory();
  const hooks = join(directory, 'hooks.mjs');
  writeFileSync(
    hooks,
    `const edits = ${JSON.stringify(EDITS)};
     const program = ${JSON.stringify(programInFiles())};
     export async function load(url, context, next) {
       if (url.endsWith('/dist/src/main.js')) return { format: 'module', shortCircuit: true, source: program };
       const loaded = await next(url, context);
       const mine = edits.filter(({ file }) => url.endsWith('/dist/' + file));
       if (mine.length === 0) return loaded;
       let source = String(loaded.source);
       for (const { file, from, to, more } of mine) {
         if (!source.includes(from)) throw new Error(file + ' has no ' + from);
         source = source.replace(from, () => to) + (more ?? '');
       }
       return { ...loaded, source };
     }`,
  );
  const first = join(directory, 'register.mjs');
  writeFileSync(
    first,
    `import { register } from 'node:module'; register(${JSON.stringify(pathToFileURL(hooks).href)});`,
  );
  return { NODE_OPTIONS: `--import=${pathToFileURL(first).href}` };
}
