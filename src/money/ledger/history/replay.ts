// A restored ledger gets back what it lacks: sessions that were settled after its backup was made, from the usage history.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreError } from '../../../store/store-error.ts';
import type { LedgerStore, SessionEnd, SessionHead } from '../../store/calls.ts';
import { NODE_LOST } from '../../store/lost.ts';
import { readableRecordsOf } from '../journal.ts';
import { type Unsettled, unsettledIn } from '../recovery.ts';
import { HISTORY_NAME } from './history.ts';

export interface Replayed {
  /** Settled sessions that the history holds. */
  sessions: number;
  /** Those that the ledger did not know. */
  added: number;
  /** Those that it cannot take: their organisation is younger than the backup. */
  refused: number;
  /** Lines that were not written whole. */
  unreadable: number;
}

/** Settles everything of the history that the ledger does not know, oldest first. */
export async function replayHistory(
  directory: string,
  store: Pick<LedgerStore, 'findSession' | 'settleSession'>,
): Promise<Replayed> {
  const replayed: Replayed = { sessions: 0, added: 0, refused: 0, unreadable: 0 };
  for await (const { sessions, unreadable } of daysIn(directory)) {
    replayed.unreadable += unreadable;
    for (const { head, end } of sessions) {
      replayed.sessions++;
      const outcome = await settleAgain(store, head, end);
      if (outcome !== 'known') replayed[outcome]++;
    }
  }
  return replayed;
}

/** The days of a history, oldest first: each session once a day, as it was settled last. */
export async function* daysIn(directory: string): AsyncGenerator<{ sessions: Unsettled[]; unreadable: number }> {
  const names = await readdir(directory).catch(() => []);
  for (const name of names.filter((each) => HISTORY_NAME.test(each)).sort()) {
    // It may be too old by now, and removed.
    const text = await readFile(join(directory, name), 'utf8').catch(() => '');
    const { records, unreadable } = readableRecordsOf(text);
    yield { sessions: unsettledIn(records), unreadable };
  }
}

export type SettledAgain = 'known' | 'added' | 'refused';

/** Settles a session that the ledger may have settled before: once, however often it is repeated. */
export async function settleAgain(
  store: Pick<LedgerStore, 'findSession' | 'settleSession'>,
  head: SessionHead,
  end: SessionEnd,
): Promise<SettledAgain> {
  const known = await store.findSession(head.organisationId, head.id);
  // The ledger may lack the rest of a session that was closed because its node was lost.
  if (known !== undefined && known.endedAt !== null && known.reason !== NODE_LOST) return 'known';
  try {
    await store.settleSession(head, end);
    return 'added';
  } catch (error) {
    if (error instanceof StoreError && (error.reason === 'not_found' || error.reason === 'invalid')) return 'refused';
    throw error;
  }
}
