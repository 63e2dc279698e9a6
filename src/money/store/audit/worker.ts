// A thread that audits the ledger once, on a connection of its own that only reads: the thread that owns the file continues.
import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { keepDatabase } from '../../../store/keep-database.ts';
import { createLedgerTables } from '../tables.ts';

const { file } = workerData as { file: string };
const database = keepDatabase(new Database(file, { readonly: true, fileMustExist: true }));
try {
  const nothing = () => {};
  const nowMs = () => Date.now();
  const tables = createLedgerTables({
    database,
    nowMs,
    nowText: () => new Date(nowMs()).toISOString(),
    audit: nothing,
    outbox: nothing,
  });
  parentPort!.postMessage(tables.auditLedger());
} finally {
  database.close();
}
