// Reservations for files: what one may cost is held before a provider is asked, renewed while it works, and settled or released
// at the end.
import type { Clock } from '../../../machines/clock.ts';
import { costMicroUsd } from '../../billing/price.ts';
import { dearestMicroUsd } from '../../billing/reserve.ts';
import { LEASE_MS, type MeterMember } from '../../ledger/meter.ts';
import type { Reservations } from '../../ledger/reservations.ts';
import { refusalOf } from '../../ledger/shortage.ts';
import type { FileCharge, HoldRequest, SessionEnd, SessionHead } from '../../store/ledger/calls.ts';

const RENEW_MS = LEASE_MS / 2;
const RENEW_AGAIN_MS = 1_000;
/** What an earlier attempt was charged is asked for no longer than this. */
const ANSWER_MS = 1_000;
/** An organisation without a limit is remembered for so long: as long as a key's settings. */
const UNLIMITED_MS = 30_000;
const UNLIMITED_MAX = 10_000;
/** Reason of an end: a provider has finished, and the client was gone. */
const UNTAKEN = 'answer_untaken';

/** One member of a chain, as the bill of a file sees it. */
export interface FileMember extends MeterMember {
  /** Channels that its provider bills: 1 where it bills the audio once. */
  channels: number;
}

/** What a member of the chain has heard. */
export interface HeardFile {
  /** One of those that money was held for. */
  member: FileMember;
  /** Of one channel. More than was held for is not charged. */
  seconds: number;
  /** What the provider said, where that was more than the file can hold. */
  claimedSeconds?: number | undefined;
  /** The client has not had the answer. */
  isUntaken?: boolean;
}

export interface FileReservationRequest {
  /** `req_…`, or that of an earlier attempt which may have been charged: it is charged once. */
  id: string;
  organisationId: string;
  keyId: string;
  /** Slug that was asked for. */
  model: string;
  /** The chain, with prices. */
  members: readonly FileMember[];
  /** The most that one channel of the file can hold. */
  secondsMax: number;
  /** An earlier attempt under the same id may have been charged: giving the hold back must not end the charge at nothing. */
  again?: boolean;
}

/** Ended by one of the two, once. */
export interface ReservedFile {
  /**
   * Charges what a model has heard, and says what that costs in micro-USD. The ledger is told at once, before anything that is asked
   * of it later; that it has written it down is waited for only where an earlier attempt may have been charged instead, because else what
   * the bill says is certain before. Never rejects.
   */
  settle(heard: HeardFile): Promise<bigint>;
  /** Nothing was transcribed: nothing is charged. `isTriedAgain`: under the same id, which is not ended then. Never rejects. */
  release(isTriedAgain?: boolean): Promise<void>;
}

export interface FileReservationsOptions {
  reservations: Reservations;
  clock: Clock;
  wallNow(): Date;
}

export class FileReservations {
  readonly #options: FileReservationsOptions;
  #open = 0;
  #whenIdle: (() => void)[] = [];
  /** Keys for which every hold is granted, and since when that is known; the oldest first. */
  readonly #unlimited = new Map<string, number>();

  constructor(options: FileReservationsOptions) {
    this.#options = options;
  }

  /**
   * Holds what the dearest member of the chain would cost. With free models and own keys alone nothing is held, and where nothing can be
   * refused the hold is made beside the work.
   *
   * @throws Refusal `insufficient_credit`, `rate_limit_exceeded` (of money a day), `ledger_unavailable`
   */
  async reserve({ members, secondsMax, again = false, ...file }: FileReservationRequest): Promise<ReservedFile> {
    const { reservations, wallNow } = this.#options;
    const head: SessionHead = { ...file, mode: 'batch', openedAt: wallNow().toISOString() };
    const audioMsMax = Math.ceil(secondsMax * 1000);
    const wantedMicroUsd = dearestMicroUsd(members, audioMsMax);
    const hold: HoldRequest = { wantedMicroUsd, leastMicroUsd: wantedMicroUsd, leaseMs: LEASE_MS };
    const held = this.#hold(head, hold);
    if (!this.#isUnlimited(head)) await held;
    // The file is charged all the same; the next one waits for the ledger again.
    else held.catch(() => {});
    this.#open++;
    const stopRenewing = wantedMicroUsd === 0n ? () => {} : this.#renew(head, { ...hold, leastMicroUsd: 0n });
    return {
      settle: (heard) => {
        stopRenewing();
        this.#ended();
        return this.#settle(head, heard, audioMsMax, again);
      },
      release: async (isTriedAgain = again) => {
        stopRenewing();
        this.#ended();
        // Of what holds nothing the ledger was never told.
        if (wantedMicroUsd === 0n) return;
        // A failure leaves the hold to its lease.
        if (again || isTriedAgain)
          await reservations.renew(head, [], { ...hold, wantedMicroUsd: 0n, leastMicroUsd: 0n }).catch(() => undefined);
        else void reservations.settle(head, { ...this.#end('released', 0), lines: [] });
      },
    };
  }

  /**
   * Refuses who has no credit at all, before anything is done for him: with a Refusal `insufficient_credit`. A ledger that does not
   * answer says so when money is to be held.
   */
  async requireCredit(who: Pick<SessionHead, 'organisationId' | 'keyId'>): Promise<void> {
    if (this.#isUnlimited(who)) return;
    const credit = await this.#options.reservations.creditOf(who.organisationId).catch(() => null);
    if (credit !== null && credit <= 0n) throw refusalOf({ reason: 'insufficient_credit' });
  }

  /** Resolves when no file is under way. */
  async idle(): Promise<void> {
    if (this.#open > 0) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  async #hold(head: SessionHead, hold: HoldRequest): Promise<void> {
    const name = `${head.organisationId} ${head.keyId}`;
    try {
      const { unlimited } = await this.#options.reservations.hold(head, hold);
      this.#unlimited.delete(name);
      if (unlimited) this.#unlimited.set(name, this.#options.clock.now());
      const [oldest] = this.#unlimited.keys();
      if (this.#unlimited.size > UNLIMITED_MAX && oldest !== undefined) this.#unlimited.delete(oldest);
    } catch (error) {
      this.#unlimited.delete(name);
      throw error;
    }
  }

  #isUnlimited({ organisationId, keyId }: Pick<SessionHead, 'organisationId' | 'keyId'>): boolean {
    const sinceMs = this.#unlimited.get(`${organisationId} ${keyId}`);
    return sinceMs !== undefined && this.#options.clock.now() - sinceMs < UNLIMITED_MS;
  }

  #ended(): void {
    this.#open--;
    if (this.#open === 0) for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  async #settle(
    head: SessionHead,
    { member, seconds, claimedSeconds = 0, isUntaken = false }: HeardFile,
    audioMsMax: number,
    again: boolean,
  ): Promise<bigint> {
    const { slug: model, own, price, channels } = member;
    const audioMs = Math.min(Math.round(seconds * 1000), audioMsMax);
    const billedMs = audioMs * channels;
    const claimedMs = Math.round(claimedSeconds * 1000);
    const file: FileCharge = { audioMs, channels, audioMsMax, ...(claimedMs > audioMsMax ? { claimedMs } : {}) };
    const lines = [{ model, own, audioMs: billedMs, price }];
    const end: SessionEnd = { ...this.#end(isUntaken ? UNTAKEN : 'completed', audioMs), lines, file };
    const settled = this.#options.reservations.settle(head, end, again);
    const record = again ? await this.#within(settled) : undefined;
    return record?.costMicroUsd ?? costMicroUsd(price, billedMs, own);
  }

  #end(reason: string, audioMs: number): Omit<SessionEnd, 'lines'> {
    return { endedAt: this.#options.wallNow().toISOString(), reason, code: null, audioMs };
  }

  /** The lease of a hold is short, so that little is held for a process that was killed. A renewal that fails is made again. */
  #renew(head: SessionHead, hold: HoldRequest): () => void {
    const { clock, reservations } = this.#options;
    let timer: unknown;
    let stopped = false;
    const arm = (afterMs: number) => {
      timer = clock.setTimeout(() => {
        reservations.renew(head, [], hold).then(
          () => arm(RENEW_MS),
          () => arm(RENEW_AGAIN_MS),
        );
      }, afterMs);
      if (stopped) clock.clearTimeout(timer);
    };
    arm(RENEW_MS);
    return () => {
      stopped = true;
      clock.clearTimeout(timer);
    };
  }

  #within<Value>(promise: Promise<Value>): Promise<Value | undefined> {
    const { clock } = this.#options;
    return new Promise((resolve) => {
      const timer = clock.setTimeout(() => resolve(undefined), ANSWER_MS);
      void promise.then((value) => {
        clock.clearTimeout(timer);
        resolve(value);
      });
    });
  }
}
