// A clock that advances with each reading: all that a call writes has one time, so the books of each day agree.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { drawn } from '../../fakes/drawn.ts';
import { directTables } from '../../fakes/store/direct-tables.ts';
import { lazily } from '../../fakes/store/lazy-statements.ts';
import { creditOf, endOf, headOf, holdOf, ledgerRig, lineOf, OPERATOR, perMinute } from '../../fakes/store/ledger.ts';

const MIDNIGHT_MS = Date.parse('2026-11-22T00:00:00.000Z');
const MODELS = ['a/one', 'b/two', 'c/three'];

test('agrees when midnight passes between any two calls', () => {
  const property = fc.property(
    fc.integer({ min: 1, max: 40 }),
    fc.integer({ min: 1, max: 3 }),
    fc.array(fc.integer({ min: 1, max: 30_000 }), { minLength: 1, maxLength: 4 }),
    (readingsBefore, stepMs, spans) => {
      const { database, customer } = ledgerRig();
      const who = customer({ limit: null, dailyMax: 10n ** 9n });
      let nowMs = MIDNIGHT_MS - readingsBefore * stepMs;
      // Every reading is later than the one before.
      const { tables: ledger } = directTables(lazily(database), () => {
        nowMs += stepMs;
        return nowMs;
      });
      ledger.addCredit(creditOf(who.organisationId, 1_000_000n), OPERATOR);
      const head = headOf(who, 'ses_1');
      ledger.openSession(head, holdOf(100_000n));
      let audioMs = 0;
      const lines = () => MODELS.map((model) => lineOf(audioMs, perMinute(60_000n), { model }));
      for (const span of spans) {
        audioMs += span;
        ledger.renewHold(head, lines(), holdOf(100_000n));
      }
      audioMs += 1;
      ledger.settleSession(head, endOf(lines()));
      expect(ledger.auditLedger()).toMatchObject({ ok: true, faults: [] });
      database.close();
    },
  );
  fc.assert(property, { seed: 13, numRuns: drawn(300) });
});

test('gives all transfers of one posting the same time', () => {
  const { database, customer } = ledgerRig();
  const who = customer({ credit: 1_000_000n });
  let nowMs = MIDNIGHT_MS - 3;
  const { tables: ledger } = directTables(lazily(database), () => nowMs++);
  const lines = MODELS.map((model) => lineOf(1_000, perMinute(60_000n), { model }));
  ledger.settleSession(headOf(who, 'ses_1'), endOf(lines));
  const usage = ledger.exportLedger(0, 100).filter(({ kind }) => kind === 'usage');
  expect(usage).toHaveLength(MODELS.length);
  expect(new Set(usage.map(({ at }) => at)).size).toBe(1);
});
