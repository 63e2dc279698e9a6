// Session ids: `ses_`, the node's incarnation, a UUID version 7 without dashes. Any node can route to one without a
// directory, and those of one node sort by time.
import { uuidv7 } from '../runtime/uuid.ts';

/** A new session id of this node. */
export function newSessionId(node: string, wallNow: Date): string {
  return `ses_${node}${uuidv7(wallNow.getTime()).replaceAll('-', '')}`;
}

const SESSION_ID = /^ses_([a-z0-9]{6})[0-9a-f]{1,32}$/;

/** The node that holds, or held, the session; undefined of what is no such id. */
export function nodeOfSession(sessionId: string): string | undefined {
  return SESSION_ID.exec(sessionId)?.[1];
}
