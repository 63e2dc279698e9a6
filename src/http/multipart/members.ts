// Objects and lists as client libraries write them into forms, member by member: `provider_params[keyterm][]`, `fallbacks[]`. They
// become the one JSON text that the field is otherwise. What a field means, and whether it is well-formed, is the route's.
import type { TSchema } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { booleanIn } from '../../api/boolean.ts';
import { printable, type Refusal, refuse } from '../../api/errors.ts';
import type { Field } from './form-fields.ts';

/** Fields that may come member by member. Other names with brackets are names. */
const JOINED = ['provider_params', 'fallbacks'];
const DEPTH_MAX = 8;

/** An object without a prototype, a list of texts, or a text. */
type Tree = string | string[] | { [name: string]: Tree };

/**
 * The fields, with members joined. A form has texts alone, so members are typed by `schemaOf(field)`, where there is one for that
 * field; what does not fit it stays a text. Throws a Refusal naming the field where a form cannot say what was meant.
 */
export function joinMembers(
  fields: readonly Field[],
  schemaOf: (field: string) => TSchema | undefined,
): readonly Field[] {
  const trees = new Map<string, Tree>();
  const others: Field[] = [];
  for (const [name, value] of fields) {
    const field = JOINED.find((each) => name.startsWith(`${each}[`));
    if (field === undefined) others.push([name, value]);
    else trees.set(field, withMember(trees.get(field), pathOf(field, name), value, field));
  }
  if (trees.size === 0) return fields;
  const joined = [...trees].map(([field, tree]): Field => {
    if (others.some(([name]) => name === field)) {
      throw refuse('duplicate_parameter', `The form has \`${field}\` whole and by its members. Send one of them.`, {
        param: field,
      });
    }
    const schema = schemaOf(field);
    return [field, JSON.stringify(schema === undefined ? tree : Value.Convert(schema, withBooleans(schema, tree)))];
  });
  return [...others, ...joined];
}

/** The members that lead to the value; the last is empty for a value of a list. */
function pathOf(field: string, name: string): string[] {
  const rest = name.slice(field.length);
  const path = [...rest.matchAll(/\[([^[\]]*)\]/g)].map(([, member]) => member as string);
  if (path.map((member) => `[${member}]`).join('') !== rest || path.length > DEPTH_MAX) {
    throw unclear(field, `\`${printable(name)}\` is no member of it`);
  }
  if (path.indexOf('') !== -1 && path.indexOf('') !== path.length - 1) {
    throw unclear(field, 'a form does not say where an object in a list ends');
  }
  return path;
}

function withMember(tree: Tree | undefined, path: readonly string[], value: string, field: string): Tree {
  const [member, ...deeper] = path;
  if (member === undefined) {
    if (tree === undefined) return value;
  } else if (member === '') {
    if (tree === undefined || Array.isArray(tree)) return [...(tree ?? []), value];
  } else if (tree === undefined || (typeof tree === 'object' && !Array.isArray(tree))) {
    const object: { [name: string]: Tree } = tree ?? Object.create(null);
    object[member] = withMember(object[member], deeper, value, field);
    return object;
  }
  throw unclear(field, 'one of its members is given twice');
}

/** Booleans are written as in any other field. */
function withBooleans(schema: TSchema, tree: Tree): unknown {
  if (isFlag(schema)) return booleanIn(tree) ?? tree;
  if (typeof tree === 'string' || Array.isArray(tree)) return tree;
  const { properties = {} } = schema as { properties?: Record<string, TSchema> };
  return Object.fromEntries(
    Object.entries(tree).map(([name, inner]) => {
      const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
      return [name, own === undefined ? inner : withBooleans(own, inner)];
    }),
  );
}

/** Or a list, whose members come under another name. */
const isFlag = ({ type, anyOf = [] }: TSchema): boolean =>
  type === 'boolean' || (anyOf.some(isFlag) && anyOf.every((each: TSchema) => isFlag(each) || each.type === 'array'));

const unclear = (field: string, why: string): Refusal =>
  refuse(
    'invalid_request',
    `\`${field}\` cannot be read: ${why}. Send it as one JSON text: with a client library, JSON.stringify(…) or json.dumps(…).`,
    { param: field },
  );
