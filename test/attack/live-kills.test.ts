// What a killed process leaves behind: sessions of which nothing was written down yet are over, cost nothing and hold nothing,
// also where the clock is put back before the next start.
import { mkdirSync, readdirSync } from 'node:fs';
import { watch } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, expect, it } from 'vitest';
import { openSqliteStore } from '../../src/node/store/sqlite-store.ts';
import { KilledGateway, killedEnvironment } from '../fakes/processes/killed-gateway.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';

const CREDIT = 1_000_000_000n;
const BY = { type: 'operator', id: 'attack' } as const;
const SESSIONS = 20;

let running: KilledGateway | undefined;
afterEach(() => running?.stop());

/** Resolves when the first checkpoint of a process is on the disk. */
async function checkpoint(directory: string): Promise<void> {
  const usage = join(directory, 'usage');
  mkdirSync(usage, { recursive: true, mode: 0o700 });
  const isThere = () => readdirSync(usage).some((name) => name.endsWith('.journal'));
  for await (const _ of watch(usage)) if (isThere()) return;
}

it.each([
  ['stands', 0],
  ['is put back by an hour', 3_600_000],
])('sessions without a checkpoint end with their process and hold nothing, where the clock %s', async (_, backMs) => {
  const directory = temporaryDirectory();
  const env = { ...killedEnvironment(directory), VOXGATE_USAGE_JOURNAL_SYNC_MS: '2000' };
  const before = await openSqliteStore({ directory });
  await before.bootstrap();
  const { id: organisationId } = await before.createOrganisation('Prepaid', 0n, BY);
  await before.addCredit({ organisationId, kind: 'top_up', microUsd: CREDIT, uniqueKey: 'first', note: '' }, BY);
  const { secret } = await before.createKey(organisationId, {}, BY);
  await before.close();

  running = await KilledGateway.start(env);
  const [told] = await running.speak(1, secret);
  await checkpoint(directory);
  const untold = await running.speak(SESSIONS, secret);
  await running.kill();
  if (backMs > 0) datedAhead(join(directory, 'voxgate.db'), backMs);

  running = await KilledGateway.start(env);
  const store = await openSqliteStore({ directory });
  const records = await Promise.all(
    [told!, ...untold].map(({ sent }) => store.findSession(organisationId, sent.sessionId)),
  );
  const balance = await store.balanceOf(organisationId);
  const audit = await store.auditLedger();
  await store.close();
  expect(records.map((record) => record?.reason)).toEqual(['recovered', ...untold.map(() => 'node_lost')]);
  expect(records.slice(1).every((record) => record?.costMicroUsd === 0n && record.endedAt !== null)).toBe(true);
  expect(balance.heldMicroUsd).toBe(0n);
  expect(audit).toMatchObject({ ok: true, openHolds: 0 });
});

/** The same as a clock that is put back: everything that is held was held so much later. */
function datedAhead(file: string, byMs: number): void {
  const database = new Database(file);
  database.exec(`DROP TRIGGER holds_keeps;
    UPDATE holds SET made_at_ms = made_at_ms + ${byMs}, lease_end_ms = lease_end_ms + ${byMs};
    UPDATE open_holds SET lease_end_ms = lease_end_ms + ${byMs}`);
  database.close();
}
