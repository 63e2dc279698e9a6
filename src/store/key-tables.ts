// Organisations and keys on an open database: the store's calls, one transaction each. Runs in the thread that owns the file.
import type { Database } from 'better-sqlite3';
import { uuidv7 } from '../runtime/uuid.ts';
import { generateKey, parseKey } from './secrets.ts';
import type { ApiKey, Organisation } from './store.ts';
import { StoreError } from './store-error.ts';

const KEY_NAME = /^\P{Cc}{1,100}$/u;

const KEY_COLUMNS =
  'id, organisation_id AS organisationId, name, display, created_at AS createdAt, revoked_at AS revokedAt';

type Created = { key: ApiKey; secret: string };

/** The store's calls as the thread answers them. */
export interface KeyCalls {
  bootstrap(): (Created & { organisation: Organisation }) | undefined;
  createKey(organisationId: string, name: string): Created;
  findKeyByHash(hash: Uint8Array): ApiKey | undefined;
  listKeys(organisationId: string | undefined): ApiKey[];
  revokeKey(keyId: string): ApiKey | undefined;
  listOrganisations(): Organisation[];
  revokedKeyIds(): string[];
}

export interface Revocations {
  /** Ids of keys revoked since this was last asked, by any process. */
  unheard(): string[];
}

/** @param nowMs wall-clock milliseconds */
export function createKeyTables(database: Database, nowMs: () => number = Date.now): KeyCalls & Revocations {
  const organisations = database.prepare<[], Organisation>(
    'SELECT id, name, created_at AS createdAt FROM organisations ORDER BY number',
  );
  const insertOrganisation = database.prepare<Organisation>(
    'INSERT INTO organisations (id, name, created_at) VALUES (@id, @name, @createdAt)',
  );
  const organisationExists = database.prepare<[string], number>('SELECT 1 FROM organisations WHERE id = ?').pluck();
  const insertKey = database.prepare<Omit<ApiKey, 'revokedAt'> & { hash: Uint8Array }>(
    'INSERT INTO api_keys (id, organisation_id, name, hash, display, created_at) VALUES (@id, @organisationId, @name, @hash, @display, @createdAt)',
  );
  const keyByHash = database.prepare<[Uint8Array], ApiKey>(`SELECT ${KEY_COLUMNS} FROM api_keys WHERE hash = ?`);
  const keyById = database.prepare<[string], ApiKey>(`SELECT ${KEY_COLUMNS} FROM api_keys WHERE id = ?`);
  const allKeys = database.prepare<[], ApiKey>(`SELECT ${KEY_COLUMNS} FROM api_keys ORDER BY number`);
  const keysOf = database.prepare<[string], ApiKey>(
    `SELECT ${KEY_COLUMNS} FROM api_keys WHERE organisation_id = ? ORDER BY number`,
  );
  const lastRevocation = database.prepare<[], number>('SELECT coalesce(max(revocation), 0) FROM api_keys').pluck();
  const revoke = database.prepare<{ id: string; revokedAt: string; revocation: number }>(
    'UPDATE api_keys SET revoked_at = @revokedAt, revocation = @revocation WHERE id = @id AND revoked_at IS NULL',
  );
  const revokedAfter = database.prepare<[number], { id: string; revocation: number }>(
    'SELECT id, revocation FROM api_keys WHERE revocation > ? ORDER BY revocation',
  );

  function nowText(): string {
    return new Date(nowMs()).toISOString();
  }

  function addKey(organisationId: string, name: string): Created {
    if (!KEY_NAME.test(name)) {
      throw new StoreError(
        'invalid',
        'The name of a key cannot be used; it is a text of 1 to 100 characters without control characters.',
      );
    }
    if (organisationExists.get(organisationId) === undefined) {
      throw new StoreError('not_found', `There is no organisation ${JSON.stringify(organisationId.slice(0, 50))}.`);
    }
    const secret = generateKey();
    const { hash, display } = parseKey(secret)!;
    const key = { id: `key_${uuidv7(nowMs())}`, organisationId, name, display, createdAt: nowText() };
    insertKey.run({ ...key, hash });
    return { key: { ...key, revokedAt: null }, secret };
  }

  const transactions = {
    bootstrap: database.transaction(() => {
      if (organisations.get() !== undefined) return undefined;
      const organisation = { id: `org_${uuidv7(nowMs())}`, name: 'Default', createdAt: nowText() };
      insertOrganisation.run(organisation);
      return { organisation, ...addKey(organisation.id, 'First key') };
    }),
    createKey: database.transaction(addKey),
    revokeKey: database.transaction((id: string) => {
      revoke.run({ id, revokedAt: nowText(), revocation: lastRevocation.get()! + 1 });
      return keyById.get(id);
    }),
  };

  let heard = lastRevocation.get()!;
  return {
    bootstrap: () => transactions.bootstrap.immediate(),
    createKey: (organisationId, name) => transactions.createKey.immediate(organisationId, name),
    findKeyByHash: (hash) => keyByHash.get(hash),
    listKeys: (organisationId) => (organisationId === undefined ? allKeys.all() : keysOf.all(organisationId)),
    revokeKey: (keyId) => transactions.revokeKey.immediate(keyId),
    listOrganisations: () => organisations.all(),
    revokedKeyIds: () => revokedAfter.all(0).map((row) => row.id),
    unheard() {
      const rows = revokedAfter.all(heard);
      heard = rows.at(-1)?.revocation ?? heard;
      return rows.map((row) => row.id);
    },
  };
}
