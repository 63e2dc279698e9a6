// The reservations of a node: money is held for sessions and files when they begin and settled when they end, and what the ledger
// could not take yet is not forgotten. How far a hold goes is meter.ts and billing/reserve.ts; what a movement is, the ledger itself.
import type { Clock } from '../../../machines/clock.ts';
import { ownerOf } from '../../api/slug.ts';
import { boundMicroUsd } from '../../config/prices/reserve.ts';
import { StoreError, type StoreErrorReason } from '../../store/store-error.ts';
import type {
  HoldGrant,
  HoldRequest,
  LedgerStore,
  SessionEnd,
  SessionHead,
  SessionRecord,
  UsageLine,
} from '../store/calls.ts';
import { ceilingIn, GATEWAY_SCOPE, type ReachedCeiling } from '../store/ceiling-words.ts';
import { History } from './history/history.ts';
import { EndedEntry, Journal, LiveEntry } from './journal.ts';
import { isFree, LEASE_MS, Meter, type MeterCandidate } from './meter.ts';
import { asHeld, type Grant } from './meter-contract.ts';
import { membersWithin, minuteIn, RefusedHold, withinBounds } from './price-bounds.ts';
import { NEVER, type Recovered, recoverUsage } from './recovery.ts';
import { apiErrorOf, tooDear } from './shortage.ts';
import { UnansweredHolds } from './unanswered-holds.ts';

/** What a session holds when it opens, in audio. */
const OPENING_MS = 60_000;
/** With less than this a session is not worth opening. */
const OPENING_MS_MIN = 1_000;
const BUSY_TRIES_MAX = 5;
/** Of an accounts node, or a replica, of a version that does not count own keys. */
const NOT_KNOWN: ReadonlySet<StoreErrorReason> = new Set(['conflict', 'invalid']);
/** Held where nothing is counted: more than any session uses until it is renewed. */
const UNCOUNTED_MICRO_USD = 10n ** 12n;
const ANSWER_MS = 10_000;
/** Ended sessions and files that wait for the ledger; past the first number nothing that costs is begun, past the second nothing. */
const UNSETTLED_MAX = 10_000;
const UNSETTLED_FREE_MAX = 100_000;
/** Other processes' journals are looked at again, as long as there are any. */
const RECOVER_AGAIN_MS = 60_000;
const SETTLE_AGAIN_MS = 250;
const SETTLE_AGAIN_MS_MAX = 10_000;

export interface ReservationStore
  extends Pick<LedgerStore, 'openSession' | 'renewHold' | 'settleSession' | 'balanceOf'> {
  /** Absent where own provider keys do not count under ceilings on spend. */
  holdOwn?: LedgerStore['holdOwn'];
  /** The same as `settleSession` for a store whose answer to that is not the ledger's own: this one's is, where it can be had. */
  settleExactly?: LedgerStore['settleSession'];
  /** Settles a session that nobody waits for: its bill is written together with others. */
  settleSoon?: LedgerStore['settleSession'];
  /** Where the database is on this node. */
  closeLost?: LedgerStore['closeLost'];
}

export interface ReservationsOptions {
  store: ReservationStore;
  clock: Clock;
  wallNow(): Date;
  /** This node's incarnation. */
  node: string;
  /** `historyDays`: how long settled sessions are kept beside the ledger, for a restore. */
  settings: { directory: string; journalSyncMs: number; graceMs: number; historyDays: number };
  /** What should not have happened; the work continues. */
  onFault(name: string, error: unknown): void;
  onSettled?(record: SessionRecord): void;
  /** A hold was refused, or less than was wanted, since the key has spent or holds what it may spend today. */
  onDailySpend?(head: SessionHead, isKept?: boolean): void;
  /** A part of a ceiling on spend is used that was not reported before, or a hold was refused by it. */
  onCeiling?(ceiling: ReachedCeiling): void;
}

interface Pending {
  head: SessionHead;
  end: SessionEnd;
  isExact: boolean;
  tries: number;
  timer: unknown;
  /** What the ledger says, or undefined when it never will. */
  done(record: SessionRecord | undefined): void;
}

export class Reservations {
  readonly #options: ReservationsOptions;
  /** What the next process would settle. */
  readonly journal: Journal;
  readonly unanswered: UnansweredHolds;
  readonly #history: History;
  readonly #pending = new Map<string, Pending>();
  #closed = false;
  #failing = false;
  #recoverTimer: unknown;
  #whenSettled: (() => void) | undefined;

  constructor(options: ReservationsOptions) {
    this.#options = options;
    const { clock, node, settings, onFault } = options;
    this.journal = new Journal({
      directory: settings.directory,
      node,
      clock,
      syncMs: settings.journalSyncMs,
      onFault: (error) => onFault('usage journal', error),
    });
    this.#history = new History({
      directory: settings.directory,
      days: settings.historyDays,
      wallNow: options.wallNow,
      onFault: (error) => onFault('usage history', error),
    });
    const settle = this.settle.bind(this);
    this.unanswered = new UnansweredHolds({ ...options, mayTrust: settings.graceMs > 0, settle });
  }

  /** Ended sessions and files whose bill the ledger does not know yet. */
  get unsettled(): number {
    return this.#pending.size;
  }

  /** Settles what processes that are gone left behind; and comes back as long as others are there that may be gone one day. */
  async recover(): Promise<Recovered> {
    const { settings, wallNow, store, clock, node, onFault } = this.#options;
    await this.journal.begin();
    const recovered = await recoverUsage({
      directory: settings.directory,
      node,
      wallNow,
      settle: async (head, end) => {
        await store.settleSession(head, end);
        this.#history.note(head, end);
      },
      closeLost: store.closeLost?.bind(store),
      onFault: (error) => onFault('usage recovery', error),
    });
    if (recovered.left > 0 && !this.#closed) {
      this.#recoverTimer = clock.setTimeout(() => void this.recover(), RECOVER_AGAIN_MS);
    }
    return recovered;
  }

  /**
   * A live session's meter, with its first hold. `members` is the chain, the first of it the one that begins. Throws an ApiError:
   * `insufficient_credit`, `rate_limit_exceeded` for the day's spend, `max_cost_reached`, or `ledger_unavailable`. Free ones do not ask
   * the ledger. `isUnlimited`: the ledger would grant every hold, so none is needed while it does not answer. `maxMicroUsd`: the most
   * that the session may cost.
   */
  async open(
    head: SessionHead,
    members: readonly MeterCandidate[],
    isUnlimited = false,
    maxMicroUsd?: bigint,
  ): Promise<Meter> {
    const begun = await withinBounds(members, ([first]) => {
      const member = first as MeterCandidate;
      if (isFree(member)) {
        this.#requireRoom(UNSETTLED_FREE_MAX);
        if (!member.counted) this.#note(head);
      }
      return this.begin(head, member, isUnlimited, maxMicroUsd);
    });
    const { result: grant, left } = begun;
    const bounds = grant.onlyUpTo === undefined ? begun.bounds : [...(begun.bounds ?? []), ...grant.onlyUpTo];
    const { clock, settings } = this.#options;
    const { graceMs } = settings;
    const meter = new Meter({
      ...{ head, members: membersWithin(left, bounds), bounds, grant, isUnlimited, maxMicroUsd, clock, graceMs },
      reservations: this,
    });
    this.journal.keep(new LiveEntry(meter, this.#options.wallNow));
    return meter;
  }

  /** What the member is to begin with, in a session that holds nothing: a new one, or one that was free so far. The same refusals. */
  async begin(head: SessionHead, member: MeterCandidate, isUnlimited: boolean, roomMicroUsd?: bigint): Promise<Grant> {
    if (member.counted) return this.#beginOwn(head, member);
    const openingMicroUsd = isFree(member) ? 0n : boundMicroUsd([member], OPENING_MS);
    const leastMicroUsd = isFree(member) ? 0n : boundMicroUsd([member], OPENING_MS_MIN);
    if (roomMicroUsd !== undefined && roomMicroUsd < leastMicroUsd) throw tooDear(member.slug, roomMicroUsd);
    const isShort = roomMicroUsd !== undefined && roomMicroUsd < openingMicroUsd;
    const wantedMicroUsd = isShort ? roomMicroUsd : openingMicroUsd;
    const provider = ownerOf(member.slug);
    const elsewhere = provider === ownerOf(head.model) ? {} : { providers: [provider] };
    const hold = { wantedMicroUsd, leastMicroUsd, leaseMs: LEASE_MS, ...elsewhere, ...minuteIn([member]) };
    const grant = await this.hold(head, hold, isUnlimited);
    // Another process took this one for dead, and settled the session: nothing more can be charged for it.
    if (grant.settled === true) throw apiErrorOf({ reason: 'overflow' });
    return isShort && grant.limitedBy === null ? { ...grant, limitedBy: 'max_cost' } : grant;
  }

  /** On an own key that counts under ceilings on spend. */
  async #beginOwn(head: SessionHead, member: MeterCandidate): Promise<Grant> {
    const paid = [asHeld(member)];
    const hold: HoldRequest = {
      wantedMicroUsd: boundMicroUsd(paid, OPENING_MS),
      leastMicroUsd: boundMicroUsd(paid, OPENING_MS_MIN),
      leaseMs: LEASE_MS,
      providers: [ownerOf(member.slug)],
      ...minuteIn([member]),
    };
    const grant = await this.holdOwn(head, hold);
    if (grant.settled === true) throw apiErrorOf({ reason: 'overflow' });
    return grant;
  }

  /** The first hold of a session or file on an own key; the refusals of `hold`, but for credit and the day's spend. */
  async holdOwn(head: SessionHead, hold: HoldRequest): Promise<HoldGrant> {
    for (let tries = 1; ; tries++) {
      try {
        return this.#accepted(head, await this.#renewOwn(head, [], hold));
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        if (!(error instanceof RefusedHold)) this.#noteRefused(head, error);
        if (error.reason === 'busy' && tries < BUSY_TRIES_MAX) continue;
        throw Object.assign(apiErrorOf(error), { cause: error });
      }
    }
  }

  async renewOwn(head: SessionHead, lines: readonly UsageLine[], hold: HoldRequest): Promise<HoldGrant> {
    return this.#noted(head, await this.#renewOwn(head, lines, hold));
  }

  async #renewOwn(head: SessionHead, lines: readonly UsageLine[], hold: HoldRequest): Promise<HoldGrant> {
    const { store } = this.#options;
    try {
      if (store.holdOwn !== undefined)
        return await this.#within(store.holdOwn(head, lines, { ...hold, keepsReached: true }));
    } catch (error) {
      if (!(error instanceof StoreError && NOT_KNOWN.has(error.reason))) throw error;
    }
    // Not every node that keeps the accounts knows of it: nothing is counted then, as before.
    return { heldMicroUsd: UNCOUNTED_MICRO_USD, limitedBy: null };
  }

  /** A session that costs nothing is noted in the ledger while it runs, without waiting for it. */
  #note(head: SessionHead): void {
    const nothing: HoldRequest = { wantedMicroUsd: 0n, leastMicroUsd: 0n, leaseMs: LEASE_MS };
    this.#options.store.openSession(head, nothing).catch((error: unknown) => this.#options.onFault('open', error));
  }

  /** A hold for a session or a file; the same refusals. Nothing is asked for nothing. */
  async hold(head: SessionHead, hold: HoldRequest, isUnlimited = false): Promise<Grant> {
    const isNothing = hold.wantedMicroUsd === 0n;
    this.#requireRoom(isNothing ? UNSETTLED_FREE_MAX : UNSETTLED_MAX);
    if (isNothing) return { heldMicroUsd: 0n, limitedBy: null };
    for (let tries = 1; ; tries++) {
      try {
        const asked = { ...hold, keepsReached: true } as const;
        return this.#accepted(head, await this.#within(this.#options.store.openSession(head, asked)));
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        if (!(error instanceof RefusedHold)) this.#noteRefused(head, error);
        // A lock is held for half a second at most before this is told.
        if (error.reason === 'busy' && tries < BUSY_TRIES_MAX) continue;
        const trusted = this.unanswered.instead(head, error, isUnlimited);
        if (trusted !== undefined) return trusted;
        throw Object.assign(apiErrorOf(error), { cause: error });
      }
    }
  }

  /** What a new hold may take, in micro-USD; null without a limit. */
  async creditOf(organisationId: string): Promise<bigint | null> {
    return (await this.#within(this.#options.store.balanceOf(organisationId))).availableMicroUsd;
  }

  async renew(head: SessionHead, lines: readonly UsageLine[], hold: HoldRequest): Promise<HoldGrant> {
    const { store } = this.#options;
    try {
      return this.#noted(head, await this.#within(store.renewHold(head, lines, { ...hold, keepsReached: true })));
    } catch (error) {
      // The ledger could not be told of the session when it began.
      if (error instanceof StoreError && error.reason === 'not_found')
        return this.#within(store.openSession(head, hold));
      throw error;
    }
  }

  /** Throws what the ledger answers as a refusal. */
  #accepted(head: SessionHead, grant: HoldGrant): HoldGrant {
    this.#noted(head, grant);
    if (!grant.isRefused) return grant;
    throw new RefusedHold(grant);
  }

  #noted(head: SessionHead, grant: HoldGrant): HoldGrant {
    if (grant.limitedBy === 'daily_spend') this.#options.onDailySpend?.(head, grant.isDayKept);
    for (const ceiling of grant.reached ?? []) this.#options.onCeiling?.(ceiling);
    return grant;
  }

  /** By a ledger of an older version, which keeps nothing of it. */
  #noteRefused(head: SessionHead, { reason, message }: StoreError): void {
    const { organisationId } = head;
    if (reason === 'daily_spend') this.#options.onDailySpend?.(head);
    if (reason !== 'spend_ceiling') return;
    const ceiling = ceilingIn(message);
    if (ceiling === undefined) return;
    const told = ceiling.scope === GATEWAY_SCOPE ? null : organisationId;
    this.#options.onCeiling?.({ ...ceiling, organisationId: told, percent: 100, usedMicroUsd: ceiling.limitMicroUsd });
  }

  /** The ledger of this node has settled what another node told of: it belongs in the history of this ledger too. */
  noteSettled(head: SessionHead, end: SessionEnd): void {
    this.#history.note(head, end);
  }

  /** Waits for what is being settled, not longer than told; the rest is in the journal for the next start. */
  async close(timeoutMs: number): Promise<void> {
    if (this.#pending.size > 0) await this.#settled(timeoutMs);
    this.#closed = true;
    this.#options.clock.clearTimeout(this.#recoverTimer);
    this.unanswered.close();
    for (const { timer } of this.#pending.values()) this.#options.clock.clearTimeout(timer);
    await this.journal.close();
    await this.#history.close();
  }

  /** What cannot be settled waits in memory: while too much does, nothing more is begun. */
  #requireRoom(unsettledMax: number): void {
    if (this.#pending.size >= unsettledMax) throw apiErrorOf({ reason: 'overflow' });
  }

  /** A ledger that does not answer counts as locked. A hold that it grants too late ends with the next renewal, or its lease. */
  #within<Value>(answer: Promise<Value>): Promise<Value> {
    const { clock } = this.#options;
    return new Promise((resolve, reject) => {
      const timer = clock.setTimeout(
        () => reject(new StoreError('overflow', 'The ledger did not answer in time.')),
        ANSWER_MS,
      );
      answer.then(resolve, reject).finally(() => clock.clearTimeout(timer));
    });
  }

  /**
   * Resolves when the ledger knows, or has refused for good; however long that takes.
   *
   * @param isExact whether the ledger may know another bill of it than this one
   */
  settle(head: SessionHead, end: SessionEnd, isExact = false): Promise<SessionRecord | undefined> {
    return new Promise((resolve) => {
      const pending: Pending = { head, end, isExact, tries: 0, timer: undefined, done: resolve };
      this.#pending.set(head.id, pending);
      this.journal.keep(new EndedEntry(head, end));
      this.#trySettling(pending);
    });
  }

  #trySettling(pending: Pending): void {
    if (this.#closed) {
      this.#options.onFault('settle', new Error(`${pending.head.id} ended after the reservations were closed.`));
      return;
    }
    pending.tries++;
    const { onSettled, onFault, clock } = this.#options;
    const { head, end } = pending;
    this.#settling(pending).then(
      (record) => {
        this.#failing = false;
        this.#history.note(head, end);
        this.#forget(pending, record);
        onSettled?.(record);
      },
      (error: unknown) => {
        const reason = error instanceof StoreError ? error.reason : undefined;
        // Once for each time that it fails, not once for each that waits.
        if (!this.#failing) onFault('settle', error);
        // What the ledger does not have is to outlive this process.
        if (pending.tries === 1) void this.journal.sync();
        this.#failing = true;
        // The ledger refuses it for good because it is invalid. Report it and do not try again.
        if (reason !== undefined && NEVER.has(reason)) {
          this.#forget(pending, undefined);
          return;
        }
        const afterMs = Math.min(SETTLE_AGAIN_MS_MAX, SETTLE_AGAIN_MS * 2 ** Math.min(10, pending.tries - 1));
        pending.timer = clock.setTimeout(() => this.#trySettling(pending), afterMs);
      },
    );
  }

  #settling({ head, end, isExact }: Pending): Promise<SessionRecord> {
    const { store } = this.#options;
    if (isExact && store.settleExactly !== undefined) return store.settleExactly(head, end);
    if (!isExact && store.settleSoon !== undefined) return store.settleSoon(head, end);
    return store.settleSession(head, end);
  }

  #forget(pending: Pending, record: SessionRecord | undefined): void {
    this.#pending.delete(pending.head.id);
    this.journal.crossOut(pending.head.id);
    pending.done(record);
    if (this.#pending.size === 0) this.#whenSettled?.();
  }

  #settled(timeoutMs: number): Promise<void> {
    const { clock } = this.#options;
    return new Promise((resolve) => {
      const timer = clock.setTimeout(resolve, timeoutMs);
      this.#whenSettled = () => {
        clock.clearTimeout(timer);
        resolve();
      };
    });
  }
}
