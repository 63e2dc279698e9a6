// A database from before there were roles: whoever was a member owns the organisation, and stays logged in there.
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { keepDatabase } from '../../../../src/store/keep-database.ts';
import { MIGRATIONS, teams } from '../../../../src/store/migrations.ts';
import { ledgerRig } from '../../../fakes/store/ledger.ts';
import { temporaryDirectory } from '../../../fakes/temporary-directory.ts';

test('makes members owners in an upgrade, and keeps their sessions', () => {
  const file = join(temporaryDirectory(), 'voxgate.db');
  const before = MIGRATIONS.slice(0, MIGRATIONS.indexOf(teams));
  const old = keepDatabase(new Database(file));
  for (const migration of before) old.exec(migration);
  old.pragma(`user_version = ${before.length}`);
  old.exec(`
    INSERT INTO organisations (id, name, created_at) VALUES ('org_1', 'Ada', '2026-01-01T00:00:00.000Z');
    INSERT INTO people (id, email, address, password, state, created_at, verified_at) VALUES
      ('per_1', 'ada@example.com', 'ada@example.com', '$a$b$c$d', 'verified', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z');
    INSERT INTO memberships VALUES ('per_1', 'org_1', 'owner');
    INSERT INTO mail_requests (kind, address_hash, asked_by, at_ms) VALUES ('sign-up', zeroblob(32), 'x', 1);
    INSERT INTO console_sessions (id, hash, person_id, client, user_agent, created_at_ms, seen_at_ms, confirmed_at_ms)
      VALUES ('con_1', zeroblob(32), 'per_1', '192.0.2.1', 'x', 1, 1, 1)`);
  old.close();
  const { database, ledger } = ledgerRig(file);
  const limits = { idleMs: Number.MAX_SAFE_INTEGER, absoluteMs: Number.MAX_SAFE_INTEGER };
  expect(ledger.findConsoleSession(new Uint8Array(32), limits)).toMatchObject({
    organisationId: 'org_1',
    role: 'owner',
  });
  expect(ledger.listMemberships('per_1')).toEqual([{ id: 'org_1', name: 'Ada', role: 'owner' }]);
  expect(database.prepare('SELECT count(*) FROM mail_requests').pluck().get()).toBe(1);
  database.close();
});
