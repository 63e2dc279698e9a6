// One backup from the database to the place where backups are kept.
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { BackupError } from '../../backup/backup-error.ts';
import { type Keys, listCopies, removeOutdated, type StoredCopy, storeCopy } from '../../backup/copies.ts';
import { openPlace } from '../../backup/places/open-place.ts';
import { sealingKeyOf } from '../../backup/sealed-copy.ts';
import type { BackupSettings } from '../../config/schema-backup.ts';
import { codeOf } from '../../runtime/error-code.ts';
import { DATABASE_NAME } from '../../store/keep-database.ts';
import { StoreError } from '../../store/store-error.ts';
import { copyDatabase } from '../store/database-copy.ts';
import { requireSpace } from '../store/disk-space.ts';

/** In the data directory, while its content is on the way to the place of the backups. */
const DRAFT = /^backup-\d+-\d+\.db(?:-journal|-wal|-shm)?$/;
/** A process that was killed left it behind: no copy takes as long. */
const DRAFT_MS_MAX = 3_600_000;
/** What a copy leaves free for the ledger, which cannot continue on a full disk. */
const ROOM_BYTES_MIN = 64 * 2 ** 20;

export interface MadeBackup {
  copy: StoredCopy;
  sessions: number;
  transfers: number;
  /** Backups that are no longer kept and were removed. */
  removed: number;
  /** Why outdated backups could not be removed, in a sentence; null if they were. */
  notRemoved: string | null;
}

export const keysOf = ({ sealingKey, sealingKeyPrevious }: BackupSettings): Keys => ({
  current: sealingKey === undefined ? undefined : sealingKeyOf(sealingKey),
  previous: sealingKeyPrevious === undefined ? undefined : sealingKeyOf(sealingKeyPrevious),
});

/**
 * Copies the database of the directory, audits the copy, stores it, and reads it back. Keeps a thread busy for as long as that takes.
 *
 * @throws BackupError with a sentence for the operator
 */
export async function makeBackup(directory: string, settings: BackupSettings): Promise<MadeBackup> {
  const place = openPlace(settings);
  const file = join(directory, DATABASE_NAME);
  const draft = join(directory, `backup-${process.pid}-${Date.now()}.db`);
  try {
    removeDrafts(directory);
    await requireSpace(directory, bytesOf(file) + ROOM_BYTES_MIN);
    const madeAtMs = Date.now();
    const { ledger, audit } = copyDatabase(file, draft);
    const copy = await storeCopy(place, { file: draft, ledger, madeAtMs, keys: keysOf(settings) });
    const { sessions, transfers } = audit;
    return { copy, sessions, transfers, ...(await tidied(() => removeOutdated(place, copy, settings))) };
  } catch (error) {
    throw explained(error, directory);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** When the newest backup of the ledger was made; undefined before the first one. */
export async function newestBackupMs(ledger: string, settings: BackupSettings): Promise<number | undefined> {
  const [newest] = await listCopies(openPlace(settings), ledger);
  return newest?.madeAtMs;
}

/** A backup is good, whether or not older ones can be removed. */
async function tidied(remove: () => Promise<number>): Promise<Pick<MadeBackup, 'removed' | 'notRemoved'>> {
  try {
    return { removed: await remove(), notRemoved: null };
  } catch (error) {
    return { removed: 0, notRemoved: error instanceof Error ? error.message : String(error) };
  }
}

function removeDrafts(directory: string): void {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    if (DRAFT.test(name) && Date.now() - statSync(path).mtimeMs > DRAFT_MS_MAX) rmSync(path, { force: true });
  }
}

/** With its write-ahead log. */
const bytesOf = (file: string): number =>
  [file, `${file}-wal`].reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0);

function explained(error: unknown, directory: string): BackupError {
  if (error instanceof BackupError) return error;
  if (error instanceof StoreError) return new BackupError(error.message);
  const code = codeOf(error);
  const why = code.startsWith('SQLITE_FULL') || code === 'ENOSPC' ? 'the disk is full' : 'it failed';
  return new BackupError(`The database in ${directory} could not be copied: ${why} (${code}).`);
}
