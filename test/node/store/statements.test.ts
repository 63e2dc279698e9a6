// Every statement is kept for as long as its thread lives, so calls must not prepare any: what does so every few seconds fills the memory.
import { expect, test } from 'vitest';
import { onPrepared } from '../../../src/store/keep-database.ts';
import { creditOf, endOf, headOf, holdOf, ledgerRig, lineOf, perMinute } from '../../fakes/store/ledger.ts';

test('prepares no statement on a second day that the first has not', () => {
  const { database, ledger, clock, customer } = ledgerRig();
  let prepared = 0;
  onPrepared(database, () => prepared++);
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
  const first = prepared;
  // What is made when it is first needed.
  expect(first).toBeGreaterThan(0);
  day('second');
  expect(prepared - first).toBe(0);
});
