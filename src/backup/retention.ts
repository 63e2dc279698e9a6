// Which backups are outdated. Only the order of the backups counts and never the time of this machine, so a wrong clock removes none.

export interface Retention {
  /** The newest that are kept. */
  copies: number;
  /** Also the last one of each day (UTC), for this many days that have any. */
  days: number;
}

/** @param copies of one ledger, in any order */
export function outdatedOf<Copy extends { madeAtMs: number }>(
  copies: readonly Copy[],
  { copies: newest, days }: Retention,
): Copy[] {
  const ordered = [...copies].sort((a, b) => b.madeAtMs - a.madeAtMs);
  const seen = new Set<string>();
  return ordered.filter(({ madeAtMs }, index) => {
    const day = new Date(madeAtMs).toISOString().slice(0, 10);
    const isLastOfDay = !seen.has(day);
    seen.add(day);
    return index >= newest && !(isLastOfDay && seen.size <= days);
  });
}
