// Session ids: `ses_`, the node's incarnation, a UUID version 7 without dashes. Any node can route to one without a
// directory, and those of one node sort by time.
import { uuidv7 } from '../runtime/uuid.ts';

/** A new session id of this node. */
export function newSessionId(node: string, wallNow: Date): string {
  return `ses_${node}${uuidv7(wallNow.getTime()).replaceAll('-', '')}`;
}
