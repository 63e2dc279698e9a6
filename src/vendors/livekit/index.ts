// Clients of LiveKit Inference: the speech recognition of LiveKit's agents. Their models have the names of their providers already.
// https://docs.livekit.io/agents/models/stt/

import { createHmac, timingSafeEqual } from 'node:crypto';
import { apiError } from '../../api/errors.ts';
import type { Dialect, Offered } from '../compat/dialect.ts';
import { jsonAnswer } from '../compat/request.ts';
import { type JsonObject, objectOf, textIn } from '../kit/json.ts';
import { authorizationOf } from '../kit/offered-keys.ts';
import { errorOf, SttConversation } from './conversation.ts';
import { AUTO, NAMES } from './params.ts';

/** By how much clocks may differ, as LiveKit's own servers allow. */
const LEEWAY_SECONDS = 60;
/** A header that is JSON, and begins with an object. */
const JWT = /^eyJ[\w-]*\.[\w-]*\.[\w-]*$/;

/** The key in a bearer credential, which may stand there on its own as well. */
export function offered(bearer: string): Offered {
  if (!JWT.test(bearer)) return { credential: bearer };
  const [header, payload, signature] = bearer.split('.') as [string, string, string];
  const claims = decoded(payload);
  const key = textIn(claims.iss) ?? '';
  const isSigned = decoded(header).alg === 'HS256' && isSignature(signature, `${header}.${payload}`, key);
  return { credential: key, prove: (at) => prove(claims, isSigned, at) };
}

const decoded = (part: string): JsonObject => objectOf(Buffer.from(part, 'base64url').toString());

function isSignature(signature: string, text: string, key: string): boolean {
  const given = Buffer.from(signature, 'base64url');
  const expected = createHmac('sha256', key).update(text).digest();
  return given.byteLength === expected.byteLength && timingSafeEqual(given, expected);
}

/** Throws an ApiError. */
function prove({ exp, nbf }: JsonObject, isSigned: boolean, at: Date): void {
  const seconds = at.getTime() / 1_000;
  if (!isSigned)
    throw apiError(
      'invalid_token',
      'The access token is not signed (HS256) with the key that is its issuer. Give the same API key as LIVEKIT_API_KEY and as LIVEKIT_API_SECRET.',
    );
  if (typeof exp !== 'number' || exp + LEEWAY_SECONDS <= seconds)
    throw apiError('token_expired', 'The access token’s lifetime (`exp`) is over, or it has none. Make a new one.');
  if (typeof nbf === 'number' && nbf - LEEWAY_SECONDS > seconds)
    throw apiError('invalid_token', 'The access token is not valid yet (`nbf`). Set the clock of its maker.');
}

export const livekit: Dialect = {
  name: 'livekit',
  title: 'LiveKit Inference',
  model: AUTO,
  names: NAMES,
  live: { '/v1/stt': { open: (handshake) => new SttConversation(handshake) } },
  files: {},
  credential: ({ headers }) => {
    if (!headers.has('authorization')) return { credential: undefined };
    return offered(authorizationOf(headers.get('authorization')) ?? '');
  },
  refusal: (refusal) => jsonAnswer(errorOf(refusal.code, refusal.message), refusal.status),
};
