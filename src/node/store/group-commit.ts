// Applies calls that wait beside each other in one commit: the disk is asked once for all of them. Each call is whole or
// nothing on its own; none is answered before the commit.
import type { Database } from 'better-sqlite3';
import type { EntryContext } from '../../store/entry.ts';
import { callError, isRefusal, StoreError } from '../../store/store-error.ts';
import type { Answer, Call, Entry } from './protocol.ts';
import { kindOf } from './store.ts';
import type { Tables } from './tables.ts';

/** An open database with its tables. */
export interface Target {
  database: Database;
  tables: Tables;
  /** The context that the tables were made with. */
  context: EntryContext;
}

/**
 * The answers of the calls, in their order. What the disk refuses is refused to all that write, and nothing of it is
 * applied. Throws only when a transaction can neither be committed nor undone.
 */
export function applyCalls(target: Target, entry: Entry): Answer[] {
  target.context.begin(entry.nowMs);
  const { calls } = entry;
  if (!calls.some(isWriting)) return calls.map((call) => answerTo(call, attempt(target, call)));
  try {
    return applyEntry(target, entry);
  } catch (error) {
    if (target.database.inTransaction) throw error;
    // A call that only reads needs neither the lock nor the disk space that the others could not get.
    return calls.map((call) => answerTo(call, isWriting(call) ? { error } : attempt(target, call)));
  }
}

/** The answer to a call of a database that takes writes from the log alone. */
export function answerLocked(target: Target, call: Call): Answer {
  target.context.begin(Date.now());
  if (!isWriting(call)) return answerTo(call, attempt(target, call));
  return answerTo(call, { error: new StoreError('conflict', OF_THE_LOG) });
}

const OF_THE_LOG =
  'This database is one of several replicas and is written to by the node that owns the accounts: set VOXGATE_NATS, and the command asks that node.';

/**
 * Applies an entry and returns the answer of each call: a value or a refusal. Both depend on the entry and the rows alone, so every
 * copy of the database gives the same answers.
 *
 * @throws for a full disk, missing memory, a lock or a damaged file. Then nothing was applied, and no call has an answer. A caller
 *   that has already passed the entry on to other copies must end here rather than refuse the calls.
 * @param finish writes what belongs to the entry itself, in the same commit
 */
export function applyEntry(
  target: Target,
  { nowMs, calls }: Entry,
  finish?: (answers: readonly Answer[]) => void,
): Answer[] {
  const { database, context } = target;
  waitForDisk(
    database,
    calls.some(({ name }) => kindOf(name) === 'writes'),
  );
  context.begin(nowMs);
  try {
    database.exec('BEGIN IMMEDIATE');
    const applied = writtenMarker(target);
    const answers = calls.map((call) => {
      if (!isWriting(call)) return answerTo(call, attempt(target, call));
      const outcome = savepoint(target, call);
      applied(call);
      return answerTo(call, outcome);
    });
    finish?.(answers);
    database.exec('COMMIT');
    return answers;
  } catch (error) {
    if (database.inTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function isWriting({ name }: Call): boolean {
  return kindOf(name) === 'writes' || kindOf(name) === 'notes';
}

function savepoint(target: Target, call: Call): Outcome {
  const { database } = target;
  const commands = savepointsOf(database);
  commands.beginCall.run();
  const outcome = attempt(target, call);
  if ('error' in outcome) {
    // Such a failure may have undone the whole transaction, the calls before this one included.
    if (!database.inTransaction || !isRefusal(outcome.error)) throw outcome.error;
    commands.undoCall.run();
  }
  commands.endCall.run();
  return outcome;
}

/** Prepared once: each call has one. */
const savepointsOf = (database: Database): ReturnType<typeof prepare> => {
  const known = prepared.get(database) ?? prepare(database);
  prepared.set(database, known);
  return known;
};
const prepared = new WeakMap<Database, ReturnType<typeof prepare>>();

const prepare = (database: Database) => ({
  beginCall: database.prepare('SAVEPOINT call'),
  undoCall: database.prepare('ROLLBACK TO call'),
  endCall: database.prepare('RELEASE call'),
});

/** Call it after each call of an entry. Marks the ledger as written after the first change; `noteLedger` clears the mark. */
function writtenMarker({ tables }: Target): (call: Call) => void {
  let before = tables.changes();
  let isMarked = false;
  return ({ name }) => {
    if (name === 'noteLedger') {
      before = tables.changes();
      isMarked = false;
    } else if (!isMarked && tables.changes() > before) {
      tables.markWritten();
      isMarked = true;
    }
  };
}

type Outcome = { value: unknown } | { error: unknown };

function attempt({ tables, context }: Target, { name, args, drawn }: Call): Outcome {
  context.beginCall(drawn);
  try {
    // Checked within the transaction: no other process can claim the database before it is committed.
    if (kindOf(name) !== 'reads' && name !== 'claimOwnership') tables.requireOwnership();
    return { value: Reflect.apply(tables[name] as (...args: unknown[]) => unknown, tables, args) };
  } catch (error) {
    return { error };
  }
}

function answerTo({ id }: Call, outcome: Outcome): Answer {
  if ('value' in outcome) return { id, value: outcome.value };
  const { reason, message } = callError(outcome.error);
  return { id, rejection: { reason, message } };
}

/** Databases whose commits do not wait for the disk at present. */
const hasty = new WeakSet<Database>();

/** Whether the next commits wait for the disk. Those that do bring everything to the disk that was committed before them. */
function waitForDisk(database: Database, isWaiting: boolean): void {
  if (isWaiting !== hasty.has(database)) return;
  database.exec(`PRAGMA synchronous = ${isWaiting ? 'FULL' : 'NORMAL'}`);
  if (isWaiting) hasty.delete(database);
  else hasty.add(database);
}
