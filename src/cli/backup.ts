// `voxgate backup …`: the backups that the accounts node makes, as its operator lists and restores them.
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { BackupError } from '../backup/backup-error.ts';
import { fetchCopy, listCopies, type StoredCopy } from '../backup/copies.ts';
import { openPlace } from '../backup/places/open-place.ts';
import type { BackupPlace } from '../backup/places/place.ts';
import { keysOf } from '../node/backup/make-backup.ts';
import { backUpBeside } from '../node/backup/thread.ts';
import { ledgerIn } from '../node/store/database-copy.ts';
import { isInUse } from '../node/store/in-use.ts';
import { replicaEntryIn } from '../node/store/replica-file.ts';
import { action, actionsCommand, WrongInput } from './shared/command.ts';
import { databaseIn, dataDirectory, withFile } from './shared/operator.ts';
import { CommandError, EXIT, print, printTable, tell } from './shared/output.ts';
import { restoreHere } from './shared/restore.ts';
import { loadSettings } from './shared/settings.ts';
import { timeValue } from './shared/values.ts';

const usage = `Usage: voxgate backup list [--ledger LEDGER] [--json]
       voxgate backup now
       voxgate backup restore [--at TIME] [--ledger LEDGER] [--unencrypted]
                              [--force]

The accounts node makes a backup every hour (VOXGATE_BACKUP_INTERVAL_MS) and
when it stops, in the place that VOXGATE_BACKUP names. These commands read the
same settings, and work on the data directory of VOXGATE_DATA_DIRECTORY (./data
when absent). Only restore needs the gateway to be stopped.

  list     lists the backups, the newest first
  now      makes a backup: copies the database, audits the copy, stores it, and
           reads it back
  restore  fetches a backup, checks and audits it, and puts it in place of the
           database, as voxgate ledger restore does with a file

  --at           the newest backup that was made at or before a time such as
                 2026-12-31T18:00:00Z; the newest of all when absent
  --ledger       backups of this ledger; when absent, of the ledger in the data
                 directory, or of the only one that has backups
  --unencrypted  also backups that are not encrypted, although
                 VOXGATE_BACKUP_KEY is set
  --force        replaces a database that exists, and keeps it under another
                 name`;

const LEDGER = { type: 'string' } as const;

export const backup = actionsCommand(usage, {
  list: action({
    operands: [],
    options: { ledger: LEDGER, json: { type: 'boolean' } },
    run: (_, { ledger, json = false }) =>
      withPlace(async (place) => {
        const copies = await listCopies(place, checkedLedger(ledger));
        if (json) print(JSON.stringify(copies.map(outward), null, 2));
        else if (copies.length === 0) tell(`There are no backups in ${place.title}.`);
        else printTable([['TIME', 'LEDGER', 'BYTES', 'ENCRYPTED', 'NAME'], ...copies.map(row)]);
        return undefined;
      }),
  }),
  now: action({
    operands: [],
    options: {},
    run: () =>
      withPlace(async (place) => {
        // Says in its own words that there is none.
        await withFile({ make: false }, async () => {});
        requireCurrent();
        const { copy, sessions, transfers, removed, notRemoved } = await backUpBeside(
          dataDirectory(),
          loadSettings().backup,
          new AbortController().signal,
        );
        if (notRemoved !== null) tell(`Outdated backups could not be removed: ${notRemoved}`);
        if (removed > 0) tell(`${removed} outdated backups were removed.`);
        print(
          `${copy.name} in ${place.title} has ${copy.byteLength} bytes with ${sessions} sessions and ${transfers} transfers; its ledger agrees.`,
        );
        return undefined;
      }),
  }),
  restore: action({
    operands: [],
    options: {
      at: { type: 'string' },
      ledger: LEDGER,
      unencrypted: { type: 'boolean' },
      force: { type: 'boolean' },
    },
    run: (_, { at, ledger, unencrypted = false, force = false }) =>
      withPlace(async (place) => {
        const atMs = at === undefined ? Number.POSITIVE_INFINITY : Date.parse(timeValue('--at', at));
        const wanted = checkedLedger(ledger);
        requireForce(force);
        const all = await listCopies(place, wanted ?? ownLedger());
        const copy = chosen(place, all, { atMs, at, unencrypted });
        await restore(place, copy, force);
        return EXIT.ok;
      }),
  }),
});

/** What the place refuses ends the command with its sentence. */
async function withPlace<Result>(work: (place: BackupPlace) => Promise<Result>): Promise<Result> {
  try {
    return await work(openPlace(loadSettings().backup));
  } catch (error) {
    throw error instanceof BackupError ? new CommandError(error.message) : error;
  }
}

/** What a replica lacks while no node keeps it current would be missing in the newest backup. */
function requireCurrent(): void {
  const file = databaseIn(dataDirectory());
  if (replicaEntryIn(dataDirectory()) === 0 || isInUse(file)) return;
  throw new CommandError(
    `${file} is a replica of the accounts, and no node keeps it current: run this on a machine whose accounts node runs, with its VOXGATE_DATA_DIRECTORY.`,
  );
}

function checkedLedger(text: string | undefined): string | undefined {
  if (text === undefined || /^led_[0-9a-f]{24}$/.test(text)) return text;
  throw new WrongInput('--ledger is `led_` and 24 small hexadecimal digits; voxgate backup list shows them.');
}

/** The ledger of the data directory. */
const ownLedger = (): string | undefined => readableLedger(databaseIn(dataDirectory()));

/** Undefined where there is no database, or a damaged one. */
function readableLedger(file: string): string | undefined {
  try {
    return existsSync(file) ? ledgerIn(file) : undefined;
  } catch {
    return undefined;
  }
}

/** Before anything is fetched. */
function requireForce(force: boolean): void {
  const file = databaseIn(dataDirectory());
  if (force || !existsSync(file)) return;
  throw new CommandError(
    `${file} is there already; with --force the backup takes its place and it is kept beside it under another name.`,
  );
}

interface Choice {
  atMs: number;
  at: string | undefined;
  unencrypted: boolean;
}

function chosen(place: BackupPlace, copies: readonly StoredCopy[], { atMs, at, unencrypted }: Choice): StoredCopy {
  if (copies.length === 0) throw new CommandError(`There are no backups of this ledger in ${place.title}.`);
  const ledgers = [...new Set(copies.map(({ ledger }) => ledger))];
  if (ledgers.length > 1) {
    throw new CommandError(
      `${place.title} has backups of ${ledgers.length} ledgers: choose one with --ledger (${ledgers.slice(0, 5).join(', ')}).`,
    );
  }
  const inTime = copies.filter(({ madeAtMs }) => madeAtMs <= atMs);
  if (inTime.length === 0) {
    throw new CommandError(
      `There is no backup from before ${at}; the oldest one was made at ${timeOf(copies.at(-1) as StoredCopy)}.`,
    );
  }
  const isKeySet = loadSettings().backup.sealingKey !== undefined;
  const copy = inTime.find(({ isSealed }) => isSealed || !isKeySet || unencrypted);
  if (copy !== undefined) return copy;
  throw new CommandError(
    'VOXGATE_BACKUP_KEY is set, and these backups are not encrypted: others may have written them. Restore one with --unencrypted if you made it before the key was set.',
  );
}

async function restore(place: BackupPlace, copy: StoredCopy, force: boolean): Promise<void> {
  const directory = dataDirectory();
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, `backup-${process.pid}-${Date.now()}.db`);
  try {
    await fetchCopy(place, copy, keysOf(loadSettings().backup), file);
    const found = readableLedger(file);
    // What is not a database is refused below, with the reason.
    if (found !== undefined && found !== copy.ledger)
      throw new CommandError(`${copy.name} holds the ledger ${found}: it was renamed.`);
    await restoreHere(file, force, copy.name);
  } finally {
    rmSync(file, { force: true });
  }
}

const timeOf = ({ madeAtMs }: StoredCopy): string => new Date(madeAtMs).toISOString();

const row = (copy: StoredCopy): string[] => [
  timeOf(copy),
  copy.ledger,
  String(copy.byteLength),
  copy.isSealed ? 'yes' : 'no',
  copy.name,
];

const outward = (copy: StoredCopy) => ({
  time: timeOf(copy),
  ledger: copy.ledger,
  bytes: copy.byteLength,
  encrypted: copy.isSealed,
  name: copy.name,
});
