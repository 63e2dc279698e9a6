// Calls the node that keeps the accounts: seals, sends, opens, and repeats a call under the right epoch after a change of owner. Each
// call has a deadline that the owner keeps too, and a node that does not answer is left alone until it does.
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../machines/clock.ts';
import { isRecord } from '../../runtime/plain-data.ts';
import { backgroundClock } from '../../runtime/telemetry/clock.ts';
import type { LedgerIdentity } from '../../store/identity.ts';
import type { Ask } from '../../store/operation.ts';
import { StoreError, type StoreErrorReason } from '../../store/store-error.ts';
import { type Address, type Bus, BusError, type Detach } from '../bus/bus.ts';
import { accountsService } from '../bus/subjects.ts';
import { readIdentity } from '../known-ledger.ts';
import { KnownOwners } from './announcements.ts';
import { OwnerBreaker } from './owner-breaker.ts';
import {
  type AskContent,
  accountsKey,
  askBody,
  type Bound,
  type Direction,
  givenBy,
  openContent,
  partsOf,
  readSaid,
  restBody,
  type SaidBody,
  sealContent,
  shardOf,
} from './protocol.ts';

const CALLS_MAX = 1_024;
const TIMEOUT_MS = 10_000;
/** Tries of a call when the epoch changes; the owner may change twice in a row. */
const EPOCHS_MAX = 3;
/** How long a start waits for an owner that hangs. */
const JOIN_MS = 2_000;
/** Timeout of one attempt within that time. */
const GREETING_MS = 500;
const NOTHING: AskContent = { group: '', organisationId: null, call: '', args: [] };

export interface AccountsClientOptions {
  bus: Bus;
  /** The gateway's secret, the same on every node. */
  secret: Uint8Array;
  /** The previous secret, for an owner that does not have the new one yet. */
  previousSecret?: Uint8Array | undefined;
  clock?: Clock;
  /** Calls that may be open; a further one is rejected with `overflow`. 1024 when absent. */
  callsMax?: number;
  /**
   * What is wrong with the ledger of the answering node, in a sentence; no calls are sent to it then. Accepts every ledger when
   * absent.
   */
  faultOf?: (ledger: LedgerIdentity) => string | undefined;
  /** The service of a shard: `accountsService` when absent, which nodes ask. */
  serviceOf?: (shard: string) => string;
  /** Reports to the operator that the answering node is the wrong one. Called once until it is right again. */
  onForeign?: (sentence: string) => void;
  /** The node has stopped to answer, or answers again. */
  onAway?: (isAway: boolean) => void;
}

export interface AccountsClient {
  /** Rejects at once, as `unreachable`, while the node does not answer. */
  readonly ask: Ask;
  /** Open calls. */
  readonly waiting: number;
  /** Whether calls are rejected without being sent. */
  readonly isAway: boolean;
  /** Whether the node answers now, by a ping that runs nothing. Takes a second at most. */
  isThere(): Promise<boolean>;
  /** Called when another process answers than before. */
  onOwner(listener: () => void): Detach;
  /**
   * Asks the owner only for its epoch and ledger. Resolves with a sentence when it is the wrong one, with undefined when it is
   * right; rejects when none answers.
   */
  greet(): Promise<string | undefined>;
}

interface SealedAsk {
  service: string;
  bound: Bound;
  key: Uint8Array;
  content: AskContent;
  untilMs: number;
}

export function createAccountsClient(options: AccountsClientOptions): AccountsClient {
  return new SealedClient(options);
}

class SealedClient implements AccountsClient {
  readonly ask: Ask;
  readonly #bus: Bus;
  readonly #clock: Clock;
  readonly #keys: readonly Uint8Array[];
  readonly #callsMax: number;
  readonly #from: Address;
  readonly #serviceOf: (shard: string) => string;
  readonly #breaker: OwnerBreaker;
  readonly #owners: KnownOwners;
  /** The last report, by shard. */
  readonly #epochs = new Map<string, { epoch: string; clock: OwnerClock }>();
  readonly #listeners = new Set<() => void>();
  readonly #faultOf: (ledger: LedgerIdentity) => string | undefined;
  readonly #onForeign: (sentence: string) => void;
  #isForeign = false;
  #waiting = 0;

  constructor(options: AccountsClientOptions) {
    const { bus, secret, previousSecret, clock = backgroundClock, callsMax = CALLS_MAX } = options;
    this.#faultOf = options.faultOf ?? (() => undefined);
    this.#onForeign = options.onForeign ?? (() => {});
    this.#bus = bus;
    this.#clock = clock;
    this.#keys = [secret, ...(previousSecret === undefined ? [] : [previousSecret])].map(accountsKey);
    this.#callsMax = callsMax;
    this.#from = bus.address('accounts');
    this.#serviceOf = options.serviceOf ?? accountsService;
    this.#breaker = new OwnerBreaker({ clock, ping: this.#ping.bind(this), onChange: options.onAway });
    this.#owners = new KnownOwners({
      bus,
      clock,
      serviceOf: this.#serviceOf,
      onOpen: () => this.#breaker.answered(),
      onChange: () => this.#breaker.changed(),
    });
    bus.onConnection((isConnected) => isConnected && this.#breaker.answered());
    this.ask = (group, organisationId, call, args, timeoutMs = TIMEOUT_MS) =>
      this.#ask({ group, organisationId, call, args }, timeoutMs);
  }

  get waiting(): number {
    return this.#waiting;
  }

  get isAway(): boolean {
    return this.#breaker.isOpen;
  }

  isThere(): Promise<boolean> {
    return this.#breaker.check();
  }

  onOwner(listener: () => void): Detach {
    const entry = () => listener();
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  }

  async greet(): Promise<string | undefined> {
    const untilMs = this.#clock.now() + JOIN_MS;
    for (;;) {
      try {
        return await this.#greetOnce();
      } catch (error) {
        // NATS may have chosen a frozen former owner; the current owner announces itself every second.
        const isLate = error instanceof BusError && error.reason === 'timeout';
        if (!isLate || this.#clock.now() >= untilMs) throw error;
      }
    }
  }

  async #greetOnce(): Promise<string | undefined> {
    const id = randomBytes(12).toString('base64url');
    for (const key of this.#keys) {
      const attempt = this.#nothing(id, key, GREETING_MS);
      const said = await this.#send(attempt);
      if (said.type === 'accounts.unread') continue;
      this.#learnOwner(attempt, said);
      return this.#faultIn(attempt, said);
    }
    return FOREIGN;
  }

  async #ping(timeoutMs: number): Promise<void> {
    const id = randomBytes(12).toString('base64url');
    await this.#send(this.#nothing(id, this.#keys[0] as Uint8Array, timeoutMs));
  }

  /** A request without an epoch runs nothing. */
  #nothing(id: string, key: Uint8Array, timeoutMs: number): SealedAsk {
    const bound = { id, asker: this.#bus.node, epoch: '' };
    const service = this.#serviceOf(shardOf(null));
    return { service, bound, key, content: NOTHING, untilMs: this.#clock.now() + timeoutMs };
  }

  async #ask(content: AskContent, timeoutMs: number): Promise<unknown> {
    if (this.#waiting >= this.#callsMax) {
      throw new StoreError(
        'overflow',
        `${this.#callsMax} calls to the accounts are waiting already: try again in a moment.`,
      );
    }
    this.#waiting++;
    try {
      return await this.#breaker.run(() => this.#underSomeKey(content, this.#clock.now() + timeoutMs));
    } catch (error) {
      throw error instanceof BusError ? storeErrorOf(error) : error;
    } finally {
      this.#waiting--;
    }
  }

  /** All tries have the same id, so the call runs at most once. */
  async #underSomeKey(content: AskContent, untilMs: number): Promise<unknown> {
    const id = randomBytes(12).toString('base64url');
    const shard = shardOf(content.organisationId);
    let unread = 0;
    for (const key of this.#keys) {
      for (let attempts = 0; attempts < EPOCHS_MAX; attempts++) {
        const { epoch = '', clock } = this.#epochs.get(shard) ?? {};
        const bound = { id, asker: this.#bus.node, epoch };
        const until = clock?.at(untilMs);
        const dated = until === undefined ? content : { ...content, untilMs: until };
        const attempt: SealedAsk = { service: this.#serviceOf(shard), bound, key, content: dated, untilMs };
        const said = await this.#send(attempt);
        if (said.type === 'accounts.unread') {
          unread++;
          break;
        }
        const fault = this.#faultIn(attempt, said);
        if (fault !== undefined) throw this.#foreign(fault);
        this.#isForeign = false;
        if (said.type === 'accounts.answer') {
          const answer = opened(attempt, 'answer', await this.#whole(attempt, said));
          clock?.learn(isRecord(answer) && answer.nowMs, this.#clock.now());
          return givenBy(answer);
        }
        if (said.type === 'accounts.epoch') {
          this.#learn(shard, opened(attempt, 'epoch', said.sealed));
          this.#learnOwner(attempt, said);
        }
        // When late by the owner's clock alone, the call is repeated with the right time.
        if (said.clock !== undefined)
          this.#epochs.get(shard)?.clock.learn(opened(attempt, 'clock', said.clock), this.#clock.now());
      }
    }
    if (unread < this.#keys.length) {
      throw new StoreError('unreachable', 'The node that keeps the accounts has changed too often: try again.');
    }
    throw this.#foreign(FOREIGN);
  }

  #foreign(sentence: string): StoreError {
    if (!this.#isForeign) this.#onForeign(sentence);
    this.#isForeign = true;
    return new StoreError('unreachable', sentence);
  }

  /** The epoch comes with the identity of the ledger, and every answer is bound to the epoch. */
  #faultIn(attempt: SealedAsk, { type, ledger }: SaidBody): string | undefined {
    if (type !== 'accounts.epoch' || ledger === undefined) return undefined;
    const identity = readIdentity(opened(attempt, 'ledger', ledger));
    if (identity === undefined) throw unreadable();
    return this.#faultOf(identity);
  }

  async #send(attempt: SealedAsk): Promise<SaidBody> {
    const { bound, key, content } = attempt;
    const parts = partsOf(sealedContent(key, bound, content));
    if (parts === undefined) throw new StoreError('invalid', `The call ${content.call} has more than can be sent.`);
    for (const [part, sealed] of parts.entries()) {
      const said = await this.#request(attempt, askBody(bound.id, bound.epoch, part, parts.length, sealed));
      if (said.type !== 'accounts.more' || part === parts.length - 1) return said;
    }
    throw unreadable();
  }

  /** Fetches the further parts of the sealed answer, if there are any. */
  async #whole(attempt: SealedAsk, { parts, sealed }: SaidBody): Promise<string> {
    const texts = [sealed];
    for (let part = 1; part < parts; part++) {
      const said = await this.#request(attempt, restBody(attempt.bound.id, part));
      if (said.type !== 'accounts.answer') throw unreadable();
      texts.push(said.sealed);
    }
    return texts.join('');
  }

  async #request(
    { service, untilMs }: SealedAsk,
    body: ReturnType<typeof askBody | typeof restBody>,
  ): Promise<SaidBody> {
    const leftMs = Math.ceil(untilMs - this.#clock.now());
    if (leftMs <= 0) throw new BusError('timeout', 'The node that keeps the accounts did not answer in time.');
    const said = readSaid(await this.#owners.request(service, this.#from, body, leftMs));
    if (said === undefined) throw unreadable();
    this.#breaker.answered();
    return said;
  }

  #learnOwner(attempt: SealedAsk, { type, sealed, owner }: SaidBody): void {
    if (type !== 'accounts.epoch' || owner === undefined) return;
    const [node, epoch] = [opened(attempt, 'owner', owner), opened(attempt, 'epoch', sealed)];
    if (typeof node !== 'string' || typeof epoch !== 'string') throw unreadable();
    this.#owners.found(attempt.service, node, Number.parseInt(epoch, 10));
  }

  #learn(shard: string, epoch: unknown): void {
    if (typeof epoch !== 'string') throw unreadable();
    const before = this.#epochs.get(shard);
    const isSame = before !== undefined && ownerOf(before.epoch) === ownerOf(epoch);
    this.#epochs.set(shard, { epoch, clock: isSame ? before.clock : new OwnerClock() });
    if (before !== undefined && !isSame) for (const listener of [...this.#listeners]) listener();
  }
}

/** An epoch: the owner's revision, and a number that grows when its memory of calls is full. */
const ownerOf = (epoch: string): string => epoch.slice(0, epoch.lastIndexOf('.'));

function sealedContent(key: Uint8Array, bound: Bound, content: AskContent): string {
  try {
    return sealContent(key, 'ask', bound, content);
  } catch {
    throw new StoreError('invalid', `The call ${content.call} was given what is no plain data.`);
  }
}

function opened({ key, bound }: SealedAsk, direction: Exclude<Direction, 'ask'>, sealed: string): unknown {
  const found = openContent(key, direction, bound, sealed);
  if (found === undefined) throw unreadable();
  return found.content;
}

/** The message for a node with another secret than the others. */
export const FOREIGN =
  'The node that keeps the accounts cannot read what this node says: give all nodes the same VOXGATE_SECRET, and while it is changed the one before as VOXGATE_SECRET_PREVIOUS.';

const unreadable = () =>
  new StoreError('unreachable', 'What answered for the node that keeps the accounts could not be understood.');

const REASONS: Partial<Record<BusError['reason'], StoreErrorReason>> = {
  overflow: 'overflow',
  handler_failed: 'failed',
};

/** The error of a call as the store's own. */
function storeErrorOf({ reason, message }: BusError): StoreError {
  return new StoreError(REASONS[reason] ?? 'unreachable', message, { isUnsent: reason === 'unknown_actor' });
}

/**
 * The clock of the node that keeps the accounts, as its answers show it. Deadlines are sent on that clock, so the clocks of two
 * nodes are never compared.
 */
class OwnerClock {
  /** How far the owner's clock is ahead, at least. Undefined while the owner has not reported it. */
  #aheadMs: number | undefined;

  /** An answer says what the owner's clock shows; anything else is ignored. */
  learn(ownerMs: unknown, nowMs: number): void {
    if (typeof ownerMs === 'number' && Number.isFinite(ownerMs)) this.#aheadMs = ownerMs - nowMs;
  }

  /** That time of this node on the owner's clock. The answer took some time to arrive, so it is rather too early than too late. */
  at(ms: number): number | undefined {
    return this.#aheadMs === undefined ? undefined : ms + this.#aheadMs;
  }
}
