// Backups in a thread of their own, as seen from the thread that starts it.
import { resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { BackupError } from '../../backup/backup-error.ts';
import type { BackupSettings } from '../../config/schema-backup.ts';
import { workerFile } from '../../runtime/telemetry/worker-file.ts';
import { answerOf } from '../../runtime/thread-answer.ts';
import type { MadeBackup } from './make-backup.ts';
import type { BackupOutcome, BackupTask } from './task.ts';

/** Rejects with BackupError. The signal ends the thread, which leaves at most a file that the next backup removes. */
export async function backUpBeside(
  directory: string,
  settings: BackupSettings,
  signal: AbortSignal,
): Promise<MadeBackup> {
  const outcome = await run({ kind: 'make', directory: resolve(directory), settings }, signal);
  if ('made' in outcome) return outcome.made;
  throw new BackupError('The thread of the backup gave no answer.');
}

/** When the newest backup of that ledger was made; undefined before the first one. Rejects with BackupError. */
export async function newestBeside(
  ledger: string,
  settings: BackupSettings,
  signal: AbortSignal,
): Promise<number | undefined> {
  const outcome = await run({ kind: 'newest', ledger, settings }, signal);
  return 'newestMs' in outcome ? outcome.newestMs : undefined;
}

async function run(task: BackupTask, signal: AbortSignal): Promise<BackupOutcome> {
  if (signal.aborted) throw aborted(signal);
  const worker = new Worker(workerFile(import.meta.url, 'worker'), { workerData: task, execArgv: [] });
  const end = () => void worker.terminate();
  signal.addEventListener('abort', end);
  try {
    const outcome = await answerOf<BackupOutcome>(worker, 'the backup').catch((error: Error) => {
      throw signal.aborted ? aborted(signal) : new BackupError(error.message);
    });
    if ('failure' in outcome) throw new BackupError(outcome.failure);
    return outcome;
  } finally {
    signal.removeEventListener('abort', end);
    // Connections that the service keeps open would keep the thread.
    end();
  }
}

const aborted = ({ reason }: AbortSignal): BackupError =>
  reason instanceof BackupError ? reason : new BackupError('The backup was cancelled.');
