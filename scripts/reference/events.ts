// Messages and events of a live session, out of the AsyncAPI document.
import { asyncapiDocument } from '../../src/docs/asyncapi.ts';
import { CLIENT_MESSAGES, type Json, SERVER_EVENTS } from '../../src/docs/schemas/schemas.ts';
import { type Block, page } from './page.ts';

/** What is in the members of events, each under a heading of its own. */
const PARTS = ['Word', 'UsageRow', 'Error', 'ErrorAttempt'];
const COMMON = ['type', 'session_id', 'seq', 'at'];

/** More are listed elsewhere. */
const CHOICES_MAX = 12;

const { schemas } = asyncapiDocument({ version: '', providers: [] }).components as {
  schemas: Readonly<Record<string, Json>>;
};
const asJson = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {});
const nameOf = (reference: unknown): string => String(reference).slice(String(reference).lastIndexOf('/') + 1);

export function eventPage(): string {
  const table = (rows: string[][]): Block[] =>
    rows.length === 0 ? [] : [{ head: ['member', 'type', 'meaning'], rows }];
  const section = (name: string, title: string, rows: string[][]): Block[] => {
    const { description } = schemas[name] ?? {};
    return [`### ${title}`, ...(description === undefined ? [] : [String(description)]), ...table(rows)];
  };
  const rowsOf = (name: string) => memberRows(schemas[name] ?? {}, '');
  const isOwn = ([member = '']: string[]) => !COMMON.includes(member.replaceAll('`', ''));
  const typed = (name: string) =>
    section(name, String(asJson(asJson(schemas[name]?.properties).type).const), rowsOf(name).filter(isOwn));
  return page('Events of a live session', 'src/api/listen-events.ts', [
    `One WebSocket at \`/v1/listen\` is one session. Binary frames are audio, of any size and at any pace; text frames are JSON. [Live
from a program](../guides/live.md) explains its use. All query parameters are described at \`/docs/live\` of a running gateway.

For each turn there may be any number of transcripts with \`is_final: false\`, then exactly one with \`is_final: true\`. Times are
seconds of the session's audio, and keep rising when a fallback takes over. After \`close\` every turn that had audio gets its final,
then \`session_ended\` arrives, and the socket is closed with 1000. An \`error\` event precedes every other close
([close codes](errors.md#close-codes)).

Ignore events and members that you do not know: within \`/v1\` they may be added.`,
    '## What you send',
    ...Object.keys(CLIENT_MESSAGES).flatMap(typed),
    '## What you receive',
    'Every event has these members, and those of its `type`.',
    ...table(
      rowsOf('SessionStarted')
        .filter((row) => !isOwn(row))
        .map(([member = '', type = '', meaning = '']) =>
          member === '`type`' ? [member, 'string', 'The type of the event.'] : [member, type, meaning],
        ),
    ),
    ...Object.keys(SERVER_EVENTS).flatMap(typed),
    '## Parts of events',
    ...PARTS.flatMap((name) => section(name, name, rowsOf(name))),
  ]);
}

function memberRows(schema: Json, prefix: string): string[][] {
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(asJson(schema.properties)).flatMap(([name, value]) => {
    const member = asJson(value);
    const type = `${typeText(member)}${required.includes(name) ? '' : ', optional'}`;
    const row = [`\`${prefix}${name}\``, type, String(member.description ?? '')];
    const inner = member.type === 'array' ? memberRows(asJson(member.items), `${prefix}${name}[].`) : [];
    return [row, ...inner, ...memberRows(member, `${prefix}${name}.`)];
  });
}

function typeText(schema: Json): string {
  if (schema.$ref !== undefined) return referenceText(nameOf(schema.$ref));
  if (Array.isArray(schema.enum) && schema.enum.length > CHOICES_MAX) return 'string';
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  const choices = [schema.enum, schema.anyOf, schema.oneOf].find(Array.isArray);
  if (choices !== undefined)
    return choices.map((each) => (typeof each === 'string' ? `\`${each}\`` : typeText(asJson(each)))).join(' or ');
  if (schema.type === 'array') return `list of ${typeText(asJson(schema.items))}`;
  return [schema.type ?? 'anything'].flat().join(' or ');
}

const referenceText = (name: string): string =>
  PARTS.includes(name) ? `[${name}](#${name.toLowerCase()})` : typeText(schemas[name] ?? {});
