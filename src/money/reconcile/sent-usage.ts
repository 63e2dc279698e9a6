// What the gateway sent a provider: what customers were charged for, page by page so that the ledger does its work in between, and what
// was sent again or in vain.
import type { ChargedRow, LedgerStore, LegUsageRow } from '../store/calls.ts';

/** By day, model, mode, account and reason. Rejects as the store does. */
export async function sentUsage(
  store: Pick<LedgerStore, 'legUsageOf' | 'chargedUsageOf'>,
  provider: string,
  from: string,
  to: string,
): Promise<LegUsageRow[]> {
  // Read first: what is replayed was charged before.
  const again = await store.legUsageOf(provider, from, to);
  const served = new Map<string, LegUsageRow>();
  for (let after: string | undefined; ; ) {
    const { rows, next } = await store.chargedUsageOf(provider, from, to, ...(after === undefined ? [] : [after]));
    for (const row of rows) {
      const sum = served.get(nameOf(row));
      if (sum === undefined) served.set(nameOf(row), { ...row, reason: 'served' });
      else {
        sum.legs += row.legs;
        sum.audioMs += row.audioMs;
        sum.connectionMs += row.connectionMs;
      }
    }
    if (next === null) break;
    after = next;
  }
  for (const row of again) {
    const sum = row.reason === 'replayed' ? served.get(nameOf(row)) : undefined;
    if (sum !== undefined) sum.audioMs = Math.max(0, sum.audioMs - row.audioMs);
  }
  return [...again, ...served.values()].sort(
    (one, other) => nameOf(one).localeCompare(nameOf(other)) || one.reason.localeCompare(other.reason),
  );
}

const nameOf = ({ day, model, mode, own }: Omit<ChargedRow, 'legs'>): string => `${day} ${model} ${mode} ${own}`;
