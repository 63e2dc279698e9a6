// Messages between nodes about limits: their shapes, and their checks when they are read. They are signed, because a forged one
// could lock a customer out.

import { isRecord } from '../../runtime/plain-data.ts';
import type { BusBody } from '../bus/bus.ts';
import { type SigningKeys, type SigningSecrets, signed, signingKeys, unsigned } from '../bus/signed.ts';

/** Sessions of one key on one node, each by a number that the node gave it. */
export type SlotsOfKey = readonly [keyId: string, organisationId: string, places: readonly number[]];

/**
 * `take`: asks for one more session. `leave`: these have ended. `all`: all sessions of the node, in parts. `sync` numbers these
 * full reports; a message that belongs to an older report is answered `unknown`.
 */
export type SlotsQuestion = { node: string; sync: number } & (
  | { op: 'take'; place: number; keyId: string; organisationId: string; keyMax: number; organisationMax: number | null }
  | { op: 'leave'; places: readonly number[] }
  | { op: 'all'; isFirst: boolean; places: readonly SlotsOfKey[] }
);

/**
 * `unknown`: send a full report first. `counting`: not every node has sent its report yet. `crowded`: there is no room to count
 * more.
 */
export type SlotsAnswer = 'done' | 'full:key' | 'full:organisation' | 'unknown' | 'counting' | 'crowded';

/** Use of one key: requests or client tokens, and the limit per minute. */
export type RateTaken = readonly [kind: RateKind, keyId: string, count: number, max: number];
export type RateKind = 'requests' | 'tokens';

const QUESTION = 'limits.ask';
const ANSWER = 'limits.answer';
const TAKEN = 'limits.taken';
const ID_LENGTH_MAX = 100;
const NODE = /^[a-z0-9]{6}$/;
const ANSWERS: readonly unknown[] = ['done', 'full:key', 'full:organisation', 'unknown', 'counting', 'crowded'];

/**
 * Signs and verifies with keys derived from the gateway's secret. The readers return undefined for a message that is not
 * authentic or malformed.
 */
export class LimitsMessages {
  readonly #keys: SigningKeys;

  constructor(secrets: SigningSecrets) {
    this.#keys = signingKeys(secrets, 'limits');
  }

  question(question: SlotsQuestion): BusBody {
    return signed(this.#keys, QUESTION, question);
  }

  readQuestion(body: BusBody): SlotsQuestion | undefined {
    const value = unsigned(this.#keys, QUESTION, body);
    return isRecord(value) && isText(value.node) && NODE.test(value.node) && isCount(value.sync) && isOperation(value)
      ? (value as unknown as SlotsQuestion)
      : undefined;
  }

  answer(answer: SlotsAnswer): BusBody {
    return signed(this.#keys, ANSWER, { answer });
  }

  readAnswer(body: BusBody): SlotsAnswer | undefined {
    const value = unsigned(this.#keys, ANSWER, body);
    return isRecord(value) && ANSWERS.includes(value.answer) ? (value.answer as SlotsAnswer) : undefined;
  }

  /**
   * @param sequence grows with each message of a node
   * @param used what the node knows to be used of each of these, on all nodes; absent in messages of earlier versions
   */
  taken(node: string, sequence: number, taken: readonly RateTaken[], used: readonly number[] = []): BusBody {
    return signed(this.#keys, TAKEN, { node, sequence, taken, used });
  }

  readTaken(body: BusBody): { node: string; sequence: number; taken: RateTaken[]; used: number[] } | undefined {
    const value = unsigned(this.#keys, TAKEN, body);
    if (!isRecord(value) || !isText(value.node) || !NODE.test(value.node) || !isCount(value.sequence)) return undefined;
    const { taken, used = [] } = value;
    if (!Array.isArray(taken) || !taken.every(isRateTaken) || !Array.isArray(used) || !used.every(isAmount))
      return undefined;
    return { node: value.node, sequence: value.sequence, taken, used };
  }
}

type Unknown = Readonly<Record<string, unknown>>;

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= ID_LENGTH_MAX;
const isAmount = (value: unknown): value is number => Number.isFinite(value) && Number(value) >= 0;
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

function isOperation({ op, place, places, keyId, organisationId, keyMax, organisationMax, isFirst }: Unknown): boolean {
  if (op === 'take') {
    const areLimits = isCount(keyMax) && (organisationMax === null || isCount(organisationMax));
    return isCount(place) && isText(keyId) && isText(organisationId) && areLimits;
  }
  if (!Array.isArray(places)) return false;
  if (op === 'leave') return places.every(isCount);
  return op === 'all' && typeof isFirst === 'boolean' && places.every(isPlacesOfKey);
}

function isPlacesOfKey(value: unknown): value is SlotsOfKey {
  if (!Array.isArray(value) || value.length !== 3) return false;
  const [keyId, organisationId, places] = value as unknown[];
  return isText(keyId) && isText(organisationId) && Array.isArray(places) && places.every(isCount);
}

function isRateTaken(value: unknown): value is RateTaken {
  if (!Array.isArray(value) || value.length !== 4) return false;
  const [kind, keyId, count, max] = value as unknown[];
  return (kind === 'requests' || kind === 'tokens') && isText(keyId) && isCount(count) && isCount(max) && max > 0;
}
