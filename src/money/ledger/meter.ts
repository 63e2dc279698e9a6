// What one live session may spend: how far its audio and its open connection may go on the held money, when to ask for more, and
// what happens when there is none. Positions are milliseconds of the session's audio.

import { ownerOf } from '../../api/slug.ts';
import { billedMsOf, lineCostMicroUsd } from '../../config/prices/price.ts';
import { boundMicroUsd, carriedMs } from '../../config/prices/reserve.ts';
import type { HoldGrant, PriceBound, Redactions, SessionEnd, SessionHead, UsageLine } from '../store/calls.ts';
import {
  asHeld,
  type Grant,
  type MeterCandidate,
  type MeterListener,
  type MeterOptions,
  type MeterSource,
  type MeterState,
  rated,
  type Shortage,
} from './meter-contract.ts';
import { isWithin, minuteIn } from './price-bounds.ts';

export type { MeterCandidate, MeterListener, MeterSource, MeterState, Shortage };

/** What is requested at a time. */
const AHEAD_MS = 60_000;
/** With less than this left, more is requested. */
const LOW_MS = 30_000;
export const LEASE_MS = 60_000;
const RENEW_MS = 30_000;
const AGAIN_MS = 1_000;
const AGAIN_MS_MAX = 10_000;

export const isFree = ({ own, price }: MeterCandidate): boolean =>
  own || (price.microUsd === 0n && price.minimumMicroUsd === 0n);

/** Nothing is held for it either: it is free, and does not count under ceilings on spend. */
const isUnheld = (member: MeterCandidate): boolean => isFree(member) && member.counted !== true;

export class Meter {
  readonly head: SessionHead;
  readonly #members: MeterCandidate[] = [];
  readonly #options: MeterOptions;
  #source: MeterSource | undefined;
  #listener: MeterListener | undefined;
  #active: MeterCandidate;
  /** With `max_cost`: the members that heard some of it, whose prices may apply to audio without a final. */
  readonly #heard: MeterCandidate[] = [];
  #held: bigint;
  /** What is held is for an own provider key: it counts under ceilings, and is no credit. */
  #isOwnHold: boolean;
  /** Where there are ceilings on spend: the providers that the hold is for. */
  #providers: readonly string[] | undefined;
  /** The price of a minute that the hold was made for, which decides which ceilings bound it; undefined for one of each session. */
  #heldPrice: bigint | undefined;
  /** What the settled lines had cost when the hold was made: it pays for what comes after. */
  #paid = 0n;
  #allowed: number;
  #shortage: Shortage | undefined;
  /** Where a ceiling on spend makes it short: prices up to which it leaves models. */
  #leaves: readonly PriceBound[] | undefined;
  #lowTold = false;
  #asking = false;
  #askedLast = false;
  #failures = 0;
  #trustedMs = 0;
  /** Audio was let through without a hold: what is charged may be more than what was held. */
  #wasTrusted = false;
  #timer: unknown;
  /** When an open connection comes to what is held for it. */
  #connectionTimer: unknown;
  #ended = false;

  constructor(options: MeterOptions) {
    this.#options = options;
    this.head = options.head;
    this.add(options.members);
    this.#active = this.#members[0] as MeterCandidate;
    if (options.maxMicroUsd !== undefined) this.#heard.push(this.#active);
    this.#held = options.grant.heldMicroUsd;
    this.#isOwnHold = this.#active.counted === true;
    this.#providers = options.grant.providers;
    this.#heldPrice = minuteIn([this.#active]).minuteMicroUsd;
    this.#shortage = options.grant.limitedBy ?? undefined;
    this.#leaves = options.grant.leaves;
    if (options.grant.onTrust) this.#beginOnTrust();
    this.#allowed = this.#reach();
  }

  /** Prices up to which ceilings that were reached at the opening leave models. */
  get bounds(): readonly PriceBound[] | undefined {
    return this.#options.bounds;
  }

  get members(): readonly MeterCandidate[] {
    return this.#members;
  }

  /** Members of a chain that continues behind this one. */
  add(members: readonly MeterCandidate[]): void {
    for (const member of members) this.#members.push(rated(member, this.#members));
  }

  /** The member is to hear next. A session that was free so far asks for its money as a new one does; rejects with an ApiError. */
  async prepare(member: MeterCandidate): Promise<void> {
    if (this.#ended || !isFree(this.#active) || isFree(member)) return;
    if (this.#held > 0n && !this.#isOwnHold) return;
    const lines = this.#source?.settledLines() ?? [];
    const { reservations, isUnlimited } = this.#options;
    const { heldMicroUsd, onTrust, providers } = await reservations.begin(
      this.head,
      this.#rest(lines, member),
      isUnlimited,
      this.#roomBeyond(lines),
    );
    // With an own key that is held for, it is held in addition: it is renewed once the member hears.
    if (this.#ended || this.#isOwnHold) return;
    // Whether it is enough is found out when the member hears. One that never does gives it back at the next renewal.
    this.#held = heldMicroUsd;
    this.#providers = providers;
    this.#heldPrice = minuteIn([member]).minuteMicroUsd;
    if (onTrust) this.#beginOnTrust();
    this.#extend();
    this.#arm(onTrust ? AGAIN_MS : RENEW_MS);
  }

  /** The session begins. */
  attach(source: MeterSource, listener: MeterListener): void {
    this.#source = source;
    this.#listener = listener;
    if (this.#shortage !== undefined) this.#tellLow();
    this.#tellReached(this.#options.grant);
    if (!isUnheld(this.#active)) this.#arm(this.#failures > 0 ? AGAIN_MS : RENEW_MS);
  }

  /** Audio before this position may be sent. */
  get allowedMs(): number {
    return this.#allowed;
  }

  /** Another member of the chain hears from now on: what is held goes as far as its price lets it. */
  use(index: number): void {
    this.#active = this.members[index] as MeterCandidate;
    const isNew = this.#options.maxMicroUsd !== undefined && !this.#heard.includes(this.#active);
    if (isNew) this.#heard.push(this.#active);
    const isRelieved = this.#relieve();
    this.#extend();
    if (isUnheld(this.#active)) return;
    if (this.#timer === undefined) this.#arm(RENEW_MS);
    if (!this.#isCovered || this.#isDearer || isRelieved) this.#ask();
    this.sent();
  }

  get heldMicroUsd(): bigint {
    return this.#held;
  }

  /** In one word, for whoever looks at the session. */
  get state(): MeterState {
    if (this.#shortage !== undefined) return 'short';
    if (this.#trustedMs > 0) return 'trusted';
    if (isUnheld(this.#active)) return 'free';
    return (this.#source?.sentMs() ?? 0) >= this.#allowed ? 'starved' : 'held';
  }

  /** Whether the ceiling that makes it short would leave that member of the chain. */
  leaves(index: number): boolean {
    const member = this.#members[index];
    if (this.#shortage !== 'ceiling' || this.#leaves === undefined || member === undefined) return false;
    return isWithin(member, this.#leaves);
  }

  /** Whether a ceiling that leaves some models makes it short, and what is held may not last for another turn. */
  get isCeilingNear(): boolean {
    if (this.#shortage !== 'ceiling' || this.#leaves === undefined) return false;
    const source = this.#source;
    return source !== undefined && Math.min(this.#allowed - source.sentMs(), source.connectionLeftMs()) < LOW_MS;
  }

  /**
   * The ceiling that made it short does not bound the member that hears now: what is held from now on is for that one alone, so that
   * the ceiling of a provider that it has left does not bound it either.
   */
  #relieve(): boolean {
    if (this.#shortage !== 'ceiling' || this.#leaves === undefined || !isWithin(this.#active, this.#leaves))
      return false;
    this.#shortage = undefined;
    this.#leaves = undefined;
    this.#lowTold = false;
    this.#askedLast = false;
    const owner = ownerOf(this.#active.slug);
    if (this.#providers !== undefined) this.#providers = this.#providers.filter((each) => each === owner);
    return true;
  }

  /** Audio was sent: asks for more in time. */
  sent(): void {
    const isLow = this.#allowed - (this.#source?.sentMs() ?? 0) < LOW_MS;
    if (isLow && this.#shortage === undefined && this.#failures === 0) this.#ask();
  }

  /**
   * Audio, or the connection, waits for money. Undefined while more may come, which `extended` tells; else why there is none.
   */
  starved(): Shortage | undefined {
    // It is asked again when its time comes.
    if (this.#failures > 0 && this.#shortage === undefined) return undefined;
    if (this.#asking || !this.#askedLast) {
      // Credit may have been added since: ask once more before the session is cut off.
      this.#askedLast = this.#shortage !== undefined;
      this.#ask();
      return undefined;
    }
    return this.#shortage;
  }

  /** The end. `lines`: all that is to be billed. */
  settle(end: SessionEnd): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const timer of [this.#timer, this.#connectionTimer]) this.#options.clock.clearTimeout(timer);
    this.#options.reservations.settle(this.head, { ...end, ...this.#trust() });
  }

  /** The session was never opened: what was held for it goes back. */
  abandon(endedAt: Date): void {
    this.settle({ ...NOTHING_HEARD, endedAt: endedAt.toISOString() });
  }

  /** What would be billed if the process ended now. */
  get snapshot(): { audioMs: number; lines: UsageLine[]; redactions?: Redactions } | undefined {
    const source = this.#source;
    if (source === undefined) return undefined;
    const used = { audioMs: Math.round(source.receivedMs()), lines: source.sentLines() };
    const redactions = source.redactions?.();
    return redactions === undefined ? used : { ...used, redactions };
  }

  /** How far audio may go from what is settled: what an open connection has cost pays for audio as well. */
  #reach(): number {
    const lines = this.#source?.settledLines() ?? [];
    const { audioMs = 0, connectionMs = 0 } = this.#lineIn(lines) ?? {};
    return (this.#source?.settledMs() ?? 0) + Math.max(0, connectionMs - audioMs) + this.#carriedFrom(lines);
  }

  /** How long the connection may be open, in all, when what was sent is billed as well. */
  #connectionReach(): number {
    const lines = this.#source?.sentLines() ?? [];
    const line = this.#lineIn(lines);
    return (line === undefined ? 0 : billedMsOf(line)) + this.#carriedFrom(lines);
  }

  #lineIn(lines: readonly UsageLine[]): UsageLine | undefined {
    const { slug, own, rate } = this.#active;
    return lines.find((line) => line.model === slug && line.own === own && line.rate === rate);
  }

  /** How much more than the lines the hold pays for, at the price of the member that hears. */
  #carriedFrom(lines: readonly UsageLine[]): number {
    if (isUnheld(this.#active)) return Number.POSITIVE_INFINITY;
    if (!this.#isCovered) return 0;
    if (this.#isDearer) return this.#trustedMs;
    const left = this.#held - (this.#usedIn(lines) - this.#paid);
    const price = [asHeld(this.#rest(lines))];
    const carried = carriedMs(price, left < 0n ? -left : left);
    // Nothing that is heard from now on costs more.
    if (carried === Number.POSITIVE_INFINITY) return carried;
    // What was let through on trust and is settled since counts against the trust.
    const reach = this.#trustedMs + (left < 0n ? -carried : carried);
    const room = this.#roomBeyond(lines);
    return room === undefined ? reach : Math.min(reach, this.#carriedIn(room, lines));
  }

  /** What the lines used of a hold for the member that hears: what they cost, or what they count for with an own key. */
  #usedIn(lines: readonly UsageLine[]): bigint {
    return this.#active.counted ? countedOf(lines) : costOf(lines);
  }

  /** Whether the hold is for the provider that hears, and for its account. It is asked for where it is not. */
  get #isCovered(): boolean {
    if (this.#held > 0n && this.#isOwnHold !== (this.#active.counted === true)) return false;
    return this.#providers === undefined || this.#providers.includes(ownerOf(this.#active.slug));
  }

  /** Whether the hold was made for a cheaper model: ceilings that leave that one do not bound it, so it pays for no dearer one. */
  get #isDearer(): boolean {
    if (this.#providers === undefined || this.#heldPrice === undefined) return false;
    const { minuteMicroUsd } = minuteIn([this.#active]);
    return minuteMicroUsd === undefined || minuteMicroUsd > this.#heldPrice;
  }

  /** Also those that heard some of it before: they may be charged for audio without a final. */
  #heldFor(): { providers?: readonly string[] } {
    const providers = this.#providers;
    if (this.#active.counted) return { providers: [ownerOf(this.#active.slug)] };
    if (providers === undefined || isFree(this.#active)) return {};
    return { providers: this.#isCovered ? providers : [...providers, ownerOf(this.#active.slug)] };
  }

  #tellReached({ reached = [] }: Pick<Grant, 'reached'>): void {
    for (const ceiling of reached) this.#listener?.reached?.(ceiling);
  }

  /** What `max_cost` leaves beyond the lines; undefined without it. */
  #roomBeyond(lines: readonly UsageLine[]): bigint | undefined {
    const { maxMicroUsd } = this.#options;
    return maxMicroUsd === undefined ? undefined : most(0n, maxMicroUsd - costOf(lines));
  }

  /** How much audio beyond the lines the room pays for, whichever of the members that heard some of it is charged. */
  #carriedIn(room: bigint, lines: readonly UsageLine[]): number {
    return carriedMs(
      this.#heard.map((member) => this.#rest(lines, member)),
      room,
    );
  }

  /** A member's price, without what is charged only once, at whatever rate, and was charged. */
  #rest(lines: readonly UsageLine[], member = this.#active): MeterCandidate {
    const { slug, own, price, counted } = member;
    if (!lines.some((line) => line.model === slug && line.own === own && billedMsOf(line) > 0)) return member;
    const microUsd = price.unit === 'session' ? 0n : price.microUsd;
    const rest: MeterCandidate = { slug, own, price: { ...price, microUsd, minimumMicroUsd: 0n } };
    if (counted) rest.counted = true;
    return rest;
  }

  #ask(): void {
    const source = this.#source;
    if (this.#asking || this.#ended || source === undefined) return;
    this.#asking = true;
    this.#options.clock.clearTimeout(this.#timer);
    const lines = source.settledLines();
    const wantedMs = Math.max(0, source.sentMs() - source.settledMs()) + AHEAD_MS;
    const free = isUnheld(this.#active);
    const isOwn = this.#active.counted === true;
    const price = [asHeld(this.#rest(lines))];
    const used = this.#usedIn(lines);
    // What was sent and is not settled may have been heard by a dearer member.
    const unsettledMicroUsd = this.#usedIn(source.sentLines()) - used;
    const aheadMicroUsd = unsettledMicroUsd + boundMicroUsd(price, AHEAD_MS);
    const neededMicroUsd = free ? 0n : most(boundMicroUsd(price, wantedMs), aheadMicroUsd);
    const leastMicroUsd = this.#isCovered || isOwn ? 0n : unsettledMicroUsd;
    const room = free || isOwn ? undefined : this.#roomBeyond(lines);
    const isShort = room !== undefined && (room < neededMicroUsd || this.#carriedIn(room, lines) < wantedMs);
    const wantedMicroUsd = isShort && room < neededMicroUsd ? room : neededMicroUsd;
    const { reservations } = this.#options;
    const minute = minuteIn([this.#active]);
    const kept = this.#isDearer ? { keptMicroUsdMax: unsettledMicroUsd } : {};
    const hold = {
      wantedMicroUsd,
      leastMicroUsd,
      leaseMs: LEASE_MS,
      ...this.#trust(),
      ...this.#heldFor(),
      ...minute,
      ...kept,
    };
    (isOwn ? reservations.renewOwn(this.head, lines, hold) : reservations.renew(this.head, lines, hold)).then(
      (grant) => {
        this.#heldPrice = minute.minuteMicroUsd;
        this.#granted(isShort ? withinCost(grant) : grant, used, isOwn);
      },
      () => this.#unanswered(),
    );
  }

  #granted(grant: Grant, paid: bigint, isOwn: boolean): void {
    const { heldMicroUsd, limitedBy, settled, providers, leaves } = grant;
    this.#asking = false;
    if (this.#ended) return;
    this.#providers = providers;
    this.#failures = 0;
    this.#trustedMs = 0;
    this.#held = heldMicroUsd;
    this.#isOwnHold = isOwn;
    this.#paid = paid;
    // Another process took this one for dead, and settled the session: nothing more can be charged for it.
    this.#shortage = settled === true ? 'ledger' : (limitedBy ?? undefined);
    this.#leaves = leaves;
    if (settled === true) this.#askedLast = true;
    // It was asked for with a dearer member.
    const isRelieved = this.#relieve();
    if (this.#shortage === undefined) {
      this.#lowTold = false;
      this.#askedLast = false;
    }
    this.#extend();
    if (this.#shortage !== undefined) this.#tellLow();
    this.#tellReached(grant);
    this.#arm(RENEW_MS);
    // Another model hears since this was asked for.
    if (isRelieved || ((!this.#isCovered || this.#isDearer) && this.#shortage === undefined)) this.#ask();
  }

  /** The ledger does not answer. A session is not made to pay for that: it continues for a while, on trust. */
  #unanswered(): void {
    this.#asking = false;
    if (this.#ended) return;
    this.#failures++;
    // No grace for a customer who is known to have no credit left.
    if (this.#shortage === undefined && this.#trustedMs >= this.#options.graceMs) this.#shortage = 'ledger';
    else if (this.#shortage === undefined) this.#trustedMs = Math.min(this.#options.graceMs, this.#trustedMs + LOW_MS);
    if (this.#trustedMs > 0) this.#wasTrusted = true;
    this.#extend();
    if (this.#shortage === 'ledger') this.#tellLow();
    this.#arm(Math.min(AGAIN_MS_MAX, AGAIN_MS * 2 ** (this.#failures - 1)));
  }

  /** As when a renewal was not answered: the ledger is asked again soon, and the audio until then counts against the grace. */
  #beginOnTrust(): void {
    this.#failures = 1;
    this.#trustedMs = Math.min(this.#options.graceMs, LOW_MS);
    this.#wasTrusted = true;
  }

  #trust(): { onTrust?: true } {
    return this.#wasTrusted ? { onTrust: true } : {};
  }

  #extend(): void {
    this.#allowed = this.#reach();
    this.#listener?.extended(this.#allowed, this.#connectionReach());
    this.#options.clock.clearTimeout(this.#connectionTimer);
    const leftMs = this.#source?.connectionLeftMs() ?? Number.POSITIVE_INFINITY;
    if (this.#ended || leftMs === Number.POSITIVE_INFINITY) return;
    const waitMs = leftMs === 0 ? AGAIN_MS : Math.ceil(leftMs);
    this.#connectionTimer = this.#options.clock.setTimeout(() => {
      // A timer may come a little early.
      if (this.#source?.connectionLeftMs() !== 0) this.#extend();
      else this.#listener?.ranOut();
    }, waitMs);
  }

  #tellLow(): void {
    if (this.#lowTold || this.#shortage === undefined) return;
    this.#lowTold = true;
    const audioLeftMs = Math.max(0, this.#allowed - (this.#source?.sentMs() ?? 0));
    this.#listener?.low(this.#shortage, Math.min(audioLeftMs, this.#source?.connectionLeftMs() ?? audioLeftMs));
  }

  /** A lease lasts a minute, however little audio there is: it is renewed at half of that. */
  #arm(afterMs: number): void {
    const { clock } = this.#options;
    clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    if (isUnheld(this.#active) && this.#held === 0n) return;
    this.#timer = clock.setTimeout(() => {
      this.#timer = undefined;
      this.#ask();
    }, afterMs);
  }
}

const NOTHING_HEARD = { reason: 'client_closed', code: null, audioMs: 0, lines: [] } as const;

/** All of it was granted, and it is the last that `max_cost` allows. */
const withinCost = (grant: HoldGrant): Grant =>
  grant.limitedBy === null ? { ...grant, limitedBy: 'max_cost' } : grant;

const most = (one: bigint, other: bigint): bigint => (one > other ? one : other);

const costOf = (lines: readonly UsageLine[]): bigint => lines.reduce((sum, line) => sum + lineCostMicroUsd(line), 0n);

/** What own keys count for under ceilings on spend. */
const countedOf = (lines: readonly UsageLine[]): bigint =>
  lines.reduce((sum, line) => (line.counted ? sum + lineCostMicroUsd({ ...line, own: false }) : sum), 0n);
