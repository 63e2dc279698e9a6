// Plain data, and as text for what leaves the process: JSON, in which big integers, bytes, undefined and numbers without an end
// survive.

/** Deeper than anything that is sent. */
const DEPTH_MAX = 64;

/**
 * Throws a TypeError for what is not plain data: functions, symbols, dates, maps, what refers to itself. Members that JSON has no
 * word for are written as `{"$n": …}`; an object that has such a member itself as `{"$o": [[name, value], …]}`.
 */
export function textOfPlain(value: unknown): string {
  return JSON.stringify(written(value, 0));
}

/** Throws a SyntaxError or TypeError for any text that `textOfPlain` has not made. */
export function plainOfText(text: string): unknown {
  return read(JSON.parse(text), 0);
}

function written(value: unknown, depth: number): unknown {
  if (depth > DEPTH_MAX) throw new TypeError('The data is nested too deeply.');
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0) ? value : { $f: Object.is(value, -0) ? '-0' : `${value}` };
    case 'bigint':
      return { $n: value.toString() };
    case 'undefined':
      return { $u: 0 };
    case 'object':
      return value === null ? null : writtenObject(value, depth);
    default:
      throw new TypeError(`A ${typeof value} is no plain data.`);
  }
}

function writtenObject(value: object, depth: number): unknown {
  if (value instanceof Uint8Array) {
    return { $b: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64') };
  }
  if (Array.isArray(value)) return Array.from(value, (each) => written(each, depth + 1));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null)
    throw new TypeError('An object of a class is no plain data.');
  const entries = Object.entries(value).map(([name, each]) => [name, written(each, depth + 1)] as const);
  if (entries.some(([name]) => name.startsWith('$'))) return { $o: entries };
  return Object.fromEntries(entries);
}

function read(value: unknown, depth: number): unknown {
  if (depth > 2 * DEPTH_MAX) throw new TypeError('The data is nested too deeply.');
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => read(each, depth + 1));
  const entries = Object.entries(value);
  const [[name, content] = []] = entries;
  if (name === undefined || !name.startsWith('$')) return objectOf(entries, depth);
  if (entries.length !== 1) throw new TypeError('The data has a form of its own beside other members.');
  return readForm(name, content, depth);
}

const objectOf = (entries: readonly (readonly [string, unknown])[], depth: number): object => {
  if (entries.some(([name]) => name.startsWith('$'))) throw new TypeError('The data has a form among other members.');
  return Object.fromEntries(entries.map(([name, each]) => [name, read(each, depth + 1)]));
};

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
