// What the audit log tells of refused logins, on an open database: a row for each minute of an account at most, with the number
// of those since the row before. Written down for every address alike, so that the time of an answer tells nothing.
import { createHash } from 'node:crypto';
import type { Transaction } from 'better-sqlite3';
import type { TableContext } from '../../../store/table-context.ts';
import type { RefusedLogin } from './calls.ts';
import type { PeopleRows } from './people.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Addresses remembered; past it those of the longest ago are forgotten. Looked after now and then. */
const ADDRESSES_MAX = 100_000;
const ADDRESSES_LOOKED_AFTER = 1000;

export function createRefusedLogins(
  { database, nowMs, audit }: TableContext,
  people: PeopleRows,
): Transaction<(refused: RefusedLogin) => void> {
  const select = database.prepare<[Uint8Array], { untold: number; toldAtMs: number }>(
    'SELECT untold, told_at_ms AS toldAtMs FROM refused_logins WHERE address_hash = ?',
  );
  const upsert = database.prepare<{ hash: Uint8Array; untold: number; toldAtMs: number }>(
    `INSERT INTO refused_logins (address_hash, untold, told_at_ms) VALUES (@hash, @untold, @toldAtMs)
     ON CONFLICT (address_hash) DO UPDATE SET untold = @untold, told_at_ms = @toldAtMs`,
  );
  const prune = database.prepare<[number]>('DELETE FROM refused_logins WHERE told_at_ms <= ?');
  const keepLatest = database.prepare<[number]>(
    `DELETE FROM refused_logins WHERE address_hash IN
       (SELECT address_hash FROM refused_logins ORDER BY told_at_ms DESC LIMIT -1 OFFSET ?)`,
  );
  let added = 0;

  return database.transaction(({ address, why, client, clientGroup }: RefusedLogin): void => {
    const now = nowMs();
    const hash = createHash('sha256').update(address).digest();
    const known = select.get(hash);
    const count = (known?.untold ?? 0) + 1;
    if (known !== undefined && Math.abs(now - known.toldAtMs) < MINUTE_MS) {
      upsert.run({ hash, untold: count, toldAtMs: known.toldAtMs });
      return;
    }
    upsert.run({ hash, untold: 0, toldAtMs: now });
    if (known === undefined) {
      prune.run(now - DAY_MS);
      added += 1;
      if (added % ADDRESSES_LOOKED_AFTER === 0) keepLatest.run(ADDRESSES_MAX);
    }
    const person = people.byAddress(address);
    if (person === undefined) return;
    const by = { type: 'anonymous', id: clientGroup, address: client } as const;
    audit({
      by,
      organisationId: person.organisationId,
      action: 'login.refused',
      target: person.id,
      detail: { why, count },
    });
  });
}
