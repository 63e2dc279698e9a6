// Draws ids and keys for a call before it is queued, so that the call makes the same rows wherever it is applied. Only the hash of a
// key is queued. The text of the key is added to the answer.
import { generateKey, parseKey } from '../../accounts/keys/key-text.ts';
import { uuidv7 } from '../../runtime/uuid.ts';
import type { Drawn } from '../../store/entry.ts';
import { type CallName, drawsOf } from './store.ts';

export interface Drawing {
  /** Sent with the call; undefined for most operations. */
  drawn: Drawn | undefined;
  /** Turns the answer of the tables into the one for the caller. */
  answered(value: unknown): unknown;
}

const NOTHING: Drawing = { drawn: undefined, answered: (value) => value };

/** @param nowMs wall-clock milliseconds; ids sort by it */
export function drawFor(name: CallName, nowMs: number): Drawing {
  const draws = drawsOf(name);
  if (draws === undefined) return NOTHING;
  const ids = Array.from({ length: draws.ids }, () => uuidv7(nowMs));
  if (draws.key === undefined) return { ...NOTHING, drawn: { ids } };
  const secret = generateKey();
  return {
    drawn: { ids, key: parseKey(secret)! },
    answered: (value) => (value === undefined ? undefined : { ...(value as object), secret }),
  };
}
