// What a schema accepts and what is wrong with a value, in words for people. The schema library's own messages ("Expected union value") are for
// its authors and reach nobody.
import { type TSchema, TypeGuard } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';

export interface ValueFault {
  kind: 'unknown' | 'missing' | 'invalid';
  /** Members and indexes from the value to the fault; empty for the value itself. */
  path: string[];
  /** What is accepted there, to be read after "Send"; of an unknown member, those that there are. */
  accepts: string;
}

/** The first fault of a value: unknown members first, then missing ones. Undefined where the schema accepts it. */
export function faultOf(schema: TSchema, value: unknown): ValueFault | undefined {
  if (Value.Check(schema, value)) return undefined;
  return inObject(schema, value) ?? inList(schema, value) ?? inUnion(schema, value) ?? invalid(schema);
}

const invalid = (schema: TSchema): ValueFault => ({ kind: 'invalid', path: [], accepts: acceptedBy(schema) });

const below = (name: string | number, fault: ValueFault): ValueFault => ({
  ...fault,
  path: [String(name), ...fault.path],
});

function inObject(schema: TSchema, value: unknown): ValueFault | undefined {
  if (!TypeGuard.IsObject(schema) || !isRecord(value)) return undefined;
  const { properties, required = [], additionalProperties } = schema;
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(properties, name));
  if (additionalProperties === false && unknown !== undefined)
    return { kind: 'unknown', path: [unknown], accepts: listOf(Object.keys(properties)) };
  const missing = required.find((name) => value[name] === undefined);
  if (missing !== undefined)
    return { kind: 'missing', path: [missing], accepts: acceptedBy(properties[missing] as TSchema) };
  for (const [name, member] of Object.entries(properties)) {
    const fault = value[name] === undefined ? undefined : faultOf(member, value[name]);
    if (fault !== undefined) return below(name, fault);
  }
  return undefined;
}

function inList(schema: TSchema, value: unknown): ValueFault | undefined {
  if (!TypeGuard.IsArray(schema) || !Array.isArray(value)) return undefined;
  for (const [at, item] of value.entries()) {
    const fault = faultOf(schema.items, item);
    if (fault !== undefined) return below(at, fault);
  }
  return undefined;
}

/** Of a value that may have several shapes: the fault of the shape that it is most like, where it is like one. */
function inUnion(schema: TSchema, value: unknown): ValueFault | undefined {
  if (!TypeGuard.IsUnion(schema)) return undefined;
  const faults = schema.anyOf.flatMap((each: TSchema) => inObject(each, value) ?? inList(each, value) ?? []);
  return faults.sort((one: ValueFault, other: ValueFault) => other.path.length - one.path.length)[0];
}

/** What a schema accepts, to be read after "Send": `a whole number from 1 to 10`, `"low" or "high"`. */
export function acceptedBy(schema: TSchema): string {
  if (typeof schema.accepts === 'string') return schema.accepts;
  if (TypeGuard.IsLiteral(schema)) return JSON.stringify(schema.const);
  if (TypeGuard.IsUnion(schema)) return joined([...new Set(schema.anyOf.map(acceptedBy))]);
  if (TypeGuard.IsBoolean(schema)) return 'true or false';
  if (TypeGuard.IsNull(schema)) return 'null';
  if (TypeGuard.IsInteger(schema)) return `a whole number${rangeOf(schema)}`;
  if (TypeGuard.IsNumber(schema)) return `a number${rangeOf(schema)}`;
  if (TypeGuard.IsString(schema)) return textBy(schema);
  if (TypeGuard.IsArray(schema)) return `a list${countOf(schema)}, each ${acceptedBy(schema.items)}`;
  if (TypeGuard.IsObject(schema)) {
    const names = Object.keys(schema.properties);
    return names.length === 0 ? 'an object' : `an object with ${listOf(names)}`;
  }
  if (TypeGuard.IsRecord(schema)) return 'an object';
  if (TypeGuard.IsTuple(schema)) return 'a list';
  return TypeGuard.IsUnknown(schema) || TypeGuard.IsAny(schema) ? 'any value' : 'another value';
}

/** Names as a message shows them: `a`, `b` and `c`. */
export const listOf = (names: readonly string[]): string =>
  joined(
    names.map((name) => `\`${name}\``),
    'and',
  );

function textBy({ minLength = 0, maxLength, pattern, examples }: TSchema): string {
  const isShort = maxLength !== undefined && maxLength > 0;
  const least = minLength > 0 ? `${minLength} to ` : 'at most ';
  const length = isShort ? ` of ${least}${maxLength} characters` : minLength > 0 ? ' that is not empty' : '';
  const form = pattern === undefined || !Array.isArray(examples) ? '' : ` such as ${joined(examples.map(quoted))}`;
  return `a text${length}${form}`;
}

const quoted = (example: unknown): string => JSON.stringify(example);

function rangeOf({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: TSchema): string {
  const least = minimum ?? exclusiveMinimum;
  const most = maximum ?? exclusiveMaximum;
  if (least !== undefined && most !== undefined && minimum === least && maximum === most)
    return ` from ${least} to ${most}`;
  const lower = minimum !== undefined ? `${minimum} or more` : least === undefined ? '' : `more than ${least}`;
  const upper = maximum !== undefined ? `at most ${maximum}` : most === undefined ? '' : `less than ${most}`;
  const both = [lower, upper].filter((each) => each !== '').join(' and ');
  return both === '' ? '' : `, ${both}`;
}

function countOf({ minItems = 0, maxItems, uniqueItems }: TSchema): string {
  const items = uniqueItems === true ? 'different items' : 'items';
  if (maxItems === undefined) return minItems > 0 ? ` of ${minItems} or more ${items}` : '';
  return minItems > 0 ? ` of ${minItems} to ${maxItems} ${items}` : ` of at most ${maxItems} ${items}`;
}

function joined(words: readonly string[], last = 'or'): string {
  if (words.length < 2) return words[0] ?? '';
  return `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
