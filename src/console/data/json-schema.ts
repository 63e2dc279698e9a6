// Options and credentials as the gateway describes them: the part of JSON Schema that its schemas use.
export interface Schema {
  type?: string;
  const?: unknown;
  enum?: readonly unknown[];
  anyOf?: readonly Schema[];
  items?: Schema;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  description?: string;
  title?: string;
  default?: unknown;
  examples?: readonly unknown[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  maxItems?: number;
  /** Of credentials: not to be shown. */
  secret?: boolean;
}

export interface Property {
  name: string;
  schema: Schema;
  required: boolean;
}

export function propertiesOf(schema: Schema): Property[] {
  return Object.entries(schema.properties ?? {}).map(([name, member]) => ({
    name,
    schema: member,
    required: schema.required?.includes(name) ?? false,
  }));
}

/** The values that may be chosen from; undefined where any will do. */
export function choicesOf({ enum: listed, const: only, anyOf }: Schema): readonly unknown[] | undefined {
  if (listed !== undefined) return listed;
  if (only !== undefined) return [only];
  const choices = anyOf?.map(choicesOf);
  return choices?.every((each) => each !== undefined) ? choices.flat() : undefined;
}

/** What a member takes, in a few words: `integer, 10 to 300`, `one of a, b`. */
export function acceptedBy(schema: Schema): string {
  const choices = choicesOf(schema);
  if (choices !== undefined) return choices.length === 1 ? String(choices[0]) : `one of ${choices.join(', ')}`;
  if (schema.anyOf !== undefined) return schema.anyOf.map(acceptedBy).join(', or ');
  if (schema.type === 'array') {
    const most = schema.maxItems === undefined ? '' : ` (${schema.maxItems} at most)`;
    return `list of ${acceptedBy(schema.items ?? {})}${most}`;
  }
  return [schema.type ?? 'any value', rangeOf(schema)].filter((part) => part !== '').join(', ');
}

function rangeOf({ minimum, maximum, maxLength }: Schema): string {
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}`;
  if (minimum !== undefined) return `${minimum} or more`;
  if (maximum !== undefined) return `${maximum} at most`;
  return maxLength === undefined ? '' : `${maxLength} characters at most`;
}
