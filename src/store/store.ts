// The store's port: truth that outlives a process, and what may be relied on. sqlite.ts keeps it in a worker thread of its own.

export interface Organisation {
  id: string;
  name: string;
  createdAt: string;
}

/** A key as it may be shown: never the key itself, which nobody keeps. */
export interface ApiKey {
  id: string;
  organisationId: string;
  name: string;
  /** The first 11 characters and the last 4 of the key. */
  display: string;
  /** ISO 8601 UTC. */
  createdAt: string;
  revokedAt: string | null;
}

/**
 * Promises: every method is asynchronous and may be called at once from anywhere; calls are applied in the order they
 * were made; a rejected promise means that nothing was changed. `onKeyRevoked` hears of revocations made by any process on
 * the same file, soon after they happen and not by polling.
 */
export interface Store {
  /** The first organisation and key, made when the file has none; undefined otherwise. The key is given only here. */
  bootstrap(): Promise<{ organisation: Organisation; key: ApiKey; secret: string } | undefined>;
  createKey(organisationId: string, name: string): Promise<{ key: ApiKey; secret: string }>;
  /** Looks a key up by the SHA-256 of its text, revoked ones too. */
  findKeyByHash(hash: Uint8Array): Promise<ApiKey | undefined>;
  listKeys(organisationId?: string): Promise<ApiKey[]>;
  /** Revokes by key id. Undefined when there is no such key; a key already revoked keeps its first time. */
  revokeKey(keyId: string): Promise<ApiKey | undefined>;
  listOrganisations(): Promise<Organisation[]>;
  /** Ids of all revoked keys, for the tokens they minted. */
  revokedKeyIds(): Promise<string[]>;
  onKeyRevoked(listener: (keyId: string) => void): () => void;
  close(): Promise<void>;
}
