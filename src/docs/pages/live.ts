// The page of the live interface, out of the AsyncAPI document: how a session is opened, what is said in both directions, and
// how it is closed.

import { heading, inline, prose } from '../../runtime/html.ts';
import type { Json } from '../schemas/json-schema.ts';
import { code } from './highlight.ts';
import { exampleHtml, membersHtml, schemaHtml, schemasHtml } from './schema-html.ts';

const BROWSER = `const { token } = await (await fetch('/your-server/token')).json(); // POST /v1/tokens, with the key, on your server
const socket = new WebSocket('{socket}/v1/listen?model=local/commands-en', ['bearer', token]);
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

interface Shape {
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
  const { info, channels, operations, components } = document as unknown as Shape;
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
