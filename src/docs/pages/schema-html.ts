// JSON Schemas as tables: members with their types, ranges and meaning. Named schemas become links to their own heading.

import { escaped, heading, inline, prose, table } from '../../runtime/html.ts';
import type { Json } from '../schemas/json-schema.ts';
import { code } from './highlight.ts';

const asJson = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {});
const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.map(asJson) : []);

export const schemaId = (name: string): string => `schema-${name}`;

/** Every named schema under a heading of its own. */
export function schemasHtml(schemas: Json): string {
  return Object.entries(schemas)
    .map(([name, schema]) => `${heading(3, schemaId(name), name)}\n${schemaHtml(asJson(schema))}`)
    .join('\n');
}

/** What a schema takes: its description, then its members or its type. */
export function schemaHtml(schema: Json): string {
  const said = typeof schema.description === 'string' ? prose(schema.description) : '';
  const members = membersHtml(schema);
  return `${said}\n${members === '' ? `<p>${typeHtml(schema)}</p>` : members}`;
}

/** The members of an object as a table; empty where there are none. */
export function membersHtml(schema: Json): string {
  const rows = memberRows(schema, '');
  return rows.length === 0 ? '' : table(['member', 'type', 'meaning'], rows);
}

function memberRows(schema: Json, prefix: string): string[][] {
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(asJson(schema.properties)).flatMap(([name, value]) => {
    const member = asJson(value);
    const path = `${prefix}${name}`;
    const optional = required.includes(name) ? '' : ', optional';
    const row = [`<code>${escaped(path)}</code>`, `${typeHtml(member)}${optional}`, meaningHtml(member)];
    const inner =
      member.type === 'array' ? memberRows(asJson(member.items), `${path}[].`) : memberRows(member, `${path}.`);
    return [row, ...inner];
  });
}

/** The type with everything that bounds it. */
export function typeHtml(schema: Json): string {
  if (typeof schema.$ref === 'string') return referenceHtml(schema.$ref);
  if (schema.const !== undefined) return `<code>${escaped(JSON.stringify(schema.const))}</code>`;
  if (Array.isArray(schema.enum)) return schema.enum.map((text) => `<code>${escaped(String(text))}</code>`).join(' ');
  const choices = [...listOf(schema.anyOf), ...listOf(schema.oneOf)];
  if (choices.length > 0) return choices.map(typeHtml).join(' or ');
  if (schema.type === 'array') return `list of ${typeHtml(asJson(schema.items))}${rangeText(schema, 'Items')}`;
  const types = Array.isArray(schema.type) ? schema.type : [schema.type ?? 'anything'];
  return escaped(`${types.join(' or ')}${rangeText(schema, '')}${rangeText(schema, 'Length')}`);
}

function referenceHtml(reference: string): string {
  const name = reference.slice(reference.lastIndexOf('/') + 1);
  return `<a href="#${escaped(schemaId(name))}">${escaped(name)}</a>`;
}

const UNITS: Readonly<Record<string, string>> = { Items: ' items', Length: ' characters', '': '' };

function rangeText(schema: Json, what: '' | 'Items' | 'Length'): string {
  const [min, max] = what === '' ? [schema.minimum, schema.maximum] : [schema[`min${what}`], schema[`max${what}`]];
  if (min === undefined && max === undefined) return '';
  const range = max === undefined ? `at least ${min}` : min === undefined ? `at most ${max}` : `${min} to ${max}`;
  return ` (${range}${UNITS[what]})`;
}

function meaningHtml({ description, default: usual }: Json): string {
  const said = typeof description === 'string' ? inline(description) : '';
  return usual === undefined ? said : `${said} Default: <code>${escaped(String(usual))}</code>.`;
}

/** A value as it goes over the wire: texts as they are, everything else as indented JSON. */
export const exampleHtml = (example: unknown): string =>
  typeof example === 'string' ? code(example) : code(JSON.stringify(example, null, 2), 'json');
