// A ledger in memory, as far as reservations ask one: balances, holds and posted lines, with the store's promises, under the
// test's hand: it can be made to fail, and to answer only when told.
import { lineCostMicroUsd } from '../../../src/config/prices/price.ts';
import type { ReservationStore } from '../../../src/money/ledger/reservations.ts';
import type {
  Balance,
  HoldGrant,
  HoldRequest,
  SessionEnd,
  SessionHead,
  SessionName,
  SessionRecord,
  UsageLine,
} from '../../../src/money/store/calls.ts';
import { StoreError, type StoreErrorReason } from '../../../src/store/store-error.ts';

export class MemoryLedger implements ReservationStore {
  /** Micro-USD; null for an organisation without a limit. */
  balance: bigint | null;
  /** Sessions that were opened. */
  readonly known = new Set<string>();
  readonly held = new Map<string, bigint>();
  readonly posted = new Map<string, bigint>();
  readonly settled = new Map<string, { head: SessionHead; end: SessionEnd; costMicroUsd: bigint }>();
  readonly renewals: { sessionId: string; lines: readonly UsageLine[]; hold: HoldRequest }[] = [];
  /** The least that was available after any hold. */
  leastAvailable: bigint | undefined;
  /** Every call is rejected so while this is set. */
  failing: StoreErrorReason | undefined;
  /** Calls wait for this, when it is set. */
  gate: Promise<void> | undefined;

  constructor(balance: bigint | null) {
    this.balance = balance;
  }

  get available(): bigint | null {
    if (this.balance === null) return null;
    let held = 0n;
    for (const amount of this.held.values()) held += amount;
    return this.balance - held;
  }

  async openSession({ id }: SessionHead, hold: HoldRequest): Promise<HoldGrant> {
    await this.ready();
    this.known.add(id);
    const grant = this.take(id, hold);
    if (grant.heldMicroUsd < hold.leastMicroUsd) {
      this.held.delete(id);
      throw new StoreError('insufficient_credit', 'There is not enough credit.');
    }
    return grant;
  }

  async renewHold({ id: sessionId }: SessionName, lines: readonly UsageLine[], hold: HoldRequest): Promise<HoldGrant> {
    await this.ready();
    this.renewals.push({ sessionId, lines, hold });
    this.held.delete(sessionId);
    if (this.settled.has(sessionId)) return { heldMicroUsd: 0n, limitedBy: null, settled: true };
    if (!this.known.has(sessionId)) throw new StoreError('not_found', 'There is no such session.');
    this.post(sessionId, lines);
    return this.take(sessionId, hold);
  }

  async settleSession(head: SessionHead, end: SessionEnd): Promise<SessionRecord> {
    await this.ready();
    const known = this.settled.get(head.id);
    if (known === undefined) {
      this.held.delete(head.id);
      this.post(head.id, end.lines);
      this.settled.set(head.id, { head, end, costMicroUsd: this.posted.get(head.id) ?? 0n });
    }
    const { end: first, costMicroUsd: cost } = this.settled.get(head.id)!;
    return { ...head, ...first, lines: [], costMicroUsd: cost, heldMicroUsd: 0n };
  }

  async balanceOf(): Promise<Balance> {
    await this.ready();
    const { balance, available } = this;
    const heldMicroUsd = (balance ?? 0n) - (available ?? 0n);
    return {
      balanceMicroUsd: balance ?? 0n,
      heldMicroUsd,
      creditLimitMicroUsd: balance === null ? null : 0n,
      availableMicroUsd: available,
    };
  }

  private async ready(): Promise<void> {
    await this.gate;
    if (this.failing !== undefined) throw new StoreError(this.failing, 'The ledger was told to fail.');
  }

  private take(sessionId: string, { wantedMicroUsd }: HoldRequest): HoldGrant {
    const { available } = this;
    if (available === null) {
      this.held.set(sessionId, wantedMicroUsd);
      return { heldMicroUsd: wantedMicroUsd, limitedBy: null, unlimited: true };
    }
    const granted = available >= wantedMicroUsd ? wantedMicroUsd : available > 0n ? available : 0n;
    if (granted > 0n) this.held.set(sessionId, granted);
    const left = this.available;
    if (left !== null && (this.leastAvailable === undefined || left < this.leastAvailable)) this.leastAvailable = left;
    return { heldMicroUsd: granted, limitedBy: granted < wantedMicroUsd ? 'credit' : null };
  }

  private post(sessionId: string, lines: readonly UsageLine[]): void {
    const cost = lines.reduce((sum, line) => sum + lineCostMicroUsd(line), 0n);
    const more = cost - (this.posted.get(sessionId) ?? 0n);
    if (more < 0n) throw new Error(`${sessionId} was told to cost less than before.`);
    this.posted.set(sessionId, cost);
    if (this.balance !== null) this.balance -= more;
  }
}
