// Validators out of a document of the gateway, stricter than the document is to clients: a member that it does not name is wrong.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Json } from '../../src/docs/schemas/schemas.ts';

const asJson = (value: unknown): Json | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;

export class StrictSchemas {
  readonly #ajv = new Ajv2020({ strict: false, validateSchema: false, allErrors: true, validateFormats: false });

  constructor(document: Json) {
    this.#ajv.addSchema(closed(document) as Json, 'document');
  }

  /** @param path the names of the members that lead to the schema */
  problems(path: readonly string[], value: unknown): string[] {
    const pointer = path.map((name) => `/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`);
    const validate = this.#ajv.getSchema(`document#${pointer.join('')}`) as ValidateFunction | undefined;
    if (validate === undefined) return [`the document has no schema at ${path.join(' ')}`];
    if (validate(value)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath || 'the body'} ${message} ${JSON.stringify(params)}`,
    );
  }
}

/** The same, in which objects have no members but those that are named. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  const json = asJson(value);
  if (json === undefined) return value;
  const copy = Object.fromEntries(Object.entries(json).map(([name, member]) => [name, closed(member)]));
  const isOpen =
    json.type === 'object' && asJson(json.properties) !== undefined && json.additionalProperties === undefined;
  return isOpen ? { ...copy, additionalProperties: false } : copy;
}
