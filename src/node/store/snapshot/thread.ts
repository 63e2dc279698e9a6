// A whole and consistent copy of a database that is in use, made in a thread of its own.
import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { workerFile } from '../../../runtime/telemetry/worker-file.ts';
import { StoreError } from '../../../store/store-error.ts';
import type { CopyOutcome, CopyTask } from './task.ts';

/** What stays free for the database itself. */
const SPARE_BYTES = 32 * 2 ** 20;

/** Rejects with StoreError; then nothing is left behind, unless the process ends meanwhile. */
export async function copyBeside(file: string, copy: string): Promise<void> {
  const { size } = await stat(file);
  await requireSpace(dirname(copy), size + SPARE_BYTES);
  const task: CopyTask = { file, copy };
  const worker = new Worker(workerFile(import.meta.url, 'worker'), { workerData: task, execArgv: [] });
  // It does not keep the process from ending.
  worker.unref();
  const { failure } = await new Promise<CopyOutcome>((done, failed) => {
    worker.once('message', done);
    worker.once('error', failed);
    worker.once('exit', (code) => failed(new Error(`The thread ended with code ${code}.`)));
  });
  if (failure !== undefined) throw new StoreError('failed', failure);
}

/** @throws StoreError when the disk of that directory has fewer bytes for this user */
export async function requireSpace(directory: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  const free = bavail * bsize;
  if (free >= bytes) return;
  throw new StoreError(
    'failed',
    `The disk of ${directory} has ${mebibytes(free)} MiB of free space, and a copy of the database of the accounts needs ${mebibytes(bytes)}.`,
  );
}

const mebibytes = (bytes: number): number => Math.round(bytes / 2 ** 20);
