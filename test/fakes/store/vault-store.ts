// The vault's tables on a database of their own, as the store would answer, without its thread; and an organisation or two.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createVaultTables, type VaultCalls } from '../../../src/accounts/vault/store.ts';
import type { AsynchronousCalls } from '../../../src/node/store/store.ts';
import { createAuditTables } from '../../../src/store/audit-log.ts';
import { openDatabase } from '../../../src/store/open-database.ts';
import { emptyDatabase } from '../../setup/empty-database.ts';
import { temporaryDirectory } from '../temporary-directory.ts';

export type VaultStore = Pick<AsynchronousCalls, keyof VaultCalls>;

export const ORGANISATIONS = ['org_a', 'org_b'] as const;

/** @param clock wall-clock milliseconds, to be moved by the test */
export function openVaultStore(
  clock: { nowMs: number } = { nowMs: Date.UTC(2026, 0, 1) },
  directory = temporaryDirectory(),
) {
  const file = join(directory, 'voxgate.db');
  if (!existsSync(file)) writeFileSync(file, emptyDatabase(), { mode: 0o600 });
  const database = openDatabase(file);
  const base = { database, nowMs: () => clock.nowMs, nowText: () => new Date(clock.nowMs).toISOString() };
  const audit = createAuditTables(base);
  const tables = createVaultTables({ ...base, audit: audit.recordAudit, outbox: () => {} });
  const add = database.prepare("INSERT OR IGNORE INTO organisations (id, name, created_at) VALUES (?, 'Some', '')");
  for (const id of ORGANISATIONS) add.run(id);
  const store = Object.fromEntries(
    Object.entries(tables).map(([name, call]) => [
      name,
      async (...args: unknown[]) => Reflect.apply(call as (...args: unknown[]) => unknown, tables, args),
    ]),
  ) as unknown as VaultStore;
  return {
    store,
    tables,
    database,
    directory,
    /** Actions of the audit log, oldest first. */
    audited: () => audit.listAudit(null, 100).reverse(),
    close: () => database.close(),
  };
}
