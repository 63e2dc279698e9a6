// Every statement is kept for as long as its thread lives, so calls must not prepare any: what does so every few seconds fills the memory.
import type { Database } from 'better-sqlite3';
import { expect, test } from 'vitest';
import { creditOf, endOf, headOf, holdOf, ledgerRig, lineOf, perMinute } from '../../fakes/store/ledger.ts';

interface Native {
  prepare(...args: unknown[]): unknown;
}

/** Counts what is prepared from here on, pragmas too: the library prepares behind a symbol. */
function countPrepared(database: Database): () => number {
  let count = 0;
  for (const symbol of Object.getOwnPropertySymbols(database)) {
    const native = Reflect.get(database, symbol) as Partial<Native> | null;
    if (typeof native !== 'object' || typeof native?.prepare !== 'function') continue;
    const prepare = native.prepare.bind(native);
    native.prepare = (...args) => {
      count++;
      return prepare(...args);
    };
  }
  return () => count;
}

test('a second day prepares no statement that the first has not', () => {
  const { database, ledger, clock, customer } = ledgerRig();
  const prepared = countPrepared(database);
  const day = (id: string) => {
    const who = customer({ credit: 1_000_000n });
    ledger.addCredit(creditOf(who.organisationId, 10n), { type: 'operator', id: 'test' });
    const head = headOf(who, id);
    ledger.openSession(head, holdOf(60_000n));
    ledger.renewHold({ organisationId: who.organisationId, id }, [lineOf(1_000)], holdOf(120_000n));
    ledger.settleSession(head, endOf([lineOf(60_000, perMinute(60_000n))]));
    const from = '2026-11-01T00:00:00.000Z';
    const query = { organisationId: who.organisationId, from, to: '2026-12-01T00:00:00.000Z' };
    for (const groupBy of ['model', 'provider', 'day', 'key'] as const) ledger.usageOf({ ...query, groupBy });
    ledger.billOf(who.organisationId, '2026-11');
    ledger.searchSessions(who.organisationId, { limit: 10 });
    ledger.listAudit(null, 10);
    ledger.expireHolds();
    expect(ledger.auditLedger().faults).toEqual([]);
    ledger.noteLedger();
    ledger.noteLedger();
    clock.nowMs += 1_000;
  };
  day('first');
  const first = prepared();
  // What is made when it is first needed.
  expect(first).toBeGreaterThan(0);
  day('second');
  expect(prepared() - first).toBe(0);
});
