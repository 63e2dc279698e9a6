// Audits the ledger of a data directory, in a thread of its own, while a gateway uses it.
import { join, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { workerFile } from '../../runtime/telemetry/worker-file.ts';
import { DATABASE_NAME } from '../../store/keep-database.ts';
import type { LedgerAudit } from '../store/calls.ts';

/** Rejects when the thread cannot read the file. Nothing is written. */
export function auditBeside(directory: string): Promise<LedgerAudit> {
  const worker = new Worker(workerFile(import.meta.url, 'worker'), {
    workerData: { file: join(resolve(directory), DATABASE_NAME) },
    execArgv: [],
  });
  // It does not keep the process from ending.
  worker.unref();
  return new Promise((done, failed) => {
    worker.once('message', done);
    worker.once('error', failed);
    worker.once('exit', (code) => failed(new Error(`The audit's thread ended with code ${code}.`)));
  });
}

// One question of the audit, and the words it is written in.
export interface Check {
  /** Rows with what is wrong. `@now` is the time in epoch milliseconds. */
  sql: string;
  sentence(row: Fault): string;
}

/** Who it is about, what is there and what should be. */
export interface Fault {
  who: string;
  found: bigint | null;
  wanted: bigint | null;
}

/** Sums by the same name from two sides that must agree. */
export const differing = (found: string, wanted: string): string => `
  WITH found (who, sum) AS (${found}), wanted (who, sum) AS (${wanted})
  SELECT who, found.sum AS found, coalesce(wanted.sum, 0) AS wanted FROM found LEFT JOIN wanted USING (who)
    WHERE found.sum <> coalesce(wanted.sum, 0)
  UNION ALL
  SELECT who, 0, sum FROM wanted WHERE sum <> 0 AND NOT EXISTS (SELECT 1 FROM found WHERE found.who = wanted.who)`;

export const sessionName = (who: string): string => `(SELECT id FROM sessions WHERE number = ${who})`;
