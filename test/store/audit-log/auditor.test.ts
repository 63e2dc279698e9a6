// The audit beside a store at work: it reads what is there, holds nobody up, and says what it cannot read.
import { expect, test } from 'vitest';
import { auditBeside } from '../../../src/money/store/audit/auditor.ts';
import { openSqliteStore } from '../../../src/node/store/sqlite-store.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

test('agrees with the store’s own result, while that continues', async () => {
  const directory = temporaryDirectory();
  const store = await openSqliteStore({ directory });
  const { organisation } = (await store.bootstrap())!;
  const by = { type: 'operator', id: 'test' } as const;
  const credits = Array.from({ length: 50 }, (_, index) =>
    store.addCredit(
      { organisationId: organisation.id, kind: 'top_up', microUsd: 10n, uniqueKey: `${index}`, note: '' },
      by,
    ),
  );
  await Promise.all(credits);
  const [beside, own] = await Promise.all([auditBeside(directory), store.auditLedger()]);
  expect(beside).toEqual(own);
  expect(beside).toMatchObject({ ok: true, transfers: 50 });
  await store.close();
});

test('rejects a directory without a ledger', async () => {
  await expect(auditBeside(temporaryDirectory())).rejects.toThrow();
});
