// The pages of the HTTP and of the live interface, from the OpenAPI and the AsyncAPI document: each operation with a call to try, how a
// session is opened and closed and what is sent in both directions, then every schema.
import { escaped, heading, inline, prose, table } from '../../runtime/html.ts';
import { operations } from '../openapi.ts';
import type { Operation } from '../operations/operation.ts';
import type { Json } from '../schemas/schemas.ts';
import { code } from './highlight.ts';

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
  const { paths, components, info, tags } = document as unknown as OpenapiShape;
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

interface OpenapiShape {
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

const BROWSER = `const { token } = await (await fetch('/your-server/token')).json(); // POST /v1/tokens, with the key, on your server
const socket = new WebSocket('{socket}/v1/listen?model=local/dictation-en', ['bearer', token]);
socket.onmessage = ({ data }) => {
  const event = JSON.parse(data);
  if (event.type === 'transcript' && event.is_final) console.log(event.text);
};
// Send 16-bit samples as they come: socket.send(samples.buffer)
// At the end: socket.send('{"type":"close"}')`;

interface Message {
  name: string;
  title: string;
  summary: string;
  description?: string;
  payload: Json;
  examples?: readonly { payload: unknown }[];
}

interface AsyncapiShape {
  info: { description: string };
  channels: { listen: { bindings: { ws: { query: Json } } } };
  operations: Readonly<Record<'send' | 'receive', { messages: readonly { $ref: string }[] }>>;
  components: {
    messages: Readonly<Record<string, Message>>;
    schemas: Readonly<Record<string, Json>>;
    securitySchemes: Readonly<Record<string, { description: string }>>;
  };
}

/** @param document the AsyncAPI document */
export function livePage(document: Json): string {
  const { info, channels, operations, components } = document as unknown as AsyncapiShape;
  const { messages, schemas, securitySchemes } = components;
  const told = (way: 'send' | 'receive') =>
    operations[way].messages.flatMap(({ $ref }) => {
      const message = messages[$ref.slice($ref.lastIndexOf('/') + 1)];
      return message === undefined ? [] : [messageHtml(message, schemas)];
    });
  const shown = Object.entries(schemas).filter(([name]) => messages[name] === undefined);
  return [
    prose(info.description),
    code(BROWSER, 'js'),
    heading(2, 'credentials', 'Credentials'),
    prose('The first place that is used is the one that counts, whatever stands in it.'),
    `<ol>${Object.values(securitySchemes)
      .map(({ description }) => `<li>${inline(description)}</li>`)
      .join('\n')}</ol>`,
    heading(2, 'query', 'Query parameters'),
    membersHtml(channels.listen.bindings.ws.query),
    heading(2, 'client', 'What you send'),
    ...told('receive'),
    heading(2, 'server', 'What you hear'),
    prose('Every event has `type`, `session_id`, `seq` and `at`.'),
    ...told('send'),
    heading(2, 'close-codes', 'Close codes'),
    prose(
      'What each code means, and which errors come before it: [errors and close codes](/docs/reference/errors#close-codes).',
    ),
    heading(2, 'schemas', 'Schemas'),
    schemasHtml(Object.fromEntries(shown)),
  ].join('\n');
}

function messageHtml(
  { name, title, summary, description, payload, examples = [] }: Message,
  schemas: Readonly<Record<string, Json>>,
): string {
  const reference = payload.$ref;
  const schema = typeof reference === 'string' ? schemas[reference.slice(reference.lastIndexOf('/') + 1)] : undefined;
  return [
    heading(3, `message-${name}`, `\`${name}\``),
    schema === undefined ? prose(`${summary} ${description ?? ''}`) : schemaHtml(schema),
    ...examples.map(({ payload: example }) => exampleHtml(example)),
    title === name ? '' : `<p>Schema <code>${title}</code>.</p>`,
  ].join('\n');
}

const asJson = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {});
const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.map(asJson) : []);

const schemaId = (name: string): string => `schema-${name}`;

/** Every named schema under a heading of its own. */
function schemasHtml(schemas: Json): string {
  return Object.entries(schemas)
    .map(([name, schema]) => `${heading(3, schemaId(name), name)}\n${schemaHtml(asJson(schema))}`)
    .join('\n');
}

/** What a schema takes: its description, then its members or its type. */
function schemaHtml(schema: Json): string {
  const said = typeof schema.description === 'string' ? prose(schema.description) : '';
  const members = membersHtml(schema);
  return `${said}\n${members === '' ? `<p>${typeHtml(schema)}</p>` : members}`;
}

/** The members of an object as a table; empty where there are none. */
function membersHtml(schema: Json): string {
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
function typeHtml(schema: Json): string {
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
const exampleHtml = (example: unknown): string =>
  typeof example === 'string' ? code(example) : code(JSON.stringify(example, null, 2), 'json');
