// Messages with an HMAC under the gateway's secret, so that only a node of this gateway can have made them. They are readable, so
// put nothing secret in them. They carry no replay protection: the reader has to tolerate an old one.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { keyFor } from '../../runtime/sealing.ts';
import type { BusBody } from './bus.ts';

export interface SignedBody extends BusBody {
  /** JSON; amounts as decimal texts. */
  text: string;
  /** One signature for each secret, separated by dots. */
  mark: string;
}

/** The secret, and the one before it. */
const KEYS_MAX = 2;

/** The gateway's secret, and the previous one while it is being rotated. */
export interface SigningSecrets {
  secret: Uint8Array;
  previousSecret?: Uint8Array | undefined;
}

/**
 * Messages are signed with all secrets, so that nodes that do not know the new one yet accept them. One valid signature is
 * enough.
 */
export type SigningKeys = readonly [Uint8Array, ...Uint8Array[]];

/** Keys for one purpose. A signature for one purpose is not valid for another. */
export function signingKeys({ secret, previousSecret }: SigningSecrets, purpose: string): SigningKeys {
  const keyOf = (from: Uint8Array) => keyFor(`voxgate ${purpose}`, from);
  return previousSecret === undefined ? [keyOf(secret)] : [keyOf(secret), keyOf(previousSecret)];
}

export function signed(keys: SigningKeys, type: string, value: unknown): SignedBody {
  const text = JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? `${each}` : each));
  return { type, text, mark: keys.map((key) => markOf(key, type, text)).join('.') };
}

/** The signed text; undefined when no key matches. */
export function unsigned(keys: SigningKeys, type: string, body: BusBody): unknown {
  const { text, mark } = body as Partial<SignedBody>;
  if (body.type !== type || typeof text !== 'string' || typeof mark !== 'string') return undefined;
  const marks = mark.split('.', KEYS_MAX);
  if (!keys.some((key) => marks.some((each) => isSame(each, markOf(key, type, text))))) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function isSame(given: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)];
  return one.length === other.length && timingSafeEqual(one, other);
}

const markOf = (key: Uint8Array, type: string, text: string): string =>
  createHmac('sha256', key).update(`${type}\n${text}`).digest('base64url');
