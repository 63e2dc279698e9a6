// What nodes say to the one that keeps the accounts, and how it is sealed: with a key that only nodes of this gateway have, bound
// to the direction, the call, the asker and the owner's epoch. What is asked for, and by whom, is decided elsewhere.

import { ERROR_CATALOGUE, type ErrorCode } from '../../api/error-catalogue.ts';
import { Refusal, type RefusalExtras } from '../../api/errors.ts';
import type { BusBody } from '../../bus/bus.ts';
import { plainOfText, textOfPlain } from '../../runtime/plain-data.ts';
import { keyFor, openBytes, sealBytes } from '../../runtime/sealing.ts';
import { StoreError, type StoreErrorReason } from '../../store/store-error.ts';

const PURPOSE = 'voxgate accounts over the bus v1';
const VERSION = 1;
/** Characters of one part of a sealed text: with its envelope it stays below what NATS servers take as they come. */
export const PART_LENGTH_MAX = 640 * 1024;
/** Of one request or answer; as much as the largest answer that is kept for an idempotency key needs. */
export const PARTS_MAX = 16;
const CALL_ID = /^[\w-]{16}$/;
const EPOCH_LENGTH_MAX = 64;
const LEDGER_LENGTH_MAX = 1024;

/** One part of a sealed request. */
export interface AskBody extends BusBody {
  type: 'accounts.ask';
  v: number;
  /** Of the call; never used twice. */
  id: string;
  /** Whose memory of calls the request belongs to; empty while the asker knows none. */
  epoch: string;
  part: number;
  parts: number;
  sealed: string;
}

/** A further part of an answer is asked for. */
export interface RestBody extends BusBody {
  type: 'accounts.rest';
  v: number;
  id: string;
  part: number;
}

/**
 * `answer`: the first part of a sealed answer, or a further one. `more`: the part was taken, the next one is waited for. `epoch`:
 * nothing was done, and the right epoch is sealed in it. `unread`: nothing was done, since it could not be opened or was known.
 */
export interface SaidBody extends BusBody {
  type: 'accounts.answer' | 'accounts.more' | 'accounts.epoch' | 'accounts.unread';
  parts: number;
  sealed: string;
  /** With an epoch: the identity of the ledger that is asked under it, sealed. Absent in what older versions say. */
  ledger?: string;
}

export type Direction = 'ask' | 'answer' | 'epoch' | 'ledger';

/** What a sealed text is bound to. */
export interface Bound {
  id: string;
  /** Incarnation of the node that asks. */
  asker: string;
  /** That the request was made under. */
  epoch: string;
}

export interface AskContent {
  group: string;
  organisationId: string | null;
  call: string;
  args: readonly unknown[];
}

/** A key for sealing, out of a secret of the gateway. */
export const accountsKey = (secret: Uint8Array): Uint8Array => keyFor(PURPOSE, secret);

export function sealContent(key: Uint8Array, direction: Direction, bound: Bound, content: unknown): string {
  return sealBytes(key, about(direction, bound), Buffer.from(textOfPlain(content))).toString('base64');
}

/** Undefined for what was not sealed by a node with this secret, for this direction and call. */
export function openContent(
  key: Uint8Array,
  direction: Direction,
  bound: Bound,
  sealed: string,
): { content: unknown } | undefined {
  const bytes = openBytes(key, about(direction, bound), Buffer.from(sealed, 'base64'));
  if (bytes === undefined) return undefined;
  try {
    return { content: plainOfText(bytes.toString()) };
  } catch {
    return undefined;
  }
}

const about = (direction: Direction, { id, asker, epoch }: Bound): string =>
  JSON.stringify([PURPOSE, direction, id, asker, epoch]);

/** A sealed text in parts that travel; undefined when they are too many. */
export function partsOf(sealed: string): readonly [string, ...string[]] | undefined {
  const [firstPart = '', ...rest] = sealed.match(new RegExp(`[^]{1,${PART_LENGTH_MAX}}`, 'g')) ?? [];
  return rest.length < PARTS_MAX ? [firstPart, ...rest] : undefined;
}

export const askBody = (id: string, epoch: string, part: number, parts: number, sealed: string): AskBody => ({
  type: 'accounts.ask',
  v: VERSION,
  id,
  epoch,
  part,
  parts,
  sealed,
});

export const restBody = (id: string, part: number): RestBody => ({ type: 'accounts.rest', v: VERSION, id, part });

/** Undefined for what is no request, or one of another version. */
export function readRequest(body: BusBody): AskBody | RestBody | undefined {
  const { type, v, id, epoch, part, parts, sealed } = body as Partial<AskBody>;
  if (v !== VERSION || typeof id !== 'string' || !CALL_ID.test(id) || !isPart(part)) return undefined;
  if ((type as string) === 'accounts.rest') return restBody(id, part);
  if (type !== 'accounts.ask' || typeof sealed !== 'string' || sealed.length > PART_LENGTH_MAX) return undefined;
  if (typeof epoch !== 'string' || epoch.length > EPOCH_LENGTH_MAX) return undefined;
  if (!isCount(parts) || part >= parts) return undefined;
  return askBody(id, epoch, part, parts, sealed);
}

export function readSaid(body: BusBody): SaidBody | undefined {
  const { type, parts, sealed, ledger } = body as Partial<SaidBody>;
  const isKnown = ['accounts.answer', 'accounts.more', 'accounts.epoch', 'accounts.unread'].includes(type ?? '');
  if (!isKnown || !isCount(parts) || typeof sealed !== 'string' || sealed.length > PART_LENGTH_MAX) return undefined;
  if (ledger !== undefined && (typeof ledger !== 'string' || ledger.length > LEDGER_LENGTH_MAX)) return undefined;
  return { type: type as SaidBody['type'], parts, sealed, ...(ledger !== undefined && { ledger }) };
}

const isPart = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) < PARTS_MAX;
const isCount = (value: unknown): value is number => (isPart(value) ? value > 0 : value === PARTS_MAX);

export function readContent(content: unknown): AskContent | undefined {
  if (typeof content !== 'object' || content === null) return undefined;
  const { group, organisationId, call, args } = content as Partial<AskContent>;
  if (typeof group !== 'string' || typeof call !== 'string' || !Array.isArray(args)) return undefined;
  if (organisationId !== null && typeof organisationId !== 'string') return undefined;
  return { group, organisationId, call, args };
}

/** What came of a call, as it is sealed into its answer. */
export type Outcome =
  | { value: unknown }
  | { store: StoreErrorReason; message: string }
  | { refusal: ErrorCode; message: string; extras: RefusalExtras };

/** Undefined for what is neither a StoreError nor a Refusal: nobody else is to hear what that says. */
export function outcomeOfError(error: unknown): Outcome | undefined {
  if (error instanceof StoreError) return { store: error.reason, message: error.message };
  if (error instanceof Refusal) return { refusal: error.code, message: error.message, extras: error.extras };
  return undefined;
}

/** The value, or throws what the other side has thrown. */
export function givenBy(content: unknown): unknown {
  const outcome = content as Partial<Record<'value' | 'store' | 'refusal' | 'message' | 'extras', unknown>> | null;
  if (typeof outcome === 'object' && outcome !== null) {
    if ('value' in outcome) return outcome.value;
    const message = String(outcome.message);
    if (typeof outcome.store === 'string') throw new StoreError(outcome.store as StoreErrorReason, message);
    const code = outcome.refusal;
    if (typeof code === 'string' && Object.hasOwn(ERROR_CATALOGUE, code)) {
      throw new Refusal(code as ErrorCode, message, (outcome.extras ?? {}) as RefusalExtras);
    }
  }
  throw new StoreError('failed', 'The node that keeps the accounts answered what is no answer.');
}
