// The protocol for calls to the node that keeps the accounts. Everything is sealed with a key of the gateway, and bound to
// direction, call, caller and the owner's epoch.
import { ERROR_CATALOGUE, type ErrorCode } from '../../api/error-catalogue.ts';
import { ApiError, type ApiErrorExtras } from '../../api/errors.ts';
import { plainOfText, textOfPlain } from '../../runtime/plain-data.ts';
import { keyFor, openBytes, sealBytes } from '../../runtime/sealing.ts';
import { StoreError, type StoreErrorReason } from '../../store/store-error.ts';
import type { BusBody } from '../bus/bus.ts';

const PURPOSE = 'voxgate accounts over the bus v1';
const VERSION = 1;
/** Characters in one part of a sealed text; with its envelope it stays below the default limit of NATS servers. */
const PART_LENGTH_MAX = 640 * 1024;
/** Parts of one request or answer; enough for the largest answer that is stored for an idempotency key. */
const PARTS_MAX = 16;
const CALL_ID = /^[\w-]{16}$/;
const EPOCH_LENGTH_MAX = 64;
const ASIDE_LENGTH_MAX = 1024;

/** One part of a sealed request. */
export interface AskBody extends BusBody {
  type: 'accounts.ask';
  v: number;
  /** Id of the call; never used twice. */
  id: string;
  /** The owner's epoch that the caller knows; empty when it knows none. */
  epoch: string;
  part: number;
  parts: number;
  sealed: string;
}

/** Asks for a further part of an answer. */
export interface RestBody extends BusBody {
  type: 'accounts.rest';
  v: number;
  id: string;
  part: number;
}

/**
 * `answer`: the first part of a sealed answer, or a further one. `more`: the part was accepted, send the next one. `epoch`:
 * nothing was run; contains the right epoch, sealed. `late`: nothing was run, because the deadline was over; only for requests
 * with a deadline. `unread`: nothing was run, because the request could not be opened or was a repeat.
 */
export interface SaidBody extends BusBody {
  type: (typeof SAID)[number];
  parts: number;
  sealed: string;
  /** With an epoch: the identity of its ledger, sealed. Absent in older versions. */
  ledger?: string;
  /** With an epoch, and when late: what the owner's clock shows, sealed. Absent in older versions. */
  clock?: string;
  /** With an epoch: the incarnation of the owner, sealed. Absent in older versions. */
  owner?: string;
}

const SAID = ['accounts.answer', 'accounts.more', 'accounts.epoch', 'accounts.late', 'accounts.unread'] as const;

export type Direction = 'ask' | 'answer' | 'epoch' | 'ledger' | 'clock' | 'owner';

/** What a sealed text is bound to. */
export interface Bound {
  id: string;
  /** Incarnation of the calling node. */
  asker: string;
  /** The epoch of the request. */
  epoch: string;
}

export interface AskContent {
  group: string;
  organisationId: string | null;
  call: string;
  args: readonly unknown[];
  /** When the caller gives up, on the owner's clock. Absent in older versions, and while the caller does not know that clock. */
  untilMs?: number;
}

/** Derives a sealing key from a secret of the gateway. */
export const accountsKey = (secret: Uint8Array): Uint8Array => keyFor(PURPOSE, secret);

export function sealContent(key: Uint8Array, direction: Direction, bound: Bound, content: unknown): string {
  return sealBytes(key, about(direction, bound), Buffer.from(textOfPlain(content))).toString('base64');
}

/** Undefined when it was not sealed with this secret, for this direction and call. */
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

/** Splits a sealed text into parts; undefined when there are too many. */
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

/** Undefined when it is not a request of this version. */
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
  const { type, parts, sealed, ledger, clock, owner } = body as Partial<SaidBody>;
  if (type === undefined || !SAID.includes(type) || !isCount(parts)) return undefined;
  if (typeof sealed !== 'string' || sealed.length > PART_LENGTH_MAX) return undefined;
  if (!isAside(ledger) || !isAside(clock) || !isAside(owner)) return undefined;
  return {
    ...{ type, parts, sealed },
    ...(ledger !== undefined && { ledger }),
    ...(clock !== undefined && { clock }),
    ...(owner !== undefined && { owner }),
  };
}

/** Whether it may be sent beside an epoch. */
const isAside = (text: unknown): boolean =>
  text === undefined || (typeof text === 'string' && text.length <= ASIDE_LENGTH_MAX);

const isPart = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) < PARTS_MAX;
const isCount = (value: unknown): value is number => (isPart(value) ? value > 0 : value === PARTS_MAX);

export function readContent(content: unknown): AskContent | undefined {
  if (typeof content !== 'object' || content === null) return undefined;
  const { group, organisationId, call, args, untilMs } = content as Partial<AskContent>;
  if (typeof group !== 'string' || typeof call !== 'string' || !Array.isArray(args)) return undefined;
  if (organisationId !== null && typeof organisationId !== 'string') return undefined;
  if (untilMs !== undefined && typeof untilMs !== 'number') return undefined;
  return { group, organisationId, call, args, ...(untilMs !== undefined && { untilMs }) };
}

/** The outcome of a call, as it is sealed into the answer. */
export type Outcome =
  | { value: unknown }
  | { store: StoreErrorReason; message: string }
  | { refusal: ErrorCode; message: string; extras: ApiErrorExtras };

/** Undefined when it is neither a StoreError nor an ApiError; the text of such an error stays on this node. */
export function outcomeOfError(error: unknown): Outcome | undefined {
  if (error instanceof StoreError) return { store: error.reason, message: error.message };
  if (error instanceof ApiError) return { refusal: error.code, message: error.message, extras: error.extras };
  return undefined;
}

/** Returns the value, or throws the error of the other side. */
export function givenBy(content: unknown): unknown {
  const outcome = content as Partial<Record<'value' | 'store' | 'refusal' | 'message' | 'extras', unknown>> | null;
  if (typeof outcome === 'object' && outcome !== null) {
    if ('value' in outcome) return outcome.value;
    const message = String(outcome.message);
    if (typeof outcome.store === 'string') throw new StoreError(outcome.store as StoreErrorReason, message);
    const code = outcome.refusal;
    if (typeof code === 'string' && Object.hasOwn(ERROR_CATALOGUE, code)) {
      throw new ApiError(code as ErrorCode, message, (outcome.extras ?? {}) as ApiErrorExtras);
    }
  }
  throw new StoreError('failed', 'The node that keeps the accounts answered what is no answer.');
}

/** The shard of calls that belong to no organisation, or to one that is not known yet. */
export const FIRST_SHARD = '0';

/**
 * The shard of an organisation's accounts. There is one shard today; requests name their organisation so that there can be more.
 *
 * @param _organisationId null when the call names none
 */
export function shardOf(_organisationId: string | null): string {
  return FIRST_SHARD;
}
