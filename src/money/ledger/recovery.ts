// Settles what other processes left unsettled: reads the journals of those that are gone, bills each session at its last
// checkpoint, and removes the files. A session that the ledger has settled already stays as it is.
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isProcessIdentity, isRunning } from '../../runtime/process-identity.ts';
import { StoreError, type StoreErrorReason } from '../../store/store-error.ts';
import type { LedgerStore, SessionEnd, SessionHead } from '../store/calls.ts';
import { JOURNAL_SUFFIX, type JournalRecord, recordsOf } from './journal.ts';

/** A journal whose process cannot be checked counts as abandoned when it was not written for this long. */
const ABANDONED_MS = 60_000;
/** What the ledger will say of it tomorrow as well. */
export const NEVER: ReadonlySet<StoreErrorReason> = new Set(['not_found', 'invalid', 'conflict']);

export interface Unsettled {
  head: SessionHead;
  end: SessionEnd;
}

export interface RecoveryOptions {
  directory: string;
  /** This node's incarnation, whose journal is its own. */
  node: string;
  wallNow(): Date;
  settle(head: SessionHead, end: SessionEnd): Promise<unknown>;
  /** Where the database is beside the journals. */
  closeLost?: LedgerStore['closeLost'] | undefined;
  onFault(error: unknown): void;
}

export interface Recovered {
  sessions: number;
  /** Journals whose last line was not written whole. */
  torn: number;
  /** Journals of others that stay: their processes are running, or it cannot be told yet, or the ledger was not to be had. */
  left: number;
  /** Live sessions of the same processes that no journal tells of. */
  lost: number;
}

/** Never rejects: a journal that cannot be settled now stays for the next start. */
export async function recoverUsage(options: RecoveryOptions): Promise<Recovered> {
  const recovered: Recovered = { sessions: 0, torn: 0, left: 0, lost: 0 };
  const names = await readdir(options.directory).catch(() => []);
  for (const name of names.filter((each) => each.endsWith(JOURNAL_SUFFIX))) {
    if (name === `${options.node}${JOURNAL_SUFFIX}`) continue;
    recovered.left++;
    try {
      await recoverFile(join(options.directory, name), options, recovered);
    } catch (error) {
      options.onFault(error);
    }
  }
  return recovered;
}

async function recoverFile(path: string, options: RecoveryOptions, recovered: Recovered): Promise<void> {
  const { records, torn } = recordsOf(await readFile(path, 'utf8'));
  if (!(await isAbandoned(path, records, options.wallNow().getTime()))) return;
  for (const { head, end } of unsettledIn(records)) {
    try {
      await options.settle(head, end);
      recovered.sessions++;
    } catch (error) {
      // One that the ledger will never take must not stand in the way of the others.
      if (!(error instanceof StoreError && NEVER.has(error.reason))) throw error;
      options.onFault(error);
    }
  }
  recovered.lost += await closeUntold(basename(path, JOURNAL_SUFFIX), options);
  if (torn) recovered.torn++;
  await rm(path, { force: true });
  recovered.left--;
}

/** Sessions that ended with their process before anything was written down of them. */
async function closeUntold(node: string, { closeLost, wallNow }: RecoveryOptions): Promise<number> {
  const endedAt = wallNow().toISOString();
  let sessions = 0;
  for (let count = closeLost === undefined ? 0 : 1; count > 0; sessions += count) {
    count = (await closeLost?.(node, endedAt, true)) ?? 0;
  }
  return sessions;
}

async function isAbandoned(path: string, records: readonly JournalRecord[], nowMs: number): Promise<boolean> {
  const first = records[0];
  const running = first?.type === 'begun' && isProcessIdentity(first.process) ? isRunning(first.process) : undefined;
  if (running !== undefined) return !running;
  return nowMs - (await stat(path)).mtimeMs > ABANDONED_MS;
}

/** The sessions of a journal that were not crossed out, each as it was known last. */
export function unsettledIn(records: readonly JournalRecord[]): Unsettled[] {
  const open = new Map<string, Unsettled>();
  for (const record of records) {
    if (record.type === 'settled') open.delete(record.sessionId);
    else if (record.type === 'ended') open.set(record.head.id, { head: record.head, end: record.end });
    else if (record.type === 'used') {
      const { head, at, audioMs, lines, redactions } = record;
      const end: SessionEnd = { endedAt: at, reason: 'recovered', code: null, audioMs, lines };
      if (redactions !== undefined) end.redactions = redactions;
      open.set(head.id, { head, end });
    }
  }
  return [...open.values()];
}
