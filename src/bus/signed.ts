// Messages that only a node of this gateway can have made: plain data under a mark that needs the gateway's secret. They can be
// read by whoever hears them, so nothing secret belongs in them; that an old one comes again is for the reader to take.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { keyFor } from '../runtime/sealing.ts';
import type { BusBody } from './bus.ts';

export interface SignedBody extends BusBody {
  /** JSON; amounts as decimal texts. */
  text: string;
  /** One by each secret, with dots between. */
  mark: string;
}

/** The secret, and the one before it. */
const KEYS_MAX = 2;

/** The gateway's secret, and the one before where some messages may still be signed with that. */
export interface SigningSecrets {
  secret: Uint8Array;
  previousSecret?: Uint8Array | undefined;
}

/** All of them sign, so that nodes that have not heard of the new secret yet believe it; a mark by any of them is believed. */
export type SigningKeys = readonly [Uint8Array, ...Uint8Array[]];

/** Keys for one purpose: what is signed for one is worth nothing for another. */
export function signingKeys({ secret, previousSecret }: SigningSecrets, purpose: string): SigningKeys {
  const keyOf = (from: Uint8Array) => keyFor(`voxgate ${purpose}`, from);
  return previousSecret === undefined ? [keyOf(secret)] : [keyOf(secret), keyOf(previousSecret)];
}

export function signed(keys: SigningKeys, type: string, value: unknown): SignedBody {
  const text = JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? `${each}` : each));
  return { type, text, mark: keys.map((key) => markOf(key, type, text)).join('.') };
}

/** What was signed with one of the keys; undefined for anything that was not. */
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
