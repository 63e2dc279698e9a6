// The thread that owns the database file: answers calls in their order, those that wait together in one commit; gives back
// holds whose lease is over; tells of revocations and of outbox messages, also those that other processes make on the same
// file. sqlite-store.ts starts it and is its interface.
import { utimesSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { createAlarm } from '../../store/alarm.ts';
import { EntryContext } from '../../store/entry.ts';
import { openDatabase } from '../../store/open-database.ts';
import { createReplicaTables } from '../../store/replica-position.ts';
import { callError, openError, StoreError } from '../../store/store-error.ts';
import { ContentMarks } from './content.ts';
import { answerLocked, applyCalls } from './group-commit.ts';
import type { Answer, Call, FromWorker, ReplicaRequest, ToWorker, WorkerInput } from './protocol.ts';
import { answerContent, answerReplica } from './replica-requests.ts';
import { kindOf } from './store.ts';
import { createTables, type Tables } from './tables.ts';

const LOCKED_AGAIN_MS = 100;
/** Calls that share a commit at most: the first of them waits for the last. */
const TOGETHER_MAX = 256;
/** The id of a call that this thread makes itself. Its answer is not sent. */
const OWN_CALL = 0;
const EXPIRE_HOLDS: Call = { id: OWN_CALL, name: 'expireHolds', args: [] };

const port = parentPort!;
const { file, isReplica } = workerData as WorkerInput;

function tell(message: FromWorker): void {
  port.postMessage(message);
}

function serve(): void {
  const database = openDatabase(file);
  const context = new EntryContext();
  const tables = createTables(database, context);
  const target = { database, tables, context };
  const replica = createReplicaTables({ database });
  const marks = new ContentMarks(file);
  const replicated = { ...target, replica, marks };
  // A write that is not in the log would be in no other replica.
  const isLocked = isReplica || replica.findPosition().number > 0;
  /** The time of the log's entries less that of this clock: another node may have written them. */
  let logAheadMs = 0;
  /** All writes of this thread go through here, except entries of a log. */
  const apply = (calls: readonly Call[]): Answer[] =>
    isLocked ? calls.map((call) => answerLocked(target, call)) : applyCalls(target, { nowMs: Date.now(), calls });
  const leases = createAlarm({
    next: () => {
      const atMs = tables.nextLeaseEndMs(Date.now() + logAheadMs);
      return atMs === undefined ? undefined : atMs - logAheadMs;
    },
    ring: () => (isLocked ? tell({ kind: 'leases' }) : requireApplied(apply([EXPIRE_HOLDS]))),
  });
  const news = createNews(tables, () => look());

  function look(): void {
    if (!database.open) return;
    news.tellRevocations();
    news.tellOutbox();
    leases.look();
  }

  function answer(calls: readonly Call[]): void {
    if (calls.length === 0) return;
    const answers = apply(calls);
    let isNews = false;
    try {
      isNews = news.tellRevocations();
    } finally {
      // What was committed is answered, whatever comes after.
      tell({ kind: 'answers', answers });
    }
    if (calls.some(({ name }) => kindOf(name) !== 'reads')) written(isNews);
  }

  /** Something was committed. */
  function written(isNews: boolean): void {
    if (news.tellOutbox() || isNews) touch();
    leases.look();
  }

  function answerRequest(id: number, request: ReplicaRequest): void {
    if (request.ask === 'content') {
      void answerContent(replicated, id, request.mark).then((found) => tell({ kind: 'replica', ...found }));
      return;
    }
    tell({ kind: 'replica', ...answerReplica(replicated, id, request) });
    if (request.ask !== 'apply') return;
    logAheadMs = context.nowMs() - Date.now();
    written(news.tellRevocations());
  }

  // The directory rather than a file in it: the write-ahead log comes and goes.
  const watcher = watch(dirname(file), (_, name) => {
    if (name === null || name.startsWith(basename(file))) look();
  });
  look();

  function close(): void {
    news.stop();
    leases.stop();
    watcher.close();
    marks.close();
    database.close();
    port.close();
  }

  port.on('message', (first: ToWorker) => {
    const message = answerWaiting(first, answer);
    if (message?.kind === 'replica') answerRequest(message.id, message.request);
    else if (message !== undefined) close();
  });
  // Leases may have ended while no process had the file open. A lock or a full disk is no reason not to open: it is tried again.
  leases.catchUp();
  tell({ kind: 'opened' });
}

/**
 * Wakes the other processes. The log's own change will not do: it is seen before the commit it belongs to can be read.
 * What is committed stands, so a failure here only means that they hear of it with their next call.
 */
function touch(): void {
  const now = new Date();
  try {
    utimesSync(file, now, now);
  } catch {}
}

/** Reports what is new since the last time: another process may have written to the file. */
interface News {
  /** Each returns whether anything was. */
  tellRevocations(): boolean;
  tellOutbox(): boolean;
  stop(): void;
}

/** @param lookAgain called later when a lock was in the way */
function createNews(tables: Tables, lookAgain: () => void): News {
  let timer: NodeJS.Timeout | undefined;
  const tellNews = (tellOf: () => boolean) => (): boolean => {
    try {
      return tellOf();
    } catch (error) {
      const failure = callError(error);
      // Ends the thread: a store that cannot tell of revocations must not continue as if there were none.
      if (failure.reason !== 'busy') throw failure;
      clearTimeout(timer);
      timer = setTimeout(lookAgain, LOCKED_AGAIN_MS);
      return false;
    }
  };
  return {
    tellRevocations: tellNews(() => {
      const keyIds = tables.unheard();
      if (keyIds.length > 0) tell({ kind: 'revoked', keyIds });
      const changes = tables.unheardSuspensions();
      if (changes.length > 0) tell({ kind: 'suspensions', changes });
      return keyIds.length + changes.length > 0;
    }),
    tellOutbox: tellNews(() => {
      const hasNews = tables.hasNews();
      if (hasNews) tell({ kind: 'outbox' });
      return hasNews;
    }),
    stop: () => clearTimeout(timer),
  };
}

/** Throws if one of the calls was refused. */
function requireApplied(answers: readonly Answer[]): void {
  for (const answer of answers) {
    if ('rejection' in answer) throw new StoreError(answer.rejection.reason, answer.rejection.message);
  }
}

/**
 * Answers the calls of a message and of those that wait behind it, many in one commit.
 *
 * @returns the message that belongs to no call, if one came
 */
function answerWaiting(first: ToWorker, answer: (calls: readonly Call[]) => void): ToWorker | undefined {
  let together: Call[] = [];
  let message: ToWorker | undefined = first;
  let taken = 0;
  while (message?.kind === 'calls') {
    for (const call of message.calls) {
      if (kindOf(call.name) === 'alone') {
        answer(together);
        answer([call]);
        together = [];
      } else together.push(call);
      if (together.length < TOGETHER_MAX) continue;
      answer(together);
      together = [];
    }
    // Other events of the thread have their turn in between.
    taken += message.calls.length;
    message = taken < TOGETHER_MAX ? waitingMessage() : undefined;
  }
  answer(together);
  return message;
}

function waitingMessage(): ToWorker | undefined {
  return (receiveMessageOnPort(port) as { message: ToWorker } | undefined)?.message;
}

try {
  serve();
} catch (error) {
  const { reason, message } = openError(error, file);
  tell({ kind: 'refused', reason, message });
}
