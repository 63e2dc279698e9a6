// Applies calls that wait beside each other in one commit: the disk is asked once for all of them. Each call is whole or
// nothing on its own; none is answered before the commit.
import type { Database } from 'better-sqlite3';
import type { OwnershipGuard } from '../../store/ownership.ts';
import { callError, isOfTheDisk } from '../../store/store-error.ts';
import type { Answer, Call } from './protocol.ts';
import { kindOf, type StoreCalls } from './store.ts';

/** The calls, and who may make those that write. */
type GuardedCalls = StoreCalls & Partial<OwnershipGuard>;

/**
 * The answers of the calls, in their order. What the disk refuses is refused to all that write, and nothing of it is
 * applied. Throws only when a transaction can neither be committed nor undone.
 */
export function applyCalls(database: Database, tables: GuardedCalls, calls: readonly Call[]): Answer[] {
  if (!calls.some(isWriting)) return calls.map((call) => answerTo(call, attempt(tables, call)));
  try {
    return commitTogether(database, tables, calls);
  } catch (error) {
    if (database.inTransaction) database.exec('ROLLBACK');
    // A call that only reads needs neither the lock nor the disk space that the others could not get.
    return calls.map((call) => answerTo(call, isWriting(call) ? { error } : attempt(tables, call)));
  }
}

function isWriting({ name }: Call): boolean {
  return kindOf(name) === 'writes' || kindOf(name) === 'notes';
}

function commitTogether(database: Database, tables: GuardedCalls, calls: readonly Call[]): Answer[] {
  waitForDisk(
    database,
    calls.some(({ name }) => kindOf(name) === 'writes'),
  );
  database.exec('BEGIN IMMEDIATE');
  const answers = calls.map((call) =>
    answerTo(call, isWriting(call) ? savepoint(database, tables, call) : attempt(tables, call)),
  );
  database.exec('COMMIT');
  return answers;
}

function savepoint(database: Database, tables: GuardedCalls, call: Call): Outcome {
  database.exec('SAVEPOINT call');
  const outcome = attempt(tables, call);
  if ('error' in outcome) {
    // Such a failure may have undone the whole transaction, the calls before this one included.
    if (!database.inTransaction || isOfTheDisk(outcome.error)) throw outcome.error;
    database.exec('ROLLBACK TO call');
  }
  database.exec('RELEASE call');
  return outcome;
}

type Outcome = { value: unknown } | { error: unknown };

function attempt(tables: GuardedCalls, { name, args }: Call): Outcome {
  try {
    // Checked within the transaction: no other process can claim the database before it is committed.
    if (kindOf(name) !== 'reads' && name !== 'claimOwnership') tables.requireOwnership?.();
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
