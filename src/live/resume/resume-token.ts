// Resume tokens: `rt_` + the session's id + `.` + 128 bits of chance that its node compares. Whoever has one still needs the key.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { nodeOfSession } from '../session/session-opening.ts';

const FORM = /^rt_(ses_[a-z0-9]{7,38})\.[\w-]{22}$/;

export const newResumeToken = (sessionId: string): string => `rt_${sessionId}.${randomBytes(16).toString('base64url')}`;

/** The session that a token names, and its node; undefined of what is no token. */
export function placeOf(token: string): { sessionId: string; node: string } | undefined {
  const sessionId = FORM.exec(token)?.[1];
  const node = sessionId === undefined ? undefined : nodeOfSession(sessionId);
  return sessionId === undefined || node === undefined ? undefined : { sessionId, node };
}

/** Takes the same time wherever they differ. */
export const isSameToken = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
