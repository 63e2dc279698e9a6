// Audits the ledger of a data directory, in a thread of its own, while a gateway uses it.
import { join, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { workerFile } from '../../../runtime/telemetry/worker-file.ts';
import { answerOf } from '../../../runtime/thread-answer.ts';
import { DATABASE_NAME } from '../../../store/keep-database.ts';
import type { LedgerAudit } from '../calls.ts';

/** Rejects when the thread cannot read the file. Nothing is written. */
export function auditBeside(directory: string): Promise<LedgerAudit> {
  const worker = new Worker(workerFile(import.meta.url, 'worker'), {
    workerData: { file: join(resolve(directory), DATABASE_NAME) },
    execArgv: [],
  });
  // It does not keep the process from ending.
  worker.unref();
  return answerOf(worker, 'the audit');
}
