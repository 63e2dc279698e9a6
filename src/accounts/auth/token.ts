// Client tokens: `st_` + base64url(payload) + `.` + base64url(HMAC-SHA-256 of all before the dot). Any node with the secret can
// tell a genuine one on its own; what it is worth is decided in verdicts.ts.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { Replacement } from '../../api/replacements.ts';
import type { RequestLimits } from '../../api/request-limits.ts';
import { Tags } from '../../api/tags.ts';
import { TOKEN_PREFIX } from '../../api/tokens.ts';

/** Headers, subprotocols and URLs have room for it. */
export const TOKEN_LENGTH_MAX = 2_000;
/** The form alone: the characters also fit a WebSocket subprotocol. 43 characters are the 32 bytes of the signature. */
const TOKEN_FORM = /^(st_([\w-]+))\.([\w-]{43})$/;
/** How far the clock of the node that minted may be ahead of this one's. */
const CLOCK_AHEAD_MS_MAX = 5000;
const SECRET_ID_LENGTH = 8;

const TokenPayload = Type.Object(
  {
    /** Version of this payload. */
    v: Type.Literal(1),
    /** Id of the secret that signed it. */
    kid: Type.String({ minLength: 1 }),
    /** Id of the token: see {@link tokenIdOf}. */
    jti: Type.String({ minLength: 1 }),
    /** Id of the key that minted it, and of that key's organisation. */
    key: Type.String({ minLength: 1 }),
    org: Type.String({ minLength: 1 }),
    /** Minted at and expires at, in epoch milliseconds. */
    iat: Type.Integer(),
    exp: Type.Integer(),
    /** What it is limited to, in short names: models, seconds, micro-USD, languages, one use. Nodes that do not know a limit refuse it. */
    mod: Type.Optional(Type.Array(Type.String())),
    sec: Type.Optional(Type.Integer()),
    usd: Type.Optional(Type.Integer()),
    lan: Type.Optional(Type.Array(Type.String())),
    one: Type.Optional(Type.Literal(true)),
    /** Of the sessions that it opens. */
    tags: Type.Optional(Tags),
    /** Replacement rules, in the form in which they are kept. */
    rep: Type.Optional(Type.Array(Replacement)),
  },
  { additionalProperties: false },
);
export type TokenPayload = Static<typeof TokenPayload>;

/** One that was minted for a person begins with the person's id. */
export const tokenIdOf = (id: string, personId?: string): string => (personId === undefined ? id : `${personId}.${id}`);

/** Whether a token of that id was minted for the person. */
export const isTokenOf = (tokenId: string | undefined, personId: string): boolean =>
  tokenId?.startsWith(`${personId}.`) === true;

/** A secret and the id under which tokens name it; the id says nothing of the secret. */
export interface TokenSecret {
  readonly id: string;
  readonly secret: Uint8Array;
}

export function tokenSecret(secret: Uint8Array): TokenSecret {
  return { id: signatureOf(secret, 'id of a secret').slice(0, SECRET_ID_LENGTH), secret };
}

export function mintToken({ id, secret }: TokenSecret, payload: Omit<TokenPayload, 'v' | 'kid'>): string {
  const content: TokenPayload = { ...payload, v: 1, kid: id };
  const signed = TOKEN_PREFIX + Buffer.from(JSON.stringify(content)).toString('base64url');
  return `${signed}.${signatureOf(secret, signed)}`;
}

/**
 * The payload of a token that was signed with one of these secrets; undefined for anything else. The algorithm is fixed, the
 * comparison takes the same time wherever it fails, and nothing is parsed before a signature is right: which secret it is, is
 * not taken from the token but only compared with what the token says.
 */
export function verifyToken(secrets: readonly TokenSecret[], text: string, nowMs: number): TokenPayload | undefined {
  if (text.length > TOKEN_LENGTH_MAX) return undefined;
  const [, signed, encoded, signature] = TOKEN_FORM.exec(text) ?? [];
  if (signed === undefined || encoded === undefined || signature === undefined) return undefined;
  const given = Buffer.from(signature);
  const signer = secrets.find(({ secret }) => timingSafeEqual(given, Buffer.from(signatureOf(secret, signed))));
  if (signer === undefined) return undefined;
  const payload = parsed(Buffer.from(encoded, 'base64url').toString());
  if (!Value.Check(TokenPayload, payload) || payload.kid !== signer.id) return undefined;
  return payload.iat <= nowMs + CLOCK_AHEAD_MS_MAX ? payload : undefined;
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

/** What a token is limited to, beside its key. */
export interface TokenLimits extends RequestLimits {
  /** Slugs, or `<provider>/*`. */
  models?: readonly string[] | undefined;
  /** BCP-47 tags. */
  languages?: readonly string[] | undefined;
  isSingleUse?: true | undefined;
}

type InPayload = Pick<TokenPayload, 'mod' | 'sec' | 'usd' | 'lan' | 'one'>;

export function payloadOfLimits({ models, maxSeconds, maxMicroUsd, languages, isSingleUse }: TokenLimits): InPayload {
  return {
    ...(models === undefined ? {} : { mod: [...models] }),
    ...(maxSeconds === undefined ? {} : { sec: maxSeconds }),
    ...(maxMicroUsd === undefined ? {} : { usd: Number(maxMicroUsd) }),
    ...(languages === undefined ? {} : { lan: [...languages] }),
    ...(isSingleUse === undefined ? {} : { one: isSingleUse }),
  };
}

/** Undefined for a token that only has the limits of its key. */
export function limitsOfPayload({ mod, sec, usd, lan, one }: InPayload): TokenLimits | undefined {
  if (mod === undefined && sec === undefined && usd === undefined && lan === undefined && one === undefined)
    return undefined;
  return {
    models: mod,
    maxSeconds: sec,
    maxMicroUsd: usd === undefined ? undefined : BigInt(usd),
    languages: lan,
    isSingleUse: one,
  };
}
