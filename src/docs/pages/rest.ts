// The page of the HTTP interface, out of the OpenAPI document: each operation with a call to try, what it takes and what it
// answers, then every schema.

import { escaped, heading, inline, prose, table } from '../../runtime/html.ts';
import { operations } from '../openapi.ts';
import type { Operation } from '../operations/operation.ts';
import type { Json } from '../schemas/json-schema.ts';
import { code } from './highlight.ts';
import { exampleHtml, membersHtml, schemasHtml, typeHtml } from './schema-html.ts';

const CREDENTIALS: Readonly<Record<Operation['security'], string>> = {
  none: 'No credential.',
  key: 'Credential: an API key in the header `Authorization: Bearer …`.',
  upload:
    'Credential: an API key, or a client token of a key with the scope `tokens_may_upload`, in the header `Authorization: Bearer …`.',
  'key or token':
    'Credential: an API key or a client token, in the header `Authorization: Bearer …`, as the subprotocols `bearer, …`, or as the query parameter `api_key`.',
  metrics: 'Credential: the operator’s token, where one is set.',
};

/** @param document the OpenAPI document */
export function restPage(document: Json): string {
  const { paths, components, info, tags } = document as unknown as Shape;
  const contents = operations.map(
    ({ id, method, path, summary }) =>
      `<li><a href="#${escaped(id)}"><code>${method.toUpperCase()} ${escaped(path)}</code></a> ${escaped(summary)}</li>`,
  );
  const sections = tags.map(({ name, description }) => {
    const own = operations.filter(({ tag }) => tag === name);
    const each = own.map((operation) =>
      operationHtml(operation, paths[operation.path]?.[operation.method] ?? {}, components.schemas),
    );
    return `${heading(2, name.toLowerCase(), name)}\n${prose(description)}\n${each.join('\n')}`;
  });
  return [
    prose(info.description),
    `<ul>${contents.join('\n')}</ul>`,
    ...sections,
    heading(2, 'schemas', 'Schemas'),
    schemasHtml(components.schemas),
  ].join('\n');
}

interface Shape {
  info: { description: string };
  tags: readonly { name: string; description: string }[];
  paths: Readonly<Record<string, Readonly<Record<string, Written>>>>;
  components: { schemas: Json };
}

/** An operation as the document has it. */
interface Written {
  parameters?: readonly Parameter[];
  requestBody?: { content: Readonly<Record<string, { schema: Json }>> };
  responses?: Readonly<Record<string, Response>>;
}

interface Parameter {
  name: string;
  in: string;
  required: boolean;
  description: string;
  schema?: Json;
  content?: Readonly<Record<string, { schema: Json }>>;
}

interface Response {
  description: string;
  headers?: Json;
  content?: Readonly<Record<string, { schema: Json; example?: unknown }>>;
}

function operationHtml(
  { id, method, path, summary, description, security, curl }: Operation,
  written: Written,
  schemas: Json,
): string {
  const parts = [
    heading(3, id, `${summary}: \`${method.toUpperCase()} ${path}\``),
    prose(description),
    prose(CREDENTIALS[security]),
    code(curl, 'sh'),
  ];
  const { parameters = [], requestBody, responses = {} } = written;
  if (parameters.length > 0) parts.push('<h4>Parameters</h4>', parameterTable(parameters));
  for (const [type, { schema }] of Object.entries(requestBody?.content ?? {})) {
    const title = type === 'multipart/form-data' ? 'Fields of the form' : 'Body';
    parts.push(
      `<h4>${title}, <code>${escaped(type)}</code></h4>`,
      membersHtml(resolved(schema, schemas)) || `<p>${typeHtml(schema)}</p>`,
    );
  }
  parts.push('<h4>Answers</h4>', answerTable(responses), ...examplesHtml(responses));
  return parts.join('\n');
}

/** What a reference stands for: what is sent is read where it is sent. */
function resolved(schema: Json, schemas: Json): Json {
  const name = typeof schema.$ref === 'string' ? schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1) : '';
  return Object.hasOwn(schemas, name) ? (schemas[name] as Json) : schema;
}

function parameterTable(parameters: readonly Parameter[]): string {
  const rows = parameters.map(({ name, in: place, required, description, schema, content }) => [
    `<code>${escaped(name)}</code>`,
    `${typeHtml(schema ?? content?.['application/json']?.schema ?? {})}${required ? '' : ', optional'}`,
    escaped(place),
    `${inline(description)}${schema?.default === undefined ? '' : ` Default: <code>${escaped(String(schema.default))}</code>.`}`,
  ]);
  return table(['name', 'type', 'in', 'meaning'], rows);
}

function answerTable(responses: Readonly<Record<string, Response>>): string {
  const rows = Object.entries(responses).map(([status, { description, headers = {}, content = {} }]) => [
    `<code>${escaped(status)}</code>`,
    [...description.split('\n\n').map(inline), ...headerHtml(headers)].join('<br>'),
    Object.entries(content)
      .map(
        ([type, { schema }]) => `<code>${escaped(type)}</code>${status.startsWith('2') ? ` ${typeHtml(schema)}` : ''}`,
      )
      .join('<br>'),
  ]);
  return table(['status', 'when', 'body'], rows);
}

/** Those that not every answer has. */
function headerHtml(headers: Json): string[] {
  const names = Object.keys(headers).filter((name) => name !== 'X-Request-Id' && !name.startsWith('RateLimit-'));
  return names.length === 0 ? [] : [`Headers: ${names.map((name) => `<code>${escaped(name)}</code>`).join(', ')}.`];
}

/** Of what went well. */
const examplesHtml = (responses: Readonly<Record<string, Response>>): string[] =>
  Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, { content = {} }]) =>
      Object.entries(content).flatMap(([type, { example }]) =>
        example === undefined ? [] : [`<p><code>${escaped(type)}</code></p>`, exampleHtml(example)],
      ),
    );
