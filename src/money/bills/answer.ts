// A month's bill as clients are given it; of the ledger's own amounts nothing is computed anew. As JSON this is the whole of it,
// bill-csv.ts and bill-html.ts write the same for other readers.
import type { BillAnswer } from '../../api/usage.ts';
import { usdOf } from '../../config/prices/price.ts';
import { connectionSeconds } from '../../config/prices/usage-row.ts';
import type { Bill } from '../store/calls.ts';

/** @param isFinal whether the month is over */
export function billAnswer(bill: Bill, organisation: { id: string; name: string }, isFinal: boolean): BillAnswer {
  const { month, openingMicroUsd, credits, lines, totalMicroUsd, closingMicroUsd } = bill;
  return {
    object: 'bill',
    month,
    final: isFinal,
    currency: 'USD',
    organisation: { id: organisation.id, name: organisation.name },
    opening_balance_usd: usdOf(openingMicroUsd),
    credits: credits.map(({ at, kind, microUsd, note }) => ({ at, kind, amount_usd: usdOf(microUsd), note })),
    usage: lines.map(({ model, mode, own, sessions, audioMs, connectionMs, costMicroUsd }) => ({
      model,
      mode,
      byok: own,
      sessions,
      audio_seconds: audioMs / 1000,
      ...connectionSeconds({ connectionMs }),
      cost_usd: usdOf(costMicroUsd),
    })),
    total_usd: usdOf(totalMicroUsd),
    closing_balance_usd: usdOf(closingMicroUsd),
  };
}
