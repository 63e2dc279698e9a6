// The body of a request to the console, checked against its schema: closed, without coercion, and refused by the member's name.
import type { Static, TObject } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { printable, type Refusal, refuse } from '../../../api/errors.ts';
import type { DoorRequest } from '../../door.ts';
import { readJson } from '../../http/json-body.ts';

/** Of people's forms: an address and two passwords. */
export const FORM_BYTES_MAX = 4096;
/** Of a key's settings: two lists of a hundred, and aliases. */
export const SETTINGS_BYTES_MAX = 65_536;

/** Throws a Refusal that names the member at fault and never shows a value. No body is an empty one. */
export async function readBody<Schema extends TObject>(
  request: DoorRequest,
  schema: Schema,
  bytesMax: number = FORM_BYTES_MAX,
): Promise<Static<Schema>> {
  const body = (await readJson(request, bytesMax)) ?? {};
  if (Value.Check(schema, body)) return body;
  throw refusalOfBody(schema, body);
}

function refusalOfBody(schema: TObject, body: unknown): Refusal {
  const known = Object.keys(schema.properties);
  const takes = known.length === 0 ? 'it takes none' : `it takes ${known.map((name) => `\`${name}\``).join(', ')}`;
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return refuse('invalid_request', `The body is no JSON object; ${takes}.`);
  }
  const unknown = Object.keys(body).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    const param = printable(unknown);
    return refuse('invalid_request', `\`${param}\` is not a member of this body; ${takes}.`, { param });
  }
  const missing = (schema.required ?? []).find((name) => !Object.hasOwn(body, name));
  if (missing !== undefined)
    return refuse('invalid_request', `\`${missing}\` is missing; ${takes}.`, { param: missing });
  const { path = '', schema: wanted } = Value.Errors(schema, body).First() ?? {};
  const param = printable(path.slice(1).replaceAll('/', '.'));
  return refuse('invalid_request', `\`${param}\` must be ${acceptedBy((wanted ?? {}) as Accepted)}.`, { param });
}

interface Accepted {
  type?: string;
  /** What it takes, where that is no length: `an amount such as 12.50`. */
  description?: string;
  const?: unknown;
  anyOf?: readonly Accepted[];
  items?: Accepted;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
}

/** What a schema takes, as people say it: `a whole number, 1 or more`, `listen, transcribe or tokens`. */
function acceptedBy(schema: Accepted): string {
  const { type, anyOf, items, minimum, maximum, minLength, maxLength, minItems, maxItems } = schema;
  if (schema.const !== undefined) return String(schema.const);
  if (anyOf !== undefined) {
    const each = anyOf.map(acceptedBy);
    return each.length === 1 ? (each[0] as string) : `${each.slice(0, -1).join(', ')} or ${each.at(-1)}`;
  }
  if (type === 'null') return 'empty';
  if (schema.description !== undefined) return schema.description;
  if (type === 'string') return `a text${rangeText(minLength, maxLength, ' of', ' characters')}`;
  if (type === 'integer') return `a whole number${rangeText(minimum, maximum, ',', '')}`;
  if (type === 'number') return `a number${rangeText(minimum, maximum, ',', '')}`;
  if (type === 'boolean') return 'true or false';
  if (type === 'array') return `a list${rangeText(minItems, maxItems, ' of', '')}: ${acceptedBy(items ?? {})}`;
  return type === 'object' ? 'an object' : 'another value';
}

function rangeText(min: number | undefined, max: number | undefined, before: string, unit: string): string {
  if (min === undefined && max === undefined) return '';
  const range = max === undefined ? `${min} or more` : min === undefined ? `at most ${max}` : `${min} to ${max}`;
  return `${before} ${range}${unit}`;
}
