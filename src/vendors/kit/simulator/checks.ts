// Whether what a client asks for is what a service takes: query, form and JSON against one schema. The schema states what the
// service documents, and never what the gateway sends.
import { Kind, type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { faultOf } from '../../../api/accepted.ts';
import { type JsonObject, jsonOf, objectOf } from '../json.ts';
import type { SimulatedRequest } from '../simulation.ts';

export interface ValueFault {
  kind: 'unknown' | 'missing' | 'invalid';
  /** Dots between the members of an object: `audio.format.rate`. */
  member: string;
  message: string;
}

/** The first thing that is wrong, unknown members before others where the schema takes no more. */
export function faultIn(schema: TSchema, value: unknown): ValueFault | undefined {
  const fault = faultOf(schema, value);
  if (fault === undefined) return undefined;
  const { kind, path, accepts } = fault;
  const message = {
    unknown: `not known; there are ${accepts}`,
    missing: `missing; send ${accepts}`,
    invalid: `send ${accepts}`,
  };
  return { kind, member: path.join('.'), message: message[kind] };
}

/** The first thing that is wrong, in one line. */
export function wrongIn(schema: TSchema, value: unknown): string | undefined {
  const fault = faultIn(schema, value);
  return fault && `${fault.member}: ${fault.message}`;
}

/** An object with these members; any others are refused, or ignored where that is said. */
export function members(
  required: TProperties,
  optional: TProperties,
  others: 'refused' | 'ignored' = 'refused',
): TObject {
  const optionals = Object.entries(optional).map(([name, schema]) => [name, Type.Optional(schema)]);
  return Type.Object({ ...required, ...Object.fromEntries(optionals) }, { additionalProperties: others === 'ignored' });
}

/** One of these values. */
export const oneOf = <Value extends string | number>(...values: readonly Value[]) =>
  Type.Union(values.map((value) => Type.Literal(value)));

/**
 * What the texts of a query or form say, by the types of the schema: a name twice, or with `[]`, is a list, and `a[b]` a member
 * of `a`. Texts that are not of their type stay as they are. `lists: 'json'` is for services whose lists are one JSON text.
 */
export function valuesOf(texts: URLSearchParams | FormData, schema: TObject, lists: 'repeated' | 'json' = 'repeated') {
  const values: Record<string, unknown> = {};
  for (const name of new Set(texts.keys())) {
    const [, base = name, inner] = /^([^[]*)\[(.*)\]$/.exec(name) ?? [];
    const [text = '', ...more] = texts.getAll(name).map(String);
    const member = schema.properties[base];
    const isList = member?.[Kind] === 'Array';
    if (inner) values[base] = { ...(values[base] as object | undefined), [inner]: jsonOf(text) ?? text };
    else if (isList && lists === 'repeated') values[base] = [text, ...more];
    else if (isList && more.length > 0) values[base] = [text, ...more].join(' ');
    else values[base] = member === undefined || Value.Check(member, text) ? text : (jsonOf(text) ?? text);
  }
  return values;
}

/** The form of a request; undefined for what is none. */
export async function formOf({ headers, body }: SimulatedRequest): Promise<FormData | undefined> {
  try {
    return await new Response(body, { headers: { 'content-type': headers['content-type'] ?? '' } }).formData();
  } catch {
    return undefined;
  }
}

/** The bytes of a form's file; undefined where there is none. */
export async function fileIn(form: FormData | undefined, member: string): Promise<Uint8Array | undefined> {
  const file = form?.get(member);
  return file instanceof Blob ? new Uint8Array(await file.arrayBuffer()) : undefined;
}

/** The JSON object of a request; empty for what is none. */
export const bodyOf = ({ body }: SimulatedRequest): JsonObject => objectOf(new TextDecoder().decode(body));

/** The bytes of audio that came as base64. */
export function audioIn(value: unknown): Uint8Array | undefined {
  return typeof value === 'string' && /^[A-Za-z0-9+/]*={0,2}$/.test(value) ? Buffer.from(value, 'base64') : undefined;
}
