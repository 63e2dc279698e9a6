// A whole and consistent copy of a database that is in use, made in a thread of its own.
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { workerFile } from '../../../runtime/telemetry/worker-file.ts';
import { answerOf } from '../../../runtime/thread-answer.ts';
import { StoreError } from '../../../store/store-error.ts';
import { requireSpace } from '../disk-space.ts';
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
  const { failure } = await answerOf<CopyOutcome>(worker, 'the copy');
  if (failure !== undefined) throw new StoreError('failed', failure);
}
