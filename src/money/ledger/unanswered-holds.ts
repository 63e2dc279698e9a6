// What happens when the ledger does not answer a call for a hold. Customers without any limit begin on trust. Others are refused, and
// since the ledger may have made the hold, it is given back as soon as the ledger answers.
import type { Clock } from '../../../machines/clock.ts';
import { StoreError, type StoreErrorReason } from '../../store/store-error.ts';
import type { HoldRequest, LedgerStore, SessionEnd, SessionHead } from '../store/calls.ts';
import { LEASE_MS } from './meter.ts';
import type { Grant } from './meter-contract.ts';
import { NEVER } from './recovery.ts';

/** Beyond it the oldest is left to the end of its lease. */
const HOLDS_MAX = 10_000;
const AGAIN_MS = 1_000;
const AGAIN_MS_MAX = 10_000;

/** The ledger may answer later. */
const UNANSWERED: ReadonlySet<StoreErrorReason> = new Set(['unreachable', 'overflow', 'busy']);
const ON_TRUST: Grant = { heldMicroUsd: 0n, limitedBy: null, onTrust: true };
const NOTHING: HoldRequest = { wantedMicroUsd: 0n, leastMicroUsd: 0n, leaseMs: LEASE_MS };

export interface UnansweredHoldsOptions {
  store: Pick<LedgerStore, 'renewHold'>;
  clock: Clock;
  wallNow(): Date;
  /** Whether the operator allows audio without a hold. */
  mayTrust: boolean;
  /** Ends a session for good. */
  settle(head: SessionHead, end: SessionEnd): unknown;
}

export class UnansweredHolds {
  /** Sessions and files that began on trust. */
  trusted = 0;
  readonly #options: UnansweredHoldsOptions;
  /** The oldest first. */
  readonly #heads = new Map<string, SessionHead>();
  #timer: unknown;
  #failures = 0;
  #isClosed = false;

  constructor(options: UnansweredHoldsOptions) {
    this.#options = options;
  }

  /** The grant instead of the ledger's. Undefined for an answer of the ledger, and for a customer with limits. */
  instead(head: SessionHead, { reason, isUnsent }: StoreError, isUnlimited: boolean): Grant | undefined {
    if (!UNANSWERED.has(reason)) return undefined;
    if (isUnlimited && this.#options.mayTrust) {
      this.trusted++;
      return ON_TRUST;
    }
    if (!isUnsent) this.#add(head);
    return undefined;
  }

  #add(head: SessionHead): void {
    if (this.#isClosed) return;
    this.#heads.set(head.id, head);
    const [oldest] = this.#heads.keys();
    if (this.#heads.size > HOLDS_MAX && oldest !== undefined) this.#heads.delete(oldest);
    if (this.#heads.size === 1) this.#arm();
  }

  close(): void {
    this.#isClosed = true;
    this.#options.clock.clearTimeout(this.#timer);
  }

  #arm(): void {
    const { clock } = this.#options;
    clock.clearTimeout(this.#timer);
    if (this.#heads.size === 0 || this.#isClosed) return;
    const afterMs = Math.min(AGAIN_MS_MAX, AGAIN_MS * 2 ** Math.min(10, this.#failures));
    this.#timer = clock.setTimeout(() => void this.#giveBack().then(() => this.#arm()), afterMs);
  }

  async #giveBack(): Promise<void> {
    for (const head of [...this.#heads.values()]) {
      if (this.#isClosed) return;
      try {
        const { settled } = await this.#options.store.renewHold(head, [], NOTHING);
        // A file may be sent again under its id, and is charged under it then. A live session never comes back.
        if (settled !== true && head.mode === 'live') this.#end(head);
      } catch (error) {
        // The usual case: the ledger never had the session.
        if (!(error instanceof StoreError && NEVER.has(error.reason))) {
          this.#failures++;
          return;
        }
      }
      this.#heads.delete(head.id);
    }
    this.#failures = 0;
  }

  #end(head: SessionHead): void {
    const endedAt = this.#options.wallNow().toISOString();
    this.#options.settle(head, { endedAt, reason: 'ledger', code: 'ledger_unavailable', audioMs: 0, lines: [] });
  }
}
