// The first message of a connection that was opened with `start=message`: the parameters that its URL leaves out, or has no room for.
import { printable, type Refusal, refuse } from '../../api/errors.ts';
import { readListenQuery } from './query.ts';

/** In the place of a model that the message is going to name. */
const LATER = 'later/later';

const SHAPE = 'The first text message of a connection with `start=message` is {"type":"start","model":"…", …}';

/** For a client that does not send it. */
export const START_ADVICE = 'Send {"type":"start","model":"…"} first, or leave `start` out of the URL.';

/**
 * Whether a start message is to come, and the parameters that the URL has already. Throws a Refusal for those, so that a mistake
 * in the URL is told at the handshake.
 */
export function readStartWish(query: ReadonlyMap<string, string>): { parameters: Map<string, string>; waits: boolean } {
  const parameters = new Map(query);
  const start = parameters.get('start');
  parameters.delete('start');
  if (start === undefined) return { parameters, waits: false };
  if (start !== 'message')
    throw bad('start', `\`start\` is "${printable(start)}"; it is message, for a first message {"type":"start", …}.`);
  readListenQuery(parameters.has('model') ? parameters : new Map(parameters).set('model', LATER));
  return { parameters, waits: true };
}

/** The parameters of the URL and of the message together. Throws a Refusal that names the parameter. */
export function readStartMessage(data: Uint8Array, query: ReadonlyMap<string, string>): Map<string, string> {
  const parameters = new Map(query);
  for (const [name, value] of Object.entries(objectOf(data))) {
    // Written for a member that is left out by programs that have no other word for it.
    if (name === 'type' || value === null) continue;
    if (name === 'api_key' || name === 'start')
      throw bad(name, `\`${name}\` belongs to the handshake, and not into the start message.`);
    if (parameters.has(name)) {
      const shown = printable(name);
      throw refuse('duplicate_parameter', `\`${shown}\` is in the URL and in the start message. Give it once.`, {
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
export function textOf(name: string, value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value);
  } catch {
    throw bad(name, `\`${printable(name)}\` is nested too deeply.`);
  }
}

const bad = (param: string, message: string): Refusal =>
  refuse('invalid_request', message, { param: printable(param) });
