// What a live client says in a text frame, decoded to a closed union before anything else sees it.
import { Value } from '@sinclair/typebox/value';
import { printable } from '../../api/errors.ts';
import { ClientMessage } from '../../api/listen.ts';
import { unchangeableIn, unchangeableWords } from '../configure/changes.ts';
import type { LiveSession } from '../session/session.ts';

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
