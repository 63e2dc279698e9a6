// Leases that end while nobody has the file open: whoever opens it next gives the holds back before it answers, and a copy that
// was made while money was held is as good as any.
import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { checkCopy, restoreDatabase } from '../../../src/node/store/restore.ts';
import { keepDatabase } from '../../../src/store/keep-database.ts';
import { openStore } from '../../fakes/store/data-directory.ts';
import { headOf, holdOf, ledgerRig, lineOf } from '../../fakes/store/ledger.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const LEASE_MS = 60_000;
const NAME = 'voxgate.db';

/** What a process leaves behind that was killed so long ago with three sessions open, and a copy it had made just before. */
function killed(agoMs: number) {
  const [running, directory] = [temporaryDirectory(), temporaryDirectory()];
  const { ledger, clock, customer, database } = ledgerRig(join(running, NAME));
  clock.nowMs = Date.now() - agoMs;
  const who = customer({ credit: 1_000_000n });
  const openedAt = new Date(clock.nowMs).toISOString();
  for (const id of ['ses_1', 'ses_2', 'ses_3'])
    ledger.openSession(headOf(who, id, { openedAt }), holdOf(60_000n, 0n, LEASE_MS));
  ledger.renewHold(headOf(who, 'ses_1'), [lineOf(10_000)], holdOf(60_000n, 0n, LEASE_MS));
  const copy = join(temporaryDirectory(), 'copy.db');
  ledger.backup(copy);
  for (const name of readdirSync(running)) copyFileSync(join(running, name), join(directory, name));
  database.close();
  return { directory, copy, who };
}

const HOURS_MS = 5 * 3_600_000;

describe('a node that was killed with holds open', () => {
  test.each([LEASE_MS, LEASE_MS + 60_001, HOURS_MS])('%s ms ago agrees with the first call', async (agoMs) => {
    const { directory, who } = killed(agoMs);
    const store = await openStore(directory);
    const [audit, balance] = await Promise.all([store.auditLedger(), store.balanceOf(who.organisationId)]);
    expect(audit).toMatchObject({ ok: true, faults: [], openHolds: 0, oldestHoldMs: null });
    expect(balance).toMatchObject({ balanceMicroUsd: 990_000n, heldMicroUsd: 0n });
  });

  test('holds nothing any more after the clock was set back by an hour', async () => {
    const { directory, who } = killed(-3_600_000);
    const store = await openStore(directory);
    const [audit, balance] = await Promise.all([store.auditLedger(), store.balanceOf(who.organisationId)]);
    expect(audit).toMatchObject({ ok: true, faults: [], openHolds: 0 });
    expect(balance).toMatchObject({ balanceMicroUsd: 990_000n, heldMicroUsd: 0n });
  });

  test('keeps its holds shortly after, without a fault', async () => {
    const store = await openStore(killed(0).directory);
    expect(await store.auditLedger()).toMatchObject({ ok: true, faults: [], openHolds: 3 });
  });

  test('gives holds back through a normal call, which advances the ledger', async () => {
    const { directory } = killed(HOURS_MS);
    const database = keepDatabase(new Database(join(directory, NAME)));
    database.exec('UPDATE ledger_identity SET written = 0');
    const written = database.prepare('SELECT written FROM ledger_identity').pluck();
    expect(written.get()).toBe(0);
    await openStore(directory);
    expect(written.get()).toBe(1);
    database.close();
  });

  test('opens when they cannot be given back just now, and they are a moment later', async () => {
    const { directory, who } = killed(HOURS_MS);
    const other = keepDatabase(new Database(join(directory, NAME)));
    other.exec("CREATE TRIGGER full BEFORE INSERT ON hold_ends BEGIN SELECT raise(ABORT, 'the disk is full'); END");
    const store = await openStore(directory);
    expect(await store.balanceOf(who.organisationId)).toMatchObject({ heldMicroUsd: 180_000n });
    const told = new Promise((resolve) => store.onKeyRevoked(resolve));
    // A key that seems revoked when a hold ends is the signal to wait for.
    other.exec(`DROP TRIGGER full;
      CREATE TRIGGER told AFTER INSERT ON hold_ends BEGIN
        UPDATE api_keys SET revoked_at = new.kind, revocation = 1; END`);
    other.close();
    await told;
    expect(await store.auditLedger()).toMatchObject({ ok: true, openHolds: 0 });
  });
});

describe('a copy made while money was held', () => {
  test.each([0, LEASE_MS + 60_001, HOURS_MS])('passes the check %s ms later, unchanged by it', (agoMs) => {
    const { copy } = killed(agoMs);
    for (const _ of [1, 2]) expect(checkCopy(copy)).toMatchObject({ ok: true, faults: [], openHolds: 3 });
  });

  test('takes the place of the database hours later, without the holds whose leases are over', async () => {
    const { directory, copy, who } = killed(HOURS_MS);
    const file = join(directory, NAME);
    const { audit, kept } = restoreDatabase(copy, file, true);
    expect(audit).toMatchObject({ ok: true, sessions: 3, openHolds: 0 });
    expect(checkCopy(file)).toMatchObject({ ok: true, openHolds: 0 });
    expect(checkCopy(copy).openHolds).toBe(3);
    expect(checkCopy(kept!).openHolds).toBe(3);
    const store = await openStore(directory);
    expect(await store.balanceOf(who.organisationId)).toMatchObject({ heldMicroUsd: 0n, availableMicroUsd: 990_000n });
  });

  test('keeps holds whose leases are not over', () => {
    const { directory, copy } = killed(0);
    expect(restoreDatabase(copy, join(directory, NAME), true).audit).toMatchObject({ ok: true, openHolds: 3 });
  });
});
