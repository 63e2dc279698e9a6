// What is wrong with a part of the configuration file that is more than single values: a sentence for each fault, by its place.
import { type TSchema, TypeGuard } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { shown } from '../config-error.ts';
import { suggestion } from '../names.ts';

/** @param place of the value in the file, such as `custom[0].url` */
export function faultsIn(schema: TSchema, value: unknown, place: string): string[] {
  if (TypeGuard.IsObject(schema)) return faultsInObject(schema.properties, schema.required ?? [], value, place);
  const items: TSchema | undefined = TypeGuard.IsArray(schema) ? schema.items : undefined;
  if (
    items !== undefined &&
    TypeGuard.IsObject(items) &&
    Array.isArray(value) &&
    value.length >= (schema.minItems ?? 0)
  )
    return value.flatMap((item, index) => faultsIn(items, item, `${place}[${index}]`));
  if (Value.Check(schema, value)) return [];
  const problem = schema.quotable === false ? 'cannot be used' : `is ${isNested(value) ? 'an object' : shown(value)}`;
  return [`${place} in the configuration file ${problem}; it is ${acceptedBy(schema)}.`];
}

/** Members of such may be keys, which are never shown. */
const isNested = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !(Array.isArray(value) && !value.some(isNested));

function faultsInObject(
  properties: Readonly<Record<string, TSchema>>,
  required: readonly string[],
  value: unknown,
  place: string,
): string[] {
  const names = Object.keys(properties);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return [`${place} in the configuration file is no object; it is an object with the members ${names.join(', ')}.`];
  const given = value as Readonly<Record<string, unknown>>;
  const known = names.map((name) => `${place}.${name}`);
  const unknown = Object.keys(given)
    .filter((name) => !names.includes(name))
    .map((name) => `${place}.${name}`);
  return [
    ...unknown.map(
      (name) => `${shown(name)} in the configuration file is not a member of Voxgate; ${suggestion(name, known)}.`,
    ),
    ...Object.entries(properties).flatMap(([name, schema]) => {
      if (given[name] !== undefined) return faultsIn(schema, given[name], `${place}.${name}`);
      if (!required.includes(name)) return [];
      return [`${place}.${name} is missing in the configuration file; it is ${acceptedBy(schema)}.`];
    }),
  ];
}

const acceptedBy = (schema: TSchema): string =>
  String(schema.accepts ?? (TypeGuard.IsBoolean(schema) ? 'true or false' : 'another value'));
