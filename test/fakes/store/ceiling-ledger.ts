// The ledger itself, in memory and with ceilings on spend, for a rig of sessions: all of them are one customer's.
import type { SpendCeiling } from '../../../src/api/spend-ceilings.ts';
import type { ReservationStore } from '../../../src/money/ledger/reservations.ts';
import { directStore } from './direct-store.ts';
import { OPERATOR } from './ledger.ts';
import type { MemoryLedger } from './memory-ledger.ts';

export function ceilingLedger(ceilings: SpendCeiling[]) {
  const { store, ledger: tables, database, customer } = directStore();
  const who = customer({ limit: null });
  tables.changeKey(who.organisationId, who.keyId, { spendCeilings: ceilings }, OPERATOR);
  const calls: ReservationStore = {
    openSession: (head, hold) => store.openSession({ ...head, ...who }, hold),
    renewHold: (name, lines, hold) => store.renewHold({ ...name, ...who }, lines, hold),
    holdOwn: (head, lines, hold) => store.holdOwn({ ...head, ...who }, lines, hold),
    settleSession: (head, end) => store.settleSession({ ...head, ...who }, end),
    balanceOf: () => store.balanceOf(who.organisationId),
  };
  const spent = database
    .prepare<[], { model: string; microUsd: bigint }>(
      "SELECT note AS model, sum(micro_usd) AS microUsd FROM transfers WHERE kind = 'usage' GROUP BY note",
    )
    .safeIntegers();
  return {
    /** As a rig takes it. */
    ledger: calls as unknown as MemoryLedger,
    /** Micro-USD that were charged for each model. */
    spent: (): Record<string, bigint> =>
      Object.fromEntries(spent.all().map(({ model, microUsd }) => [model, microUsd])),
    /** Micro-USD that are held. */
    held: (): bigint => tables.balanceOf(who.organisationId).heldMicroUsd,
    audit: () => tables.auditLedger(),
  };
}
