// What the URL of a socket says that is to continue with a session.

import { randomBytes, timingSafeEqual } from 'node:crypto';
import { type ApiError, apiError, printable } from '../../api/errors.ts';
import { nodeOfSession } from '../session/session-opening.ts';

export interface ResumeRequest {
  token: string;
  sessionId: string;
  /** The node that has, or had, the session. */
  node: string;
  /** Number of the last event that the client has; 0 for none. */
  after: number;
  /** Where the last final ended that the client has. */
  heardSeconds: number;
  /** What a new session is to be opened with where this one is gone; undefined where the client names no model. */
  anew: Map<string, string> | undefined;
}

/** Undefined without a resume token. Throws an ApiError. */
export function readResumeRequest(query: ReadonlyMap<string, string>): ResumeRequest | undefined {
  const token = query.get('resume');
  const place = token === undefined ? undefined : placeOf(token);
  if (token === undefined || place === undefined) return undefined;
  const anew = new Map(query).set('resume', 'on');
  for (const name of ['last_seq', 'heard_seconds', 'api_key']) anew.delete(name);
  return {
    token,
    ...place,
    after: readNumber('last_seq', query.get('last_seq'), /^\d{1,15}$/, LAST_SEQ),
    heardSeconds: readNumber(
      'heard_seconds',
      query.get('heard_seconds') ?? '0',
      /^\d{1,6}(\.\d{1,6})?$/,
      HEARD_SECONDS,
    ),
    anew: anew.has('model') || anew.get('start') === 'message' ? anew : undefined,
  };
}

export const LAST_SEQ = 'the `seq` of the last event that you have had, or 0';
const HEARD_SECONDS = 'the `end` of the last final that you have had, in seconds, or left out';

/** Throws an ApiError. `meaning`: what is accepted. */
export function readNumber(name: string, text: string | undefined, form: RegExp, meaning: string): number {
  if (text !== undefined && form.test(text)) return Number(text);
  throw bad(
    name,
    text === undefined
      ? `With a resume token \`${name}\` is ${meaning}.`
      : `\`${name}\` is "${printable(text)}"; it is ${meaning}.`,
  );
}

/** Of a client that says that it has had what was never said. */
export const unsaid = (after: number): ApiError =>
  bad('last_seq', `\`last_seq\` is ${after}, and this session has not come so far. It is ${LAST_SEQ}.`);

/** The session is gone, and the URL does not say what to open in its place. */
export const gone = (): ApiError =>
  apiError(
    'not_found',
    'There is no such session to resume: it has ended, its time to be resumed is over, or it belongs to another key. Open a new one; with `model` in the URL that is done at once.',
    { param: 'resume' },
  );

const bad = (param: string, message: string): ApiError => apiError('invalid_request', message, { param });

const FORM = /^rt_(ses_[a-z0-9]{7,38})\.[\w-]{22}$/;

/** Resume tokens: `rt_` + the session's id + `.` + 128 bits of chance that its node compares. Whoever has one still needs the key. */
export const newResumeToken = (sessionId: string): string => `rt_${sessionId}.${randomBytes(16).toString('base64url')}`;

/** The session that a token names, and its node; undefined of what is not a token. */
function placeOf(token: string): { sessionId: string; node: string } | undefined {
  const sessionId = FORM.exec(token)?.[1];
  const node = sessionId === undefined ? undefined : nodeOfSession(sessionId);
  return sessionId === undefined || node === undefined ? undefined : { sessionId, node };
}

/** Takes the same time wherever they differ. */
export const isSameToken = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
