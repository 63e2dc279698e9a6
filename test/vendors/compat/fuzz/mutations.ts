// Messages as a client that is broken, or hostile, may send them: mutations of good ones, repeated by their seed.
import type { Random } from '../../../fakes/random.ts';

const VALUES: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1.5, 1e308, Number.MAX_SAFE_INTEGER, '', 'x', 'é\u0000\ud800', '__proto__'],
  ...[[], {}, [[[]]], { type: {} }, 'a'.repeat(5_000), { length: 1e9 }, '-1', 'NaN', '1e999'],
];
const NAMES = ['__proto__', 'constructor', 'type', 'toString', 'audio', 'session', 'x', ''];
const CHARACTERS = ['"', '{', '}', '[', ']', ',', ':', '\\', '\u0000', '\ud800', '0', 'e', '-', ' '];

/** A message that is nearly the given one. */
export function mutatedMessage(text: string, random: Random): string {
  return random.next() < 0.5 ? mutatedText(text, random) : mutatedJson(text, random);
}

/** Cut, doubled, or with characters that are others. */
function mutatedText(text: string, random: Random): string {
  let mutated = text;
  for (let count = random.integer(1, 4); count > 0; count--) {
    const at = random.integer(0, mutated.length);
    const to = Math.min(mutated.length, at + random.integer(0, 6));
    const middle = random.pick([random.pick(CHARACTERS), mutated.slice(0, 40), '']);
    mutated = random.next() < 0.1 ? mutated.slice(0, at) : mutated.slice(0, at) + middle + mutated.slice(to);
  }
  return mutated;
}

/** Well-formed, with members that are missing, others, or of another kind. */
function mutatedJson(text: string, random: Random): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return mutatedText(text, random);
  }
  for (let count = random.integer(1, 3); count > 0; count--) value = mutated(value, random);
  return JSON.stringify(value) ?? 'null';
}

function mutated(value: unknown, random: Random): unknown {
  if (typeof value !== 'object' || value === null || random.next() < 0.1) return random.pick(VALUES);
  const entries = Object.entries(value);
  const at = random.integer(0, entries.length);
  const [name, member] = entries[at] ?? [random.pick(NAMES), undefined];
  const rest = entries.filter((_, index) => index !== at);
  const isDropped = random.next() < 0.2;
  const changed = isDropped ? rest : [...rest, [name, mutated(member, random)] as const];
  return Array.isArray(value) ? changed.map(([, each]) => each) : ownMembers(changed);
}

/** Also where a name is one that assignments take for something else. */
const ownMembers = (entries: readonly (readonly [string, unknown])[]): object =>
  Object.defineProperties(
    {},
    Object.fromEntries(entries.map(([name, value]) => [name, { value, enumerable: true, configurable: true }])),
  );

/** A query that is nearly the given one. */
export function mutatedQuery(query: string, random: Random): URLSearchParams {
  const pairs = [...new URLSearchParams(query)];
  for (let count = random.integer(1, 3); count > 0; count--) {
    const at = random.integer(0, pairs.length);
    const [name, value] = pairs[at] ?? [random.pick([...NAMES, 'model', 'encoding']), ''];
    const other = String(random.pick(VALUES));
    const changed: [string, string][] = [
      [name, random.pick([other, mutatedText(value, random)])],
      [mutatedText(name, random), value],
    ];
    pairs.splice(at, random.integer(0, 1), random.pick(changed));
  }
  return new URLSearchParams(pairs);
}
