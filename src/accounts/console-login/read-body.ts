// The body of a request to the console, checked against its schema: closed, without coercion, and refused by the member's name.
import type { Static, TObject } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { faultOf, listOf, type ValueFault } from '../../api/accepted.ts';
import { printable, type Refusal, refuse } from '../../api/errors.ts';
import type { DoorRequest } from '../../http/door.ts';
import { readJson } from '../../http/http/json-body.ts';

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
  const takes = known.length === 0 ? 'it takes none' : `it takes ${listOf(known)}`;
  const { kind, path, accepts } = faultOf(schema, body) as ValueFault;
  const param = printable(path.join('.'));
  if (param === '') return refuse('invalid_request', `The body is not a JSON object; ${takes}.`);
  if (kind === 'unknown') {
    const others = path.length === 1 ? takes : `there are ${accepts}`;
    return refuse('invalid_request', `\`${param}\` is not a member of this body; ${others}.`, { param });
  }
  if (kind === 'missing') return refuse('invalid_request', `\`${param}\` is missing. Send ${accepts}.`, { param });
  return refuse('invalid_request', `\`${param}\` must be ${accepts}.`, { param });
}
