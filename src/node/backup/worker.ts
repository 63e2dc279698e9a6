// A thread that makes one backup, or looks for the newest one: compressing, encrypting and sending a large database never delays audio.
import { parentPort, workerData } from 'node:worker_threads';
import { makeBackup, newestBackupMs } from './make-backup.ts';
import type { BackupOutcome, BackupTask } from './task.ts';

const task = workerData as BackupTask;

async function outcome(): Promise<BackupOutcome> {
  try {
    if (task.kind === 'newest') return { newestMs: await newestBackupMs(task.ledger, task.settings) };
    return { made: await makeBackup(task.directory, task.settings) };
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}

parentPort!.postMessage(await outcome());
