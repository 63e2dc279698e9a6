// Failed logins by address on an open database, and how long the next one waits: alike for addresses that have an account and
// for those that have none.
import { createHash } from 'node:crypto';
import type { Transaction } from 'better-sqlite3';
import type { TableContext } from '../../../store/table-context.ts';
import type { RefusedLogin } from './calls.ts';
import type { PeopleRows } from './people.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Failed logins in a row before the first wait. */
const FREE_ATTEMPTS = 5;
const WAIT_MS_MAX = 15 * MINUTE_MS;
/** Addresses remembered; past it those of the longest ago are forgotten. */
const ADDRESSES_MAX = 100_000;
/** On average, one new address in this many checks the bound. Checking it for each costs too much. */
const BOUND_CHECKED_EVERY = 1000;

export function createLoginAttempts({ database, nowMs }: TableContext) {
  const select = database.prepare<[Uint8Array, number], { attempts: number; nextAtMs: number }>(
    'SELECT attempts, next_at_ms AS nextAtMs FROM login_attempts WHERE address_hash = ? AND last_at_ms > ?',
  );
  const upsert = database.prepare<{ hash: Uint8Array; attempts: number; now: number; nextAtMs: number }>(
    `INSERT INTO login_attempts (address_hash, attempts, last_at_ms, next_at_ms) VALUES (@hash, @attempts, @now, @nextAtMs)
     ON CONFLICT (address_hash) DO UPDATE SET attempts = @attempts, last_at_ms = @now, next_at_ms = @nextAtMs`,
  );
  const forget = database.prepare<[Uint8Array]>('DELETE FROM login_attempts WHERE address_hash = ?');
  const prune = database.prepare<[number]>('DELETE FROM login_attempts WHERE last_at_ms <= ?');
  const keepLatest = database.prepare<[number]>(
    `DELETE FROM login_attempts WHERE address_hash IN
       (SELECT address_hash FROM login_attempts ORDER BY last_at_ms DESC, address_hash DESC LIMIT -1 OFFSET ?)`,
  );

  const hashOf = (address: string): Uint8Array => createHash('sha256').update(address).digest();
  return {
    /** Counts an attempt. Not 0: how long to wait first, and this one was not counted. */
    take(address: string): number {
      const now = nowMs();
      const hash = hashOf(address);
      const known = select.get(hash, now - DAY_MS);
      // The wait is counted from now at the most, should the clock have been set back.
      const waitMs = Math.min(WAIT_MS_MAX, (known?.nextAtMs ?? 0) - now);
      if (waitMs > 0) return waitMs;
      const attempts = (known?.attempts ?? 0) + 1;
      upsert.run({ hash, attempts, now, nextAtMs: attempts < FREE_ATTEMPTS ? now : now + waitAfter(attempts) });
      if (known === undefined) {
        prune.run(now - DAY_MS);
        if (checksBound(hash, now)) keepLatest.run(ADDRESSES_MAX);
      }
      return 0;
    },
    forget: (address: string) => void forget.run(hashOf(address)),
  };
}

/**
 * Depends on the attempt alone, so that each copy of the database decides alike: a count in memory would start over with each process.
 * The time is part of it, so that an attacker cannot choose addresses that never check the bound.
 */
function checksBound(hash: Uint8Array, nowMs: number): boolean {
  return (Buffer.from(hash).readUInt32BE() + nowMs) % BOUND_CHECKED_EVERY === 0;
}

/** 1 s after the fifth failure, then twice as long each time, up to 15 minutes. */
function waitAfter(attempts: number): number {
  return Math.min(WAIT_MS_MAX, SECOND_MS * 2 ** Math.min(30, attempts - FREE_ATTEMPTS));
}

// What the audit log tells of refused logins, on an open database: a row for each minute of an account at most, with the number
// of those since the row before. Written down for every address alike, so that the time of an answer tells nothing.

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
       (SELECT address_hash FROM refused_logins ORDER BY told_at_ms DESC, address_hash DESC LIMIT -1 OFFSET ?)`,
  );

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
      if (checksBound(hash, now)) keepLatest.run(ADDRESSES_MAX);
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
