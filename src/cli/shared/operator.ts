// What the operator's commands share: the store of the gateway, and who is at the keyboard.
import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { openSqliteStore } from '../../node/store/sqlite-store.ts';
import type { Store } from '../../node/store/store.ts';
import type { Actor } from '../../store/audit-log.ts';
import { DATABASE_NAME } from '../../store/keep-database.ts';
import type { Ask } from '../../store/operation.ts';
import { CommandError } from './output.ts';
import { withOwner } from './owner.ts';
import { loadSettings } from './settings.ts';

/** The data directory in force. Throws ConfigError. */
export const dataDirectory = (): string => resolve(loadSettings().data.directory);

export const databaseIn = (directory: string): string => join(directory, DATABASE_NAME);

/** Where an absent database is made on demand only: a mistyped directory would have a ledger of its own. */
export const INIT = {
  option: { init: { type: 'boolean' } },
  at: (init = false) => ({ make: init, hint: ', or --init does' }),
} as const;

interface Access {
  /** An absent database is made. */
  make: boolean;
  /** How it could be made. */
  hint?: string;
  /** The work only reads. */
  reads?: boolean;
}

/**
 * Does the work on the accounts: where NATS is configured, over NATS on the node that owns them; else on the database of this
 * machine, which a gateway may have open too.
 */
export async function withStore<Result>(access: Access, work: (store: Store) => Promise<Result>): Promise<Result> {
  return withAccounts(access, ({ store }) => work(store));
}

/** The same. `ask`: how the owner is asked; absent on the database of this machine. */
export async function withAccounts<Result>(
  access: Access,
  work: (accounts: { store: Store; ask?: Ask }) => Promise<Result>,
): Promise<Result> {
  const config = loadSettings();
  const file = databaseIn(resolve(config.data.directory));
  return withOwner({ config, file, mayBeOpen: access.reads === true, mayMake: access.make }, work, () =>
    withFile(access, (store) => work({ store })),
  );
}

/** Does the work on the database of this machine, which a gateway may have open too. */
export async function withFile<Result>(
  { make, hint = '' }: Access,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const directory = dataDirectory();
  if (!make && !existsSync(databaseIn(directory))) {
    throw new CommandError(
      `there is no database in ${directory}: VOXGATE_DATA_DIRECTORY names the directory, and the first start of a gateway makes it${hint}.`,
    );
  }
  const store = await openSqliteStore({ directory });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Throws a CommandError unless the store has that organisation. */
export async function requireOrganisation(store: Pick<Store, 'findOrganisation'>, id: string): Promise<void> {
  if ((await store.findOrganisation(id)) === undefined)
    throw new CommandError(`there is no organisation ${id}; voxgate orgs list shows them.`);
}

/** Who acts, for the audit log: the user of the operating system. */
export function operator(): Actor {
  return { type: 'operator', id: userName() };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run as a user without a name.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
