// What a client says in text: the first message of a connection that was opened with `start=message`, which has the parameters that its URL
// leaves out, what `configure` changes of these, and all others.
import { Value } from '@sinclair/typebox/value';
import { type ApiError, apiError, printable } from '../../api/errors.ts';
import { ClientMessage, Configure } from '../../api/listen.ts';
import type { LiveSession } from '../session/session.ts';
import { readListenQuery } from './query.ts';

const KINDS = '{"type":"finalize"}, {"type":"close"}, {"type":"keepalive"} and {"type":"configure", …}';

export type Decoded = { message: ClientMessage } | { fault: string; param?: string };

/** Never throws; a fault says what is accepted. */
export function decodeClientMessage(data: Uint8Array): Decoded {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(data));
  } catch {
    return { fault: `A text frame is JSON: ${KINDS} are accepted. Audio goes in binary frames.` };
  }
  if (Value.Check(ClientMessage, value)) return { message: value };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { fault: `A text frame is a JSON object: ${KINDS} are accepted.` };
  }
  const { type } = value as { type?: unknown };
  if (type === 'configure') {
    // Changes wait for each other: kept are those members alone that there are, and not as many as a client makes up.
    const name = unchangeableIn(value);
    if (name !== undefined) return { fault: unchangeableWords(name), param: printable(name) };
    // Whoever asked for the session is told what is wrong with it, member by member.
    return { message: value as ClientMessage };
  }
  if (type === 'start') {
    return {
      fault: `The session has begun: a start message is the first of a connection whose URL has \`start=message\`. Now ${KINDS} are accepted.`,
      param: 'type',
    };
  }
  const known = ['finalize', 'close', 'keepalive'].includes(type as string);
  return known
    ? { fault: `The message "${type}" has members that it does not take; ${KINDS} are accepted.`, param: 'type' }
    : { fault: `The message's \`type\` is unknown: ${KINDS} are accepted.`, param: 'type' };
}

/** Tells the session of it. */
export function tell(session: Pick<LiveSession, 'control' | 'misunderstood'>, decoded: Decoded): void {
  if ('message' in decoded) session.control(decoded.message);
  else session.misunderstood(decoded.fault, decoded.param);
}

/** In the place of a model that the message is going to name. */
const LATER = 'later/later';

const SHAPE = 'The first text message of a connection with `start=message` is {"type":"start","model":"…", …}';

/** For a client that does not send it. */
export const START_ADVICE = 'Send {"type":"start","model":"…"} first, or leave `start` out of the URL.';

/**
 * Whether a start message is to come, and the parameters that the URL has already. Throws an ApiError for those, so that a mistake
 * in the URL is told at the handshake.
 */
export function readStartRequest(query: ReadonlyMap<string, string>): {
  parameters: Map<string, string>;
  waits: boolean;
} {
  const parameters = new Map(query);
  const start = parameters.get('start');
  parameters.delete('start');
  if (start === undefined) return { parameters, waits: false };
  if (start !== 'message')
    throw bad('start', `\`start\` is "${printable(start)}"; it is message, for a first message {"type":"start", …}.`);
  readListenQuery(parameters.has('model') ? parameters : new Map(parameters).set('model', LATER));
  return { parameters, waits: true };
}

/** The parameters of the URL and of the message together. Throws an ApiError that names the parameter. */
export function readStartMessage(data: Uint8Array, query: ReadonlyMap<string, string>): Map<string, string> {
  const parameters = new Map(query);
  for (const [name, value] of Object.entries(objectOf(data))) {
    // Written for a member that is left out by programs that have no other word for it.
    if (name === 'type' || value === null) continue;
    if (name === 'api_key' || name === 'start')
      throw bad(name, `\`${name}\` belongs to the handshake, and not into the start message.`);
    if (parameters.has(name)) {
      const shown = printable(name);
      throw apiError('duplicate_parameter', `\`${shown}\` is in the URL and in the start message. Give it once.`, {
        param: shown,
      });
    }
    parameters.set(name, textOf(name, value));
  }
  return parameters;
}

function objectOf(data: Uint8Array): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(data));
  } catch {
    throw bad('type', `${SHAPE}; what came is no JSON. Audio goes in binary messages.`);
  }
  if (typeof value !== 'object' || value === null || (value as { type?: unknown }).type !== 'start')
    throw bad('type', `${SHAPE}; another one came.`);
  return value as Record<string, unknown>;
}

/** As it would stand in a URL. */
function textOf(name: string, value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value);
  } catch {
    throw bad(name, `\`${printable(name)}\` is nested too deeply.`);
  }
}

const bad = (param: string, message: string): ApiError =>
  apiError('invalid_request', message, { param: printable(param) });

const { type: _, ...members } = Configure.properties;
/** What `configure` changes of what is requested of a session, in the words of the URL. */
export const CHANGEABLE = Object.keys(members);

/** The parameters with the changes. Throws an ApiError for what cannot be changed. */
export function changed(parameters: ReadonlyMap<string, string>, asked: Readonly<Record<string, unknown>>) {
  const next = new Map(parameters);
  // Options of one model are not those of another.
  if (asked.model !== undefined) next.delete('provider_params');
  for (const [name, value] of Object.entries(asked)) {
    if (name === 'type') continue;
    if (!CHANGEABLE.includes(name))
      throw apiError('invalid_request', unchangeableWords(name), { param: printable(name) });
    if (value === null) next.delete(name);
    else next.set(name, textOf(name, value));
  }
  return next;
}

/** The first member of a `configure` that names nothing that changes. */
const unchangeableIn = (asked: object): string | undefined =>
  Object.keys(asked).find((name) => name !== 'type' && !CHANGEABLE.includes(name));

const unchangeableWords = (name: string): string =>
  `\`${printable(name)}\` cannot be changed while a session goes on. ${CHANGEABLE.join(', ')} can; for others open another session.`;
