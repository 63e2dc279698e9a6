// The ledger: holds, postings, balances and bills. Integer micro-USD as bigint; every movement is one transfer between two
// accounts; every call may be repeated with the same ids and does its work once.
import type { Mode } from '../../api/models.ts';
import type { SpendCeiling } from '../../api/spend-ceilings.ts';
import type { Tag } from '../../api/tags.ts';
import type { Actor } from '../../store/audit-log.ts';
import { OWN_SPEND_SINCE } from '../../store/migrations.ts';
import {
  type Asynchronous,
  alone,
  first,
  member,
  notes,
  type Operations,
  reads,
  writes,
} from '../../store/operation.ts';
import type { ReachedCeiling } from './ceiling-words.ts';

/** A price as it was when the session opened. */
export interface LedgerPrice {
  unit: 'minute' | 'session';
  microUsd: bigint;
  /** The least that is charged once anything was heard; 0 without. */
  minimumMicroUsd: bigint;
}

/**
 * What one model heard of a session so far at one price, in all. `own`: with the organisation's own provider key, which costs 0 but has
 * a line anyway. Audio never moves from one line to another once it was told here.
 */
export interface UsageLine {
  /** Slug. */
  model: string;
  own: boolean;
  /** Which of the prices that the session has for the model and account: absent for the first, then 1, 2, … */
  rate?: number;
  /** Whole milliseconds. */
  audioMs: number;
  /** Whole milliseconds that connections to it were open, where its price is for them; billed where they are more than the audio. */
  connectionMs?: number;
  price: LedgerPrice;
  /** With an own key: what it would cost at `price` counts under ceilings on spend, although it is charged 0. */
  counted?: true;
}

/** A live session or a file, as the ledger knows it. */
export interface SessionHead {
  /** `ses_…`, or the `req_…` of a file. */
  id: string;
  organisationId: string;
  keyId: string;
  mode: Mode;
  /** Slug that was requested. */
  model: string;
  /** ISO 8601 UTC. */
  openedAt: string;
  /** As one text, `textOfTags`. What is no such text is left out; a session is billed whatever it says. */
  tags?: string;
}

/** What a session is found by: no other organisation has it. */
export type SessionName = Pick<SessionHead, 'id' | 'organisationId'>;

/**
 * Money asked for ahead: `wanted` if there is that much, less if not, but nothing below `least`. The hold ends with the
 * lease unless it is renewed or settled before. A renewal keeps what was held before in any case; for other providers it becomes less
 * where they have less left, but not less than `least`.
 */
export interface HoldRequest {
  wantedMicroUsd: bigint;
  leastMicroUsd: bigint;
  leaseMs: number;
  /** Some of what is told was let through while the ledger did not answer: it may be more than what was held. */
  onTrust?: boolean;
  /** Providers that the money may be spent at; that of the session's model when absent. Matters where there are ceilings on spend. */
  providers?: readonly string[];
  /**
   * The price of a minute of the dearest model that it is for; absent where one has a price for each session. A ceiling with a price
   * of its own does not bound models up to that.
   */
  minuteMicroUsd?: bigint;
  /**
   * At most this is kept of what was held before, where a ceiling leaves less; all of it when absent. That was held for a cheaper model,
   * which the ceiling may not have bounded.
   */
  keptMicroUsdMax?: bigint;
  /**
   * What is reached is kept until it is delivered as an event. A refusal by a ceiling or the day's spend is an answer then, `isRefused`:
   * an error would undo what was kept.
   */
  keepsReached?: true;
}

/** Models of a provider that may be used while a ceiling is reached; of all providers where it is empty. */
export interface PriceBound {
  provider: string;
  /** A minute. */
  microUsd: bigint;
}

export interface HoldGrant {
  /** What is held for the session now, beyond what is posted. */
  heldMicroUsd: bigint;
  /** What kept it from being all that was wanted. */
  limitedBy: 'credit' | 'daily_spend' | 'ceiling' | null;
  /** The ceiling that limits it, in a sentence (ceiling-words.ts). */
  ceiling?: string;
  /** There are ceilings on spend, and the hold is for these providers alone. */
  providers?: readonly string[];
  /** Ceilings of which more is used now than was reported before. */
  reached?: readonly ReachedCeiling[];
  /** Nothing is held, by what limits it. */
  isRefused?: true;
  /** Ceilings with a price of their own that leave too little: dearer models are refused. */
  onlyUpTo?: readonly PriceBound[];
  /** The ceiling that limits it leaves models up to these prices, and so do others that leave less than was wanted. */
  leaves?: readonly PriceBound[];
  /** That the day's spend of the key is reached is kept until it is delivered. */
  isDayKept?: true;
  /** Neither the organisation's credit nor the key's spend has an end: any other hold would be granted as well. */
  unlimited?: true;
  /** The session is settled already: nothing more can be held or charged for it. */
  settled?: true;
}

export interface SessionEnd {
  endedAt: string;
  /** `client_closed`, `credit`, `completed`, `recovered`, … */
  reason: string;
  /** Error code, or null. */
  code: string | null;
  /** Audio of the client, heard or not; of a file with several channels once. */
  audioMs: number;
  lines: readonly UsageLine[];
  /** Some of it was let through while the ledger did not answer: it may be more than what was held. */
  onTrust?: boolean;
  /** Of a file that was transcribed. */
  file?: FileCharge;
  /** What was sent again, or in vain. */
  sentAgain?: readonly SentAgain[];
  /** Absent where nothing was redacted. */
  redactions?: Redactions;
}

/** How often the gateway has redacted each class; at least once. */
export type Redactions = Readonly<Record<string, number>>;

/** What the one line of a file rests on: it has `audioMs` × `channels`. */
export interface FileCharge {
  /** Whole milliseconds, of one channel. */
  audioMs: number;
  /** As the provider bills them: 1 where it bills the audio once, however many there are. */
  channels: number;
  /** The most that one channel of the file can hold. Money was held for it. */
  audioMsMax: number;
  /** What the provider said of its length, where that was more. */
  claimedMs?: number;
}

/**
 * Why a provider was sent audio. `served`: once, and it is charged. `replayed`: charged, and sent to another leg before. `failed`: the next
 * leg heard it again, or it is not charged. `attempt`: a file at which the model failed; few providers bill it. `standby`, `probe`: a
 * connection that was opened ahead, for a failover or to return to the primary, and had no audio.
 */
export type LegReason = 'served' | 'replayed' | 'failed' | 'attempt' | 'standby' | 'probe';

/** What one model was sent of a session again, or in vain. */
export interface SentAgain {
  model: string;
  own: boolean;
  reason: Exclude<LegReason, 'served'>;
  legs: number;
  /** Whole milliseconds. */
  audioMs: number;
  /** Whole milliseconds that connections without audio were open. */
  connectionMs?: number;
}

/** What customers were charged for on one day, UTC, sent once or more often. */
export type ChargedRow = Omit<LegUsageRow, 'reason'>;

export interface ChargedPage {
  /** A day and model may be on several pages. */
  rows: ChargedRow[];
  /** Where the next page begins; null at the end. */
  next: string | null;
}

/** What the providers were sent on one day, UTC. */
export interface LegUsageRow {
  /** `YYYY-MM-DD`, on which the session ended. */
  day: string;
  model: string;
  mode: Mode;
  own: boolean;
  reason: LegReason;
  legs: number;
  audioMs: number;
  connectionMs: number;
}

export interface BilledLine extends UsageLine {
  costMicroUsd: bigint;
  /** What counts under ceilings on spend and was not charged; absent where that is nothing. */
  countedMicroUsd?: bigint;
}

/** A session with its bill so far, its lines by model; the end is null while it is open, and the audio what was heard so far. */
export interface SessionRecord extends SessionHead {
  endedAt: string | null;
  reason: string | null;
  code: string | null;
  audioMs: number;
  lines: BilledLine[];
  costMicroUsd: bigint;
  heldMicroUsd: bigint;
  /** Absent where nothing was redacted, and while it is open. */
  redactions?: Redactions;
}

/** What all of which a session has to be. */
export interface SessionSearch {
  limit: number;
  /** Id of a session: only older ones. */
  before?: string;
  state?: 'live' | 'ended';
  /** A slug or a provider that was requested, or that heard some of it. */
  model?: string;
  keyId?: string;
  /** Opened at this time or later; ISO 8601 UTC with milliseconds. */
  from?: string;
  /** Opened earlier. */
  to?: string;
  /** Why it ended, or the code of the error that ended it. */
  reason?: string;
  idPrefix?: string;
  tag?: Tag;
}

export interface Balance {
  /** Grants and payments less what was posted. */
  balanceMicroUsd: bigint;
  heldMicroUsd: bigint;
  creditLimitMicroUsd: bigint | null;
  /** What a new hold may take; null without a limit. */
  availableMicroUsd: bigint | null;
}

/** `welcome` is given once for each `uniqueKey` in the whole ledger, like every kind. Negative amounts: `adjustment` only. */
export interface Credit {
  organisationId: string;
  kind: 'welcome' | 'top_up' | 'adjustment';
  microUsd: bigint;
  /** Given again, the credit is not. */
  uniqueKey: string;
  note: string;
}

/** `tag:customer`: by the values of that tag. */
export type UsageGroup = 'model' | 'provider' | 'day' | 'key' | `tag:${string}`;

export interface UsageQuery {
  organisationId: string;
  /** ISO 8601 UTC; sessions opened at or after. */
  from: string;
  /** And before. */
  to: string;
  groupBy: UsageGroup;
  keyId?: string;
  tag?: Tag;
  /** Of rows; all of them when absent. */
  limit?: number;
}

export interface UsageRow {
  /** Slug, provider, `YYYY-MM-DD`, key id or value of the tag; null of what has no such tag. */
  group: string | null;
  own: boolean;
  sessions: number;
  audioMs: number;
  connectionMs: number;
  costMicroUsd: bigint;
  /** Of own keys: what counts under ceilings on spend. */
  countedMicroUsd: bigint;
}

/**
 * The bill of one calendar month by UTC: usage of the sessions that were settled in it, whole, by model. What is posted of a
 * session still open is on no bill yet, so the last closing differs from the balance by that much. Opening + credits - total =
 * closing, exactly, and no bill changes when its month is over.
 */
export interface Bill {
  organisationId: string;
  /** `YYYY-MM`. */
  month: string;
  openingMicroUsd: bigint;
  credits: { at: string; kind: Credit['kind']; microUsd: bigint; note: string }[];
  lines: (Omit<UsageRow, 'group' | 'countedMicroUsd'> & { model: string; mode: Mode })[];
  totalMicroUsd: bigint;
  closingMicroUsd: bigint;
}

/** What the auditor found; `ok` only when every difference is zero. */
export interface LedgerAudit {
  ok: boolean;
  sessions: number;
  transfers: number;
  openHolds: number;
  /** Since the oldest open hold was made or renewed; null without one. */
  oldestHoldMs: number | null;
  /** Sum over all accounts: 0. */
  sumMicroUsd: bigint;
  /** One sentence each, at most 100. */
  faults: string[];
  /** Charges beyond what was held, which were meant: one sentence each with the reason, the newest first, at most 100. */
  decisions: string[];
}

export interface LedgerCalls {
  /**
   * Notes the session and takes its first hold. With `wantedMicroUsd` 0 nothing is held and nothing is refused. For a session
   * that is known already: what is held stays as it is and is answered while it is no less than wanted and its lease is not
   * over; else it is given back and a new hold made, or refused, which leaves all as it was. A session that was settled gets
   * nothing, with `settled`.
   * Throws StoreError `insufficient_credit`, `daily_spend` or `spend_ceiling`; `not_found` when there is no such organisation or key.
   */
  openSession(head: SessionHead, hold: HoldRequest): HoldGrant;
  /**
   * Posts what the lines say beyond what was posted before, and holds again: the hold before is posted or void. A session that
   * was settled is left as it is and gets nothing, with `settled`. Never throws for want of credit: what is used is posted in full. A line
   * that is not told of stays as it is. Throws `not_found`, also for another organisation's; `invalid` for a line that says less than before, or another price.
   */
  renewHold(session: SessionName, lines: readonly UsageLine[], hold: HoldRequest): HoldGrant;
  /**
   * Holds under the ceilings on spend what an own provider key may use: no credit is held, and nothing is charged for it. Notes the
   * session first where it is not known. Lines are posted as by `renewHold`, and end a hold of credit; without any, that stays. With
   * `wantedMicroUsd` 0 what is held so is given back. Refuses less than `leastMicroUsd`, which leaves all as it was.
   * Throws StoreError `spend_ceiling`, `not_found`, `conflict`, `invalid`.
   */
  holdOwn(head: SessionHead, lines: readonly UsageLine[], hold: HoldRequest): HoldGrant;
  /**
   * Posts the rest, gives the hold back and closes the session; makes it first when it was never opened. Once: later calls get
   * the first result. A line that says less than was posted before, or another price, stays as it was: nothing is un-billed.
   * A file that was never held for is held for now, where neither credit nor the day's spend has an end.
   * Of a session that was closed as lost, what is told beyond its bill is billed once, beside it and as `<id>:late`.
   * Throws `not_found` without the organisation, `conflict` for an id that another organisation has, `invalid`.
   */
  settleSession(head: SessionHead, end: SessionEnd): SessionRecord;
  /** The nodes, by their incarnation, that opened live sessions which are not settled. */
  openNodes(): string[];
  /**
   * Closes live sessions of a node that are not settled and hold nothing, at what was posted of them and as `node_lost`; 1000 at a
   * time, and says how many. Throws `invalid`.
   *
   * @param isKilled the node's process is known to have ended: what it holds is given back, whatever the lease says
   */
  closeLost(node: string, endedAt: string, isKilled?: boolean): number;
  /**
   * Closes files as `node_lost` that are open and hold nothing since then: whoever works on one renews its hold. 1000 at a time, and
   * says how many. If a file is tried again under its id, or charged after all, that is a session of its own, `<id>:late`.
   *
   * @param among sessions younger than so many others are looked at
   */
  closeLostFiles(untilMs: number, among: number): number;
  /** Gives back every hold whose lease is over. */
  expireHolds(): number;
  /** As if the leases of all holds that were made by then were over: no process that made them is left. */
  endHolds(madeUntilMs: number): number;
  /** Ceilings of the whole gateway, in the place of those before. Throws `invalid`. */
  setGatewayCeilings(ceilings: readonly SpendCeiling[]): void;
  /** False when it was given before. Throws `not_found`, `invalid`. */
  addCredit(credit: Credit, by: Actor): boolean;
  /** Throws `not_found`. */
  balanceOf(organisationId: string): Balance;
  findSession(organisationId: string, sessionId: string): SessionRecord | undefined;
  /** Newest first, at most 1000; `before` is the id of the last one seen. Throws `invalid` when there is no such session. */
  listSessions(organisationId: string, limit: number, before?: string): SessionRecord[];
  /**
   * Those of the newest 10,000 behind `before` that are as wanted, newest first, at most 1000. `next`: what `before` has to be to go
   * on, also where none was found in what was looked at; null at the end. Throws `invalid` when there is no session `before`.
   */
  searchSessions(organisationId: string, search: SessionSearch): { sessions: SessionRecord[]; next: string | null };
  /** Live sessions opened from that time on that have no end yet. */
  countLiveSessions(organisationId: string, since: string): number;
  usageOf(query: UsageQuery): UsageRow[];
  /** How often each class was redacted in the sessions of a query. */
  redactionsOf(query: Omit<UsageQuery, 'groupBy' | 'limit'>): Redactions;
  /** What a provider was sent again or in vain from one day to another, both included, by day and model. Throws `invalid`. */
  legUsageOf(provider: string, from: string, to: string): LegUsageRow[];
  /** What was charged of it, a limited number of sessions at a time. Throws `invalid`. @param after `next` of the page before */
  chargedUsageOf(provider: string, from: string, to: string, after?: string): ChargedPage;
  billOf(organisationId: string, month: string): Bill;
  /**
   * Recomputes every bill from usage and prices, every balance from its transfers, and every hold from its ends. Takes some
   * seconds for a million transfers; other calls of the same store wait for it.
   */
  auditLedger(): LedgerAudit;
  /** Transfers after a number, oldest first, as plain rows; at most 10 000. */
  exportLedger(after: number, limit: number): LedgerTransfer[];
  /** Writes a whole, consistent copy of the database to a file that is not there yet. Throws `invalid` when it is, or cannot be made. */
  backup(file: string): { pages: number };
}

export type LedgerStore = Asynchronous<LedgerCalls>;

export interface LedgerTransfer {
  number: number;
  /** Unique; the reason why it happened once. */
  id: string;
  at: string;
  kind: Credit['kind'] | 'usage';
  /** Account that the amount is taken from: `org_…`, or one of the house: `house:revenue`, `house:welcome`, `house:payments`, `house:adjustments`. */
  debit: string;
  credit: string;
  microUsd: bigint;
  sessionId: string | null;
  /** What the transfer is for, in words. */
  note: string;
  /** Of the session, as one text; absent without any. */
  tags?: string;
}

/** When the worker has to look for leases that are over. */
export interface Leases {
  /** Epoch milliseconds of the next end of a lease; undefined when nothing is held. */
  nextLeaseEndMs(nowMs: number): number | undefined;
}

/** The version of the store that brought ceilings on spend. */
const CEILINGS_SINCE = 7;

export const LEDGER_OPERATIONS = {
  openSession: notes(member('object', 'object')),
  renewHold: writes(member('object', 'list', 'object')),
  holdOwn: { ...notes(member('object', 'list', 'object')), since: OWN_SPEND_SINCE },
  settleSession: writes(member('object', 'object')),
  openNodes: reads(),
  closeLost: writes(),
  closeLostFiles: writes(),
  expireHolds: writes(),
  endHolds: writes(),
  setGatewayCeilings: { ...writes(), since: CEILINGS_SINCE },
  addCredit: writes(),
  balanceOf: reads(first('text')),
  findSession: reads(first('text', 'text')),
  listSessions: reads(first('text', 'number', 'text?')),
  searchSessions: reads(first('text', 'object')),
  countLiveSessions: reads(first('text', 'text')),
  usageOf: reads(member('object')),
  redactionsOf: reads(member('object')),
  legUsageOf: reads(),
  chargedUsageOf: reads(),
  billOf: reads(first('text', 'text')),
  auditLedger: reads(),
  exportLedger: reads(),
  backup: alone(),
} as const satisfies Operations<LedgerCalls>;
