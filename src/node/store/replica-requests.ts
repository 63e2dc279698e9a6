// What a replica asks of its database, as the thread that owns the file answers it: entries of the log are applied as they are, and
// the position in the log is noted in the same commit.
import { createHash } from 'node:crypto';
import { entryOfBytes, type LogEntry } from '../../cluster/replication/entry.ts';
import { textOfPlain } from '../../runtime/plain-data.ts';
import { buildVersion } from '../../runtime/version.ts';
import type { Drawn } from '../../store/entry.ts';
import { outcomeText, type ReplicaPosition, type ReplicaTables } from '../../store/replica-position.ts';
import { callError, StoreError } from '../../store/store-error.ts';
import type { ContentMarks } from './content.ts';
import { applyEntry, type Target } from './group-commit.ts';
import type { Answer, Call, ReplicaRequest } from './protocol.ts';
import { isCallName } from './store.ts';

/** A database that follows a log. */
export interface ReplicaTarget extends Target {
  replica: ReplicaTables;
  marks: ContentMarks;
}

/** Requests that are answered at once. */
export type DirectRequest = Exclude<ReplicaRequest, { ask: 'content' }>;

/** What the disk or the file is to blame for is an answer too: the replica ends with it. */
export function answerReplica(target: ReplicaTarget, id: number, request: DirectRequest): Answer {
  try {
    return { id, value: answerOf(target, request) };
  } catch (error) {
    const { reason, message } = callError(error);
    return { id, rejection: { reason, message } };
  }
}

/** Hashes the content of a mark, while other requests are answered. Never rejects. */
export async function answerContent({ marks }: ReplicaTarget, id: number, mark: string): Promise<Answer> {
  try {
    return { id, value: await marks.read(mark) };
  } catch (error) {
    const { reason, message } = callError(error);
    return { id, rejection: { reason, message } };
  }
}

function answerOf(target: ReplicaTarget, request: DirectRequest): unknown {
  const { replica } = target;
  switch (request.ask) {
    case 'position':
      return replica.findPosition();
    case 'apply':
      return applyLogEntry(target, request);
    case 'moved':
      return replica.moveEntry(request.number, request.sequence);
    case 'return':
      return replica.returnTo(request.position);
    case 'leave':
      return replica.forgetLog();
    case 'kept':
      return replica.keptEntries(request.afterNumber);
    case 'hashAt':
      return replica.findEntryHash(request.number);
  }
}

function applyLogEntry(
  target: ReplicaTarget,
  { bytes, hash, sequence, leaves }: Extract<ReplicaRequest, { ask: 'apply' }>,
): { answers: Answer[]; outcome: string } {
  const entry = entryOfBytes(bytes);
  if (entry === undefined) throw new StoreError('invalid', 'The bytes are no entry of the log.');
  const { replica, marks } = target;
  const { epoch, number, nowMs } = entry;
  const before = replica.findPosition();
  if (number !== before.number + 1) {
    throw new StoreError('conflict', `Entry ${number} of the log cannot follow entry ${before.number}.`);
  }
  const calls = entry.calls.map(({ name, args, drawn }, id): Call => {
    if (!isCallName(name)) throw new StoreError('invalid', `Entry ${number} of the log has the unknown call ${name}.`);
    return { id, name, args, ...(drawn !== undefined && { drawn: drawn as Drawn }) };
  });
  const changesBefore = target.tables.changes();
  let position: ReplicaPosition = before;
  const answers = applyEntry(target, { nowMs, calls }, (all) => {
    const outcome = outcomeOf(entry, all, target.tables.changes() - changesBefore);
    position = { epoch, number, hash, sequence, outcome };
    if (leaves) replica.forgetLog();
    else replica.notePosition(position, bytes);
  });
  for (const { name, args } of calls) if (name === 'markContent') marks.keep(String(args[0]), number);
  return { answers, outcome: position.outcome };
}

const BUILD = buildVersion();

/** It continues from what the owner saw of the entry before: the replica has compared that with its own. */
function outcomeOf({ outcome }: LogEntry, answers: readonly Answer[], changes: number): string {
  // What an entry without calls leaves behind is what was there.
  if (answers.length === 0) return outcome;
  // The sentence of a refusal may be another one in another version.
  const told = answers.map((answer) => ('value' in answer ? [answer.value] : answer.rejection.reason));
  const digest = createHash('sha256')
    .update(`${outcome} ${changes} ${textOfPlain(told)}`)
    .digest('base64url');
  return outcomeText(BUILD, digest);
}
