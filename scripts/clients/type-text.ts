// A JSON Schema as the text of a TypeScript type. Bounds, patterns and defaults are not types: they are left to the gateway.
import type { TSchema } from '@sinclair/typebox';

/** Names of types, by what they say: the same type is written once, and named wherever it comes again. */
export type TypeNames = ReadonlyMap<string, string>;

/** An object type is an interface, any other an alias. */
export function declaration(name: string, what: string, type: string, base?: string): string {
  const head = `/** ${what} */\nexport `;
  if (!isObject(type)) return `${head}type ${name} = ${type};`;
  return `${head}interface ${name} ${base === undefined ? '' : `extends ${base} `}${type}`;
}

export const memberName = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : `'${name}'`);

/** Throws for a schema that this project does not use. */
export function typeText(schema: TSchema, names: TypeNames): string {
  const text = plainText(schema, names);
  return names.get(text) ?? text;
}

function plainText(schema: TSchema, names: TypeNames): string {
  if (schema.const !== undefined) return literal(schema.const);
  if (Array.isArray(schema.anyOf)) return schema.anyOf.map((each: TSchema) => typeText(each, names)).join(' | ');
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return arrayText(typeText(schema.items, names));
    case 'object':
      return objectText(schema, names);
    case undefined:
      return 'unknown';
    default:
      throw new Error(`No type for the schema ${JSON.stringify(schema)}.`);
  }
}

/** One object type, not several. */
const isObject = (type: string): boolean => /^\{\n(?:(?!\n\} \| )[\s\S])*\n\}$/.test(type);

const literal = (value: unknown): string => (typeof value === 'string' ? `'${value}'` : String(value));

const arrayText = (item: string): string => (/^\w+$/.test(item) ? `${item}[]` : `(${item})[]`);

/** Of an object whose members may have any name; anything when it does not say. */
export const memberSchemaOf = ({ patternProperties = {} }: TSchema): TSchema =>
  (Object.values(patternProperties)[0] ?? {}) as TSchema;

function objectText(schema: TSchema, names: TypeNames): string {
  if (schema.properties === undefined) return `Record<string, ${typeText(memberSchemaOf(schema), names)}>`;
  if (Object.keys(schema.properties).length === 0) return 'Record<string, never>';
  const required: readonly string[] = schema.required ?? [];
  const members = Object.entries<TSchema>(schema.properties).map(([name, member]) => {
    const comment = member.description === undefined ? '' : `/** ${member.description} */\n`;
    return `${comment}${memberName(name)}${required.includes(name) ? '' : '?'}: ${typeText(member, names)};`;
  });
  return `{\n${members.join('\n')}\n}`;
}
