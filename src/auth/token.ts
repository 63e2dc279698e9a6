// Client tokens: `st_` + base64url(payload) + `.` + base64url(HMAC-SHA-256 of all before the dot). Any node with the secret can
// verify one without a look-up. Whether a good one opens a session is the client-token chart's decision.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { initialTransition, transition } from 'xstate';
import { type ClientTokenDecision, clientTokenMachine } from '../../machines/client-token.ts';

export const TOKEN_PREFIX = 'st_';

const TOKEN_LENGTH_MAX = 400;
/** The form alone: the characters also fit a WebSocket subprotocol. 43 characters are the 32 bytes of the signature. */
const TOKEN_FORM = /^(st_([\w-]+))\.([\w-]{43})$/;
/** How far the clock of the node that minted may be ahead of this one's. */
const CLOCK_AHEAD_MS_MAX = 5000;

const TokenPayload = Type.Object(
  {
    /** Version of this payload. */
    v: Type.Literal(1),
    /** Id of the token. */
    jti: Type.String({ minLength: 1 }),
    /** Id of the key that minted it, and of that key's organisation. */
    key: Type.String({ minLength: 1 }),
    org: Type.String({ minLength: 1 }),
    /** Minted at and expires at, in epoch milliseconds. */
    iat: Type.Integer(),
    exp: Type.Integer(),
  },
  { additionalProperties: false },
);
export type TokenPayload = Static<typeof TokenPayload>;

export function mintToken(secret: Uint8Array, payload: TokenPayload): string {
  const signed = TOKEN_PREFIX + Buffer.from(JSON.stringify(payload)).toString('base64url');
  return `${signed}.${signatureOf(secret, signed)}`;
}

/**
 * The payload of a token that was signed with this secret; undefined for anything else. The algorithm is fixed, the
 * comparison takes the same time wherever it fails, and nothing is parsed before the signature is right.
 */
export function verifyToken(secret: Uint8Array, text: string, nowMs: number): TokenPayload | undefined {
  if (text.length > TOKEN_LENGTH_MAX) return undefined;
  const [, signed, encoded, signature] = TOKEN_FORM.exec(text) ?? [];
  if (signed === undefined || encoded === undefined || signature === undefined) return undefined;
  if (!timingSafeEqual(Buffer.from(signature), Buffer.from(signatureOf(secret, signed)))) return undefined;
  const payload = parsed(Buffer.from(encoded, 'base64url').toString());
  const isReadable = Value.Check(TokenPayload, payload) && payload.iat <= nowMs + CLOCK_AHEAD_MS_MAX;
  return isReadable ? payload : undefined;
}

/** What the client-token chart says when this token is presented now. */
export function judgeToken(payload: TokenPayload, nowMs: number, parentRevoked: boolean): ClientTokenDecision {
  const [valid] = initialTransition(clientTokenMachine, { expiresAtMs: payload.exp, parentRevoked });
  const [presented] = transition(clientTokenMachine, valid, { type: 'token.present', nowMs });
  return presented.context.decision ?? 'token_expired';
}

function signatureOf(secret: Uint8Array, signed: string): string {
  return createHmac('sha256', secret).update(signed).digest('base64url');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
