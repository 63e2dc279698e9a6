// The thread that owns the database file: answers calls one after the other and tells of revocations, also those that other
// processes make on the same file. sqlite.ts starts it and speaks for it.
import { utimesSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { createKeyTables } from './key-tables.ts';
import { openDatabase } from './open-database.ts';
import { callError, openError } from './sqlite-errors.ts';
import type { FromWorker, ToWorker, WorkerInput } from './sqlite-protocol.ts';

const LOCKED_AGAIN_MS = 100;

type Call = Extract<ToWorker, { kind: 'call' }>;

const port = parentPort!;
const { file } = workerData as WorkerInput;

function tell(message: FromWorker): void {
  port.postMessage(message);
}

function serve(): void {
  const database = openDatabase(file);
  const tables = createKeyTables(database);

  /** Somebody may have written to the file: tells of the keys revoked since the last time. */
  function tellRevocations(): void {
    if (!database.open) return;
    try {
      const keyIds = tables.unheard();
      if (keyIds.length > 0) tell({ kind: 'revoked', keyIds });
    } catch (error) {
      const failure = callError(error);
      // Ends the thread: a store that cannot tell of revocations must not go on as if there were none.
      if (failure.reason !== 'busy') throw failure;
      setTimeout(tellRevocations, LOCKED_AGAIN_MS);
    }
  }

  /**
   * Wakes the other processes. The log's own change will not do: it is seen before the commit it belongs to can be read.
   * A revocation that is committed stands, so a failure here only means that they hear of it with their next call.
   */
  function touch(): void {
    const now = new Date();
    try {
      utimesSync(file, now, now);
    } catch {}
  }

  function resultOf({ id, name, args }: Call): FromWorker {
    try {
      return { kind: 'answer', id, value: Reflect.apply(tables[name], tables, args) };
    } catch (error) {
      const { reason, message } = callError(error);
      return { kind: 'rejection', id, reason, message };
    }
  }

  function answer(call: Call): void {
    const result = resultOf(call);
    if (call.name === 'revokeKey') touch();
    tellRevocations();
    tell(result);
  }

  // The directory rather than a file in it: the write-ahead log comes and goes.
  const watcher = watch(dirname(file), (_, name) => {
    if (name === null || name.startsWith(basename(file))) tellRevocations();
  });
  tellRevocations();

  port.on('message', (message: ToWorker) => {
    if (message.kind === 'call') return answer(message);
    watcher.close();
    database.close();
    port.close();
  });
  tell({ kind: 'opened' });
}

try {
  serve();
} catch (error) {
  const { reason, message } = openError(error, file);
  tell({ kind: 'refused', reason, message });
}
