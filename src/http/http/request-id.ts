// Request ids: `req_` and a UUIDv7, so that they sort by time and cannot be guessed.
import { uuidv7 } from '../../runtime/uuid.ts';

/** The id of a request that arrived at this wall time. */
export function newRequestId(timeMs: number, random?: Uint8Array): string {
  return `req_${uuidv7(timeMs, random)}`;
}
