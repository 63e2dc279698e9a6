// A thread that copies a database that is in use: the thread that owns the file continues meanwhile, and so does everything else.
import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { keepDatabase } from '../../../store/keep-database.ts';
import { callError } from '../../../store/store-error.ts';
import type { CopyOutcome, CopyTask } from './task.ts';

/** All at once: a copy in steps begins again with each commit of another connection. */
const PAGES_AT_ONCE = 2 ** 30;

const { file, copy } = workerData as CopyTask;

/** Page by page: writing the content anew, as VACUUM does, takes more than twice the time. */
async function copyPages(): Promise<void> {
  const source = keepDatabase(new Database(file, { readonly: true, fileMustExist: true }));
  try {
    closeSync(openSync(copy, 'wx', 0o600));
    await source.backup(copy, { progress: () => PAGES_AT_ONCE });
    const descriptor = openSync(copy, 'r+');
    fsyncSync(descriptor);
    closeSync(descriptor);
  } finally {
    source.close();
  }
}

async function outcome(): Promise<CopyOutcome> {
  try {
    await copyPages();
    return {};
  } catch (error) {
    rmSync(copy, { force: true });
    return { failure: callError(error).message };
  }
}

parentPort!.postMessage(await outcome());
