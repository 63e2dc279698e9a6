// Plain data, and as text for what leaves the process: JSON, in which big integers, bytes, undefined and numbers without an end
// survive.

/** Deeper than anything that is sent. */
const DEPTH_MAX = 64;

/**
 * Throws a TypeError for what is not plain data: functions, symbols, dates, maps, what refers to itself. Members that JSON has no
 * word for are written as `{"$n": …}`; an object that has such a member itself as `{"$o": [[name, value], …]}`.
 */
export function textOfPlain(value: unknown): string {
  return written(value, 0);
}

/** Throws a SyntaxError or TypeError for any text that `textOfPlain` has not made. */
export function plainOfText(text: string): unknown {
  return read(JSON.parse(text), 0);
}

// Calls of the accounts are written and read with this many times a second, on each replica: text is built directly, and what was
// parsed is restored in place.
function written(value: unknown, depth: number): string {
  if (depth > DEPTH_MAX) throw new TypeError('The data is nested too deeply.');
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'number':
      if (Object.is(value, -0)) return '{"$f":"-0"}';
      return Number.isFinite(value) ? `${value}` : `{"$f":"${value}"}`;
    case 'bigint':
      return `{"$n":"${value}"}`;
    case 'undefined':
      return '{"$u":0}';
    case 'object':
      return value === null ? 'null' : writtenObject(value, depth);
    default:
      throw new TypeError(`A ${typeof value} is no plain data.`);
  }
}

function writtenObject(value: object, depth: number): string {
  if (Array.isArray(value)) return writtenArray(value, depth);
  if (value instanceof Uint8Array) {
    return `{"$b":"${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')}"}`;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null)
    throw new TypeError('An object of a class is no plain data.');
  const names = Object.keys(value);
  if (names.some(isForm)) return `{"$o":[${writtenMembers(value, names, depth, '[', ',', ']')}]}`;
  return `{${writtenMembers(value, names, depth, '', ':', '')}}`;
}

const isForm = (name: string): boolean => name.startsWith('$');

function writtenArray(values: readonly unknown[], depth: number): string {
  let text = '[';
  for (let at = 0; at < values.length; at++) text += (at === 0 ? '' : ',') + written(values[at], depth + 1);
  return `${text}]`;
}

function writtenMembers(
  value: object,
  names: readonly string[],
  depth: number,
  before: string,
  between: string,
  behind: string,
): string {
  let text = '';
  for (const name of names) {
    const member = written((value as Record<string, unknown>)[name], depth + 1);
    text += `${text === '' ? '' : ','}${before}${JSON.stringify(name)}${between}${member}${behind}`;
  }
  return text;
}

function read(value: unknown, depth: number): unknown {
  if (depth > 2 * DEPTH_MAX) throw new TypeError('The data is nested too deeply.');
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) value[at] = read(value[at], depth + 1);
    return value;
  }
  return readObject(value as Record<string, unknown>, depth);
}

function readObject(value: Record<string, unknown>, depth: number): unknown {
  const names = Object.keys(value);
  const [first] = names;
  if (first !== undefined && isForm(first)) {
    if (names.length !== 1) throw new TypeError('The data has a form of its own beside other members.');
    return readForm(first, value[first], depth);
  }
  for (const name of names) {
    if (isForm(name)) throw new TypeError('The data has a form among other members.');
    const before = value[name];
    const after = read(before, depth + 1);
    if (after !== before) setMember(value, name, after);
  }
  return value;
}

/** An assignment to `__proto__` would change what the object inherits. */
function setMember(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') target[name] = value;
  else Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}

function readForm(name: string, content: unknown, depth: number): unknown {
  if (name === '$u' && content === 0) return undefined;
  if (name === '$o' && Array.isArray(content)) return Object.fromEntries(content.map((each) => entryOf(each, depth)));
  if (typeof content === 'string') {
    if (name === '$n' && /^-?\d{1,1000}$/.test(content)) return BigInt(content);
    if (name === '$b') return new Uint8Array(Buffer.from(content, 'base64'));
    if (name === '$f' && ['NaN', 'Infinity', '-Infinity', '-0'].includes(content)) return Number(content);
  }
  throw new TypeError('The data has a form that there is not.');
}

function entryOf(each: unknown, depth: number): [string, unknown] {
  if (!Array.isArray(each) || each.length !== 2 || typeof each[0] !== 'string') {
    throw new TypeError('The data has a member that is none.');
  }
  return [each[0], read(each[1], depth + 1)];
}

/** Whether what came from elsewhere as JSON has members by name. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
