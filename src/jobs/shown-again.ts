// What a client is shown again of what it requested: so much that lists of jobs stay small, whatever was sent.
import { type JsonObject, objectIn } from '../vendors/kit/json.ts';

/** Of one job, as JSON. */
export const SHOWN_BYTES_MAX = 4_096;
/** Of one object that is too large: the others are left out unseen. */
const MEMBERS_MAX = 100;

/** All of it, or else the smallest of its members, and of those of objects in it. */
export function shownAgain(asked: JsonObject, bytesMax = SHOWN_BYTES_MAX, isInner = false): JsonObject {
  if (bytesOf(asked) <= bytesMax) return asked;
  const members = Object.entries(asked)
    .slice(0, MEMBERS_MAX)
    .map(([name, value]) => ({ name, value, bytes: bytesOf({ [name]: value }) }))
    .sort((one, other) => one.bytes - other.bytes);
  const shown: [string, unknown][] = [];
  let left = bytesMax - '{}'.length;
  for (const { name, value, bytes } of members) {
    const room = left - bytesOf({ [name]: {} });
    const isPart = bytes > left;
    if (room < 0 || (isPart && (isInner || objectIn(value) !== value))) continue;
    const part = isPart ? shownAgain(objectIn(value), room, true) : value;
    shown.push([name, part]);
    left -= bytesOf({ [name]: part });
  }
  return Object.fromEntries(shown);
}

export function bytesOf(members: JsonObject): number {
  try {
    return Buffer.byteLength(JSON.stringify(members));
  } catch {
    // Nested deeper than can be written.
    return Number.POSITIVE_INFINITY;
  }
}
