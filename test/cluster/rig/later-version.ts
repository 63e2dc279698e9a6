// A node of a version that does not exist yet: a checkout in which some lines of the source are others. Its messages have members
// that this version does not know, it sends messages that this version does not know, and it has a role that this version does not know.
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt } from '../../../bin/build.js';
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

export interface Edit {
  file: string;
  from: string;
  to: string;
  /** Put after the last line of it. */
  more?: string;
}

/** Each of them is found, or the node does not start. */
const EDITS: readonly Edit[] = [
  {
    file: 'src/cluster/bus/nats/frames.ts',
    from: 'JSON.stringify({ from, body })',
    to: "JSON.stringify({ from, body: withMore(body), later: 'new' })",
    more: WITH_MORE,
  },
  {
    file: 'src/cluster/bus/nats/batches.ts',
    from: 'JSON.stringify(body)',
    to: 'JSON.stringify(withMore(body))',
    more: WITH_MORE,
  },
  {
    file: 'src/cluster/bus/signed.ts',
    from: 'JSON.stringify(value,',
    to: 'JSON.stringify(withMore(value),',
    more: WITH_MORE,
  },
  {
    file: 'src/cluster/accounts/protocol.ts',
    from: 'textOfPlain(content)',
    to: 'textOfPlain(withMore(content))',
    more: WITH_MORE,
  },
  {
    file: 'src/cluster/membership/membership.ts',
    from: 'roles: [...self.roles],',
    to: "roles: [...self.roles, 'oracle'],",
  },
  {
    file: 'src/node/network.ts',
    from: 'version: buildVersion()',
    to: `version: '${LATER_VERSION}'`,
  },
  // Whatever it says, it says something beside it that nobody understands.
  {
    file: 'src/cluster/bus/nats/bus.ts',
    from: 'const refused = this.#outbound.send(pair, body, bytes);',
    to: "this.#outbound.send(pair, { type: 'later.word' }); const refused = this.#outbound.send(pair, body, bytes);",
  },
  {
    file: 'src/cluster/bus/nats/bus.ts',
    from: 'this.#local.publish(topic, body);',
    to: "if (isSafeName(topic)) this.#outbound.say(this.#subjects.topic(topic), undefined, this.address('publish'), { type: 'later.word' }); this.#local.publish(topic, body);",
  },
  {
    file: 'src/cluster/bus/nats/bus.ts',
    from: 'const place: Place = {',
    to: "if (body.type !== 'later.word') this.request(service, from, { type: 'later.word' }, timeoutMs).catch(() => {}); const place: Place = {",
  },
];

const ROOT = join(import.meta.dirname, '../../..');
/** What a checkout is built of. */
const COPIED = ['bin', 'clients', 'docs', 'machines', 'src', 'package.json', 'package-lock.json', 'tsconfig.json'];

let checkout: Promise<string> | undefined;

/** The command of such a node; it is built once. */
export function laterVersion(): Promise<string> {
  checkout ??= versionWith(EDITS);
  return checkout;
}

/** The command of a node of a checkout with these edits. */
export async function versionWith(edits: readonly Edit[]): Promise<string> {
  const folder = temporaryDirectory();
  for (const name of COPIED) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  for (const { file, from, to, more = '' } of edits) {
    const text = readFileSync(join(folder, file), 'utf8');
    if (!text.includes(from)) throw new Error(`${file} has no ${from}`);
    writeFileSync(join(folder, file), text.replace(from, () => to) + more);
  }
  await ensureBuilt(folder);
  return join(folder, 'bin/voxgate.js');
}
