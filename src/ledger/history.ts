// What the ledger has settled, kept for some days beside it: a ledger that is restored from a backup hears again of everything
// since. One file a day; written behind what happens, never waited for.
import { mkdir, open, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { SessionEnd, SessionHead } from '../store/ledger-calls.ts';
import type { Store } from '../store/store.ts';
import { StoreError } from '../store/store-error.ts';
import { lineOf, recordsOf } from './journal-records.ts';
import { unsettledIn } from './recovery.ts';

const NAME = /^(\d{4}-\d\d-\d\d)\.settled$/;
const DAY_MS = 86_400_000;
/** Lines that wait for the disk; beyond it the oldest are left out, and that is told. */
const LINES_MAX = 10_000;

export interface HistoryOptions {
  /** Made for this user alone when missing. */
  directory: string;
  /** Files older than so many days are removed; 0 keeps nothing. */
  days: number;
  wallNow(): Date;
  onFault(error: unknown): void;
}

export class History {
  private readonly options: HistoryOptions;
  private lines: string[] = [];
  private writing: Promise<void> | undefined;
  private lastDay = '';

  constructor(options: HistoryOptions) {
    this.options = options;
  }

  note(head: SessionHead, end: SessionEnd): void {
    if (this.options.days === 0) return;
    if (this.lines.length >= LINES_MAX) {
      this.lines.shift();
      this.options.onFault(new Error('The usage history is behind: a settled session was left out of it.'));
    }
    this.lines.push(lineOf({ type: 'ended', head, end }));
    this.writing ??= this.write().finally(() => {
      this.writing = undefined;
    });
  }

  /** Resolves when everything is written. */
  async close(): Promise<void> {
    await this.writing;
  }

  private async write(): Promise<void> {
    try {
      while (this.lines.length > 0) {
        const day = this.options.wallNow().toISOString().slice(0, 10);
        if (day !== this.lastDay) await this.begin(day);
        await this.append(join(this.options.directory, `${day}.settled`), this.lines.splice(0).join(''));
      }
    } catch (error) {
      this.options.onFault(error);
    }
  }

  private async begin(day: string): Promise<void> {
    const { directory, days } = this.options;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const oldest = new Date(Date.parse(day) - days * DAY_MS).toISOString().slice(0, 10);
    for (const name of await readdir(directory)) {
      const [, of] = NAME.exec(name) ?? [];
      if (of !== undefined && of < oldest) await rm(join(directory, name), { force: true });
    }
    this.lastDay = day;
  }

  private async append(path: string, text: string): Promise<void> {
    const file = await open(path, 'a', 0o600);
    try {
      await file.appendFile(text);
      await file.datasync();
    } finally {
      await file.close();
    }
  }
}

export interface Replayed {
  /** Settled sessions that the history holds. */
  sessions: number;
  /** Those that the ledger did not know. */
  added: number;
  /** Those that it cannot take: their organisation is younger than the backup. */
  refused: number;
  /** Files with a line that was not written whole. */
  torn: number;
}

/** Settles everything of the history that the ledger does not know, oldest first. */
export async function replayHistory(
  directory: string,
  store: Pick<Store, 'findSession' | 'settleSession'>,
): Promise<Replayed> {
  const replayed: Replayed = { sessions: 0, added: 0, refused: 0, torn: 0 };
  const names = await readdir(directory).catch(() => []);
  for (const name of names.filter((each) => NAME.test(each)).sort()) {
    const { records, torn } = recordsOf(await readFile(join(directory, name), 'utf8'));
    if (torn) replayed.torn++;
    for (const { head, end } of unsettledIn(records)) {
      replayed.sessions++;
      const outcome = await replay(store, head, end);
      if (outcome !== 'known') replayed[outcome]++;
    }
  }
  return replayed;
}

async function replay(
  store: Pick<Store, 'findSession' | 'settleSession'>,
  head: SessionHead,
  end: SessionEnd,
): Promise<'known' | 'added' | 'refused'> {
  const known = await store.findSession(head.organisationId, head.id);
  if (known !== undefined && known.endedAt !== null) return 'known';
  try {
    await store.settleSession(head, end);
    return 'added';
  } catch (error) {
    if (error instanceof StoreError && (error.reason === 'not_found' || error.reason === 'invalid')) return 'refused';
    throw error;
  }
}
