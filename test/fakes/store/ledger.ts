// A ledger on a database of its own, with a clock that stands until it is moved, and the few words its tests are written in.
import Database from 'better-sqlite3';
import type {
  Credit,
  HoldRequest,
  LedgerPrice,
  SessionEnd,
  SessionHead,
  UsageLine,
} from '../../../src/money/store/calls.ts';
import { keepDatabase } from '../../../src/store/keep-database.ts';
import { openDatabase } from '../../../src/store/open-database.ts';
import { emptyDatabase } from '../../setup/empty-database.ts';
import { type DirectTables, directTables } from './direct-tables.ts';
import { lazily } from './lazy-statements.ts';

export const OPERATOR = { type: 'operator', id: 'test' } as const;
export const START_MS = Date.parse('2026-11-21T12:00:00.000Z');

export interface LedgerRig {
  database: Database.Database;
  ledger: DirectTables;
  clock: { nowMs: number };
  /** Makes an organisation with one key and so much credit. */
  customer(options?: { credit?: bigint; limit?: bigint | null; dailyMax?: bigint }): {
    organisationId: string;
    keyId: string;
  };
}

/** An empty database in memory, at the newest schema. */
function databaseInMemory(): Database.Database {
  const database = keepDatabase(new Database(emptyDatabase({ isInMemory: true })));
  database.pragma('foreign_keys = ON');
  return database;
}

/** @param where file of a database, or an open one; a new one in memory when absent */
export function ledgerRig(where?: string | Database.Database): LedgerRig {
  const clock = { nowMs: START_MS };
  const database = typeof where === 'string' ? openDatabase(where) : (where ?? databaseInMemory());
  const { tables: ledger } = directTables(lazily(database), () => clock.nowMs);
  let customers = 0;
  return {
    database,
    ledger,
    clock,
    customer({ credit = 0n, limit = 0n, dailyMax } = {}) {
      const { id } = ledger.createOrganisation(`Customer ${++customers}`, limit, OPERATOR);
      const settings = dailyMax === undefined ? {} : { dailySpendMicroUsdMax: dailyMax };
      const keyId = ledger.createKey(id, settings, OPERATOR).key.id;
      if (credit !== 0n) ledger.addCredit(creditOf(id, credit), OPERATOR);
      return { organisationId: id, keyId };
    },
  };
}

/** A copy of the ledger without its triggers and constraints of rows, as if the file had been edited by hand. */
export function editedCopy({ database, clock }: Pick<LedgerRig, 'database' | 'clock'>, sql: string): LedgerRig {
  const rig = ledgerRig(keepDatabase(new Database(database.serialize())));
  rig.clock.nowMs = clock.nowMs;
  rig.database.unsafeMode(true);
  rig.database.pragma('foreign_keys = OFF');
  rig.database.pragma('ignore_check_constraints = ON');
  const triggers = rig.database.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'trigger'").pluck();
  for (const name of triggers.all()) rig.database.exec(`DROP TRIGGER ${name}`);
  rig.database.exec(sql);
  return rig;
}

let credits = 0;

export function creditOf(organisationId: string, microUsd: bigint, rest: Partial<Credit> = {}): Credit {
  const uniqueKey = `key ${++credits}`;
  return { organisationId, microUsd, kind: microUsd < 0n ? 'adjustment' : 'top_up', uniqueKey, note: '', ...rest };
}

export function headOf(
  customer: { organisationId: string; keyId: string },
  id: string,
  rest: Partial<SessionHead> = {},
): SessionHead {
  return { ...customer, id, mode: 'live', model: 'loopback/script', openedAt: '2026-11-21T12:00:00.000Z', ...rest };
}

export function perMinute(microUsd: bigint, minimumMicroUsd = 0n): LedgerPrice {
  return { unit: 'minute', microUsd, minimumMicroUsd };
}

export function perSession(microUsd: bigint, minimumMicroUsd = 0n): LedgerPrice {
  return { unit: 'session', microUsd, minimumMicroUsd };
}

export function lineOf(audioMs: number, price = perMinute(60_000n), rest: Partial<UsageLine> = {}): UsageLine {
  return { model: 'loopback/script', own: false, audioMs, price, ...rest };
}

export function endOf(lines: readonly UsageLine[], rest: Partial<SessionEnd> = {}): SessionEnd {
  const audioMs = lines.reduce((sum, line) => sum + line.audioMs, 0);
  return { endedAt: '2026-11-21T12:05:00.000Z', reason: 'client_closed', code: null, audioMs, lines, ...rest };
}

export function holdOf(wantedMicroUsd: bigint, leastMicroUsd = 0n, leaseMs = 60_000): HoldRequest {
  return { wantedMicroUsd, leastMicroUsd, leaseMs };
}
