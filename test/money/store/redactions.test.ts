// How often classes were redacted, in the ledger: once for each session, whatever is repeated, lost or late, and never a reason not to bill.
import { beforeEach, describe, expect, it, test } from 'vitest';
import type { Redactions, SessionEnd } from '../../../src/money/store/calls.ts';
import { editedCopy, endOf, headOf, holdOf, type LedgerRig, ledgerRig, lineOf } from '../../fakes/store/ledger.ts';

let rig: LedgerRig;
let who: ReturnType<LedgerRig['customer']>;
beforeEach(() => {
  rig = ledgerRig();
  who = rig.customer({ credit: 10_000_000_000n });
});

const settle = (id: string, redactions?: unknown, ms = 60_000, rest: Partial<SessionEnd> = {}) =>
  rig.ledger.settleSession(
    headOf(who, id),
    endOf([lineOf(ms)], { ...rest, ...(redactions === undefined ? {} : { redactions: redactions as Redactions }) }),
  );
const found = (id: string) => rig.ledger.findSession(who.organisationId, id);
const totals = (more: { keyId?: string; tag?: { key: string; value: string } } = {}, of = who) =>
  rig.ledger.redactionsOf({
    ...{ organisationId: of.organisationId, from: '2026-11-01T00:00:00Z', to: '2026-12-01T00:00:00Z' },
    ...more,
  });

describe('counts of redactions', () => {
  it('are those of the settlement, in its answer and in every record', () => {
    expect(settle('ses_1', { email: 1, card: 2 }).redactions).toEqual({ card: 2, email: 1 });
    expect(found('ses_1')?.redactions).toEqual({ card: 2, email: 1 });
    expect(rig.ledger.listSessions(who.organisationId, 10)[0]?.redactions).toEqual({ card: 2, email: 1 });
    for (const nothing of [undefined, {}]) expect(settle('ses_2', nothing)).not.toHaveProperty('redactions');
    expect(found('ses_2')).not.toHaveProperty('redactions');
    expect(rig.ledger.auditLedger()).toMatchObject({ ok: true });
  });

  it('stay as they were first, however often the session is settled', () => {
    settle('ses_1', { card: 2 });
    for (const other of [{ card: 3 }, { email: 1 }, undefined])
      expect(settle('ses_1', other).redactions).toEqual({ card: 2 });
    settle('ses_2');
    expect(settle('ses_2', { card: 1 })).not.toHaveProperty('redactions');
    expect(totals()).toEqual({ card: 2 });
  });

  it('belong to a session of a lost node once it is reported, also with late usage', () => {
    for (const [id, ms] of [
      ['ses_abc123_1', 90_000],
      ['ses_abc123_2', 60_000],
    ] as const) {
      rig.ledger.openSession(headOf(who, id), holdOf(0n));
      rig.ledger.renewHold(headOf(who, id), [lineOf(60_000)], holdOf(0n));
      rig.ledger.closeLost('abc123', new Date(rig.clock.nowMs).toISOString());
      for (let time = 0; time < 2; time++) settle(id, { card: 1 }, ms);
      expect([found(id)?.redactions, found(`${id}:late`)?.redactions]).toEqual([{ card: 1 }, undefined]);
    }
    expect(totals()).toEqual({ card: 2 });
    expect(rig.ledger.auditLedger()).toMatchObject({ ok: true });
  });

  it('add up by time, organisation, key and tag', () => {
    settle('ses_1', { card: 2, email: 1 });
    rig.ledger.settleSession(
      headOf(who, 'ses_2', { tags: '{"customer":"acme"}' }),
      endOf([lineOf(1)], { redactions: { card: 5 } }),
    );
    rig.ledger.settleSession(
      headOf(who, 'ses_3', { openedAt: '2026-10-31T23:59:59.999Z' }),
      endOf([lineOf(1)], { redactions: { card: 7 } }),
    );
    expect(totals()).toEqual({ card: 7, email: 1 });
    expect(totals({ tag: { key: 'customer', value: 'acme' } })).toEqual({ card: 5 });
    expect(totals({ keyId: 'key_other' })).toEqual({});
    expect(totals({}, rig.customer())).toEqual({});
  });

  it('cannot be changed or removed', () => {
    settle('ses_1', { card: 2 });
    for (const sql of ['UPDATE session_redactions SET count = 3', 'DELETE FROM session_redactions'])
      expect(() => rig.database.exec(sql)).toThrow('only grows');
  });

  it.each([
    { card: 0 },
    { card: 1.5 },
    { card: '1' },
    { '': 1 },
    { 'A card': 1 },
    { __proto: 1 },
    Object.fromEntries(
      Array.from({ length: 51 }, (_, index) => [`x${'y'.repeat(index % 30)}${'_'.repeat(index > 29 ? 2 : 0)}`, 1]),
    ),
    { [`x${'y'.repeat(32)}`]: 1 },
  ])('are refused if they are malformed: %j', (redactions) => {
    expect(() => settle('ses_1', redactions)).toThrow('counted from 1 up');
    expect(found('ses_1')).toBeUndefined();
  });

  it('are accepted for a class of a later version', () => {
    expect(settle('ses_1', { passport: 1 }).redactions).toEqual({ passport: 1 });
  });
});

test('the audit reports counts of a session that is not settled, and counts below 1', () => {
  rig.ledger.openSession(headOf(who, 'ses_open'), holdOf(0n));
  settle('ses_1', { card: 1 });
  const open = "INSERT INTO session_redactions SELECT number, 'card', 1 FROM sessions WHERE id = 'ses_open'";
  expect(editedCopy(rig, open).ledger.auditLedger().faults).toEqual([
    'Session ses_open has counts of redactions but is not settled.',
  ]);
  expect(editedCopy(rig, 'UPDATE session_redactions SET count = 0').ledger.auditLedger().faults).toEqual([
    'Session ses_1 has a count of redactions below 1.',
  ]);
});
