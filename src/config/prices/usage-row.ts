// How a line of a bill is shown to clients, at the end of a session and ever after.
import type { UsageRow } from '../../api/listen-events.ts';
import { type Metered, usdOf } from './price.ts';

export function usageRow(line: Metered & { model: string; own: boolean; costMicroUsd: bigint }): UsageRow {
  const { model, audioMs, own, costMicroUsd } = line;
  return { model, seconds: audioMs / 1000, ...connectionSeconds(line), cost_usd: usdOf(costMicroUsd), byok: own };
}

/** Told only where there are any. */
export const connectionSeconds = ({ connectionMs = 0 }: Pick<Metered, 'connectionMs'>) =>
  connectionMs === 0 ? {} : { connection_seconds: connectionMs / 1000 };
