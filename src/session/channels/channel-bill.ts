// The bill of a session with several channels: the sum of theirs.
import type { OutgoingEvent, UsageRow } from '../../api/listen.ts';
import { microUsdOf, usdOf } from '../../billing/price.ts';

export type Ended = Extract<OutgoingEvent, { type: 'session_ended' }>;

/** @param restBytes that came to no whole sample of every channel */
export function billOf(ended: readonly Ended[], reason: Ended['reason'], restBytes: number): Ended {
  const droppedBytes = ended.reduce((sum, { dropped_bytes = 0 }) => sum + dropped_bytes, restBytes);
  return {
    type: 'session_ended',
    reason,
    audio_seconds: Math.max(0, ...ended.map(({ audio_seconds: seconds }) => seconds)),
    usage: usageOf(ended.flatMap(({ usage }) => usage)),
    cost_usd: sumOf(ended.map(({ cost_usd: cost }) => cost)),
    ...(droppedBytes === 0 ? {} : { dropped_bytes: droppedBytes }),
  };
}

/** One row for each model and account. */
function usageOf(rows: readonly UsageRow[]): UsageRow[] {
  const byModel = new Map<string, UsageRow[]>();
  for (const row of rows) {
    const key = `${row.model} ${row.byok}`;
    byModel.set(key, [...(byModel.get(key) ?? []), row]);
  }
  return [...byModel.values()].map((same) => {
    const connections = same.flatMap(({ connection_seconds: seconds }) => seconds ?? []);
    return {
      ...(same[0] as UsageRow),
      seconds: secondsIn(same.map(({ seconds }) => seconds)),
      ...(connections.length === 0 ? {} : { connection_seconds: secondsIn(connections) }),
      cost_usd: sumOf(same.map(({ cost_usd: cost }) => cost)),
    };
  });
}

const sumOf = (amounts: readonly string[]): string =>
  usdOf(amounts.reduce((sum, amount) => sum + microUsdOf(amount), 0n));

/** In whole milliseconds, as each of them is. */
const secondsIn = (values: readonly number[]): number =>
  Math.round(values.reduce((sum, seconds) => sum + seconds, 0) * 1_000) / 1_000;
