// The organisations' own provider keys: shapes and promises. The secrets are sealed before they come here (src/accounts/vault); what
// becomes of a key is the provider-key chart's decision.

import { transition } from 'xstate';
import { type ProviderKeyEvent, type ProviderKeyState, providerKeyMachine } from '../../../machines/provider-key.ts';
import type { Actor } from '../../store/audit-log.ts';
import { type Asynchronous, first, notes, type Operations, reads, writes } from '../../store/operation.ts';
import { noOrganisation, StoreError } from '../../store/store-error.ts';
import type { TableContext } from '../../store/table-context.ts';
import { checkedName } from '../keys/settings.ts';

export type { ProviderKeyState };

/** A provider key as it may be shown. */
export interface ProviderKey {
  /** `pk_…` */
  id: string;
  organisationId: string;
  provider: string;
  name: string;
  /** The last characters of the secret, at most four. */
  lastFour: string;
  /** Members that are no secret; null where they were not noted. */
  fields: Readonly<Record<string, string>> | null;
  state: ProviderKeyState;
  /** Refusals in a row. */
  failures: number;
  /** ISO 8601 UTC. */
  createdAt: string;
  testedAt: string | null;
  /** To the minute. */
  usedAt: string | null;
}

/** What a test call came to. `unanswered`: the provider could not be asked, or said nothing of the key. */
export type CheckOutcome = 'accepted' | 'refused' | 'unanswered';

export interface NewProviderKey {
  id: string;
  organisationId: string;
  provider: string;
  name: string;
  sealed: string;
  lastFour: string;
  /** Members that are no secret. */
  fields: Readonly<Record<string, string>>;
  /** Of the test before it is saved; one that was refused is not saved. */
  check: Exclude<CheckOutcome, 'refused'>;
}

/** A sealed text with what it is bound to. */
export interface SealedProviderKey {
  id: string;
  organisationId: string;
  provider: string;
  sealed: string;
}

/** A sealed text in the place of another. */
export interface Resealed {
  /** Of a provider key, or null for the canary. */
  id: string | null;
  from: string;
  to: string;
}

export interface VaultCalls {
  /** Saves a key; the organisation's former one for the provider is gone with it. Throws `not_found`, `invalid`. */
  saveProviderKey(key: NewProviderKey, by: Actor): ProviderKey;
  /** By provider. */
  listProviderKeys(organisationId: string): ProviderKey[];
  findProviderKey(organisationId: string, provider: string): ProviderKey | undefined;
  readSealedProviderKey(keyId: string): (SealedProviderKey & { state: ProviderKeyState }) | undefined;
  /** Undefined when the organisation has no such key. */
  noteProviderKeyCheck(
    organisationId: string,
    keyId: string,
    outcome: CheckOutcome,
    by: Actor,
  ): ProviderKey | undefined;
  /** What became of a session or a file that ran on the key. Undefined when there is no such key. */
  noteProviderKeyUse(keyId: string, outcome: 'accepted' | 'refused'): ProviderKey | undefined;
  /** The key that is gone; undefined when the organisation has no such key. */
  removeProviderKey(organisationId: string, keyId: string, by: Actor): ProviderKey | undefined;
  /** Everything that is sealed, the canary left out. */
  listSealedProviderKeys(): SealedProviderKey[];
  /** Ids of the key-encryption keys in use, with the number of provider keys that each seals; the canary left out. */
  countSealedBy(): { kekId: string; keys: number }[];
  vaultCanary(): string | undefined;
  /** Keeps the canary that is there already, if any; gives the one that is kept. */
  keepVaultCanary(sealed: string): string;
  /**
   * Puts each sealed text in the place of another: all of them, and no key is left out that has not this key-encryption key
   * yet, or none of them. Throws `conflict` when one is not what it was.
   */
  resealVault(kekId: string, texts: readonly Resealed[], by: Actor): void;
}

export type VaultStore = Asynchronous<VaultCalls>;

export const VAULT_OPERATIONS = {
  saveProviderKey: writes(),
  listProviderKeys: reads(first('text')),
  findProviderKey: reads(first('text', 'text')),
  readSealedProviderKey: reads(),
  noteProviderKeyCheck: writes(),
  noteProviderKeyUse: notes(),
  removeProviderKey: writes(),
  listSealedProviderKeys: reads(),
  countSealedBy: reads(),
  vaultCanary: reads(),
  keepVaultCanary: writes(),
  resealVault: writes(),
} as const satisfies Operations<VaultCalls>;

/** Refusals of a key in a row, after which nothing is dialled with it. */
const FAILURES_MAX = 3;
const KEEPER: Actor = { type: 'system', id: 'vault' };
const COLUMNS = `id, organisation_id AS organisationId, provider, name, last_four AS lastFour, fields, state, failures,
  created_at AS createdAt, tested_at AS testedAt, used_at AS usedAt`;
const SEALED = 'id, organisation_id AS organisationId, provider, sealed';
type KeyRow = Omit<ProviderKey, 'fields'> & { fields: string | null };
const keyOf = (row: KeyRow): ProviderKey => ({
  ...row,
  fields: row.fields === null ? null : (JSON.parse(row.fields) as ProviderKey['fields']),
});
const keyOr = (row: KeyRow | undefined): ProviderKey | undefined => row && keyOf(row);

/** `v1.` and eight characters before the next dot. */
const KEK_ID = 'substr(sealed, 4, 8)';

/** Where the row goes, and what is to be done about it. */
function judged(row: Pick<ProviderKey, 'state' | 'failures'>, events: readonly ProviderKeyEvent[]) {
  let snapshot = providerKeyMachine.resolveState({
    value: row.state,
    context: { failures: row.failures, failuresMax: FAILURES_MAX },
  });
  const actions: string[] = [];
  for (const event of events) {
    const [next, done] = transition(providerKeyMachine, snapshot, event);
    snapshot = next;
    actions.push(...done.map(({ type }) => type));
  }
  const state = snapshot.value as ProviderKey['state'];
  return { state, failures: snapshot.context.failures, tellsDisabled: actions.includes('tellDisabled') };
}

export function createVaultTables({ database, nowMs, nowText, audit }: TableContext): VaultCalls {
  const prepared = statements(database);

  function apply(row: ProviderKey, events: readonly ProviderKeyEvent[], times: Partial<ProviderKey>): ProviderKey {
    const { tellsDisabled, ...next } = judged(row, events);
    const changed = { ...row, ...times, ...next };
    const { id, state, failures, testedAt, usedAt } = changed;
    prepared.update.run({ id, state, failures, testedAt, usedAt });
    if (tellsDisabled) auditOf(KEEPER, changed, 'provider-key.disabled', { refusals: next.failures });
    return changed;
  }

  function auditOf(by: Actor, key: ProviderKey, action: string, detail: Record<string, unknown> = {}): void {
    const { organisationId, id: target, provider } = key;
    audit({ by, organisationId, action, target, detail: { provider, ...detail } });
  }

  const transactions = {
    save: database.transaction((key: NewProviderKey, by: Actor): ProviderKey => {
      requireSavable(key, prepared.organisationExists.get(key.organisationId) !== undefined);
      const former = prepared.find.get(key.organisationId, key.provider);
      if (former !== undefined) prepared.remove.run(former.id);
      const at = nowText();
      const { check, sealed, ...named } = key;
      const { tellsDisabled: _, ...state } = judged({ state: 'untested', failures: 0 }, checkEvents(check));
      const testedAt = check === 'accepted' ? at : null;
      const row: ProviderKey = { ...named, ...state, createdAt: at, testedAt, usedAt: null };
      prepared.insert.run({ ...row, sealed, fields: JSON.stringify(row.fields) });
      auditOf(by, row, 'provider-key.saved', {
        name: row.name,
        test: check,
        ...(former === undefined ? {} : { replaced: former.id }),
      });
      return row;
    }),
    check: database.transaction((organisationId: string, keyId: string, outcome: CheckOutcome, by: Actor) => {
      const row = keyOr(prepared.byId.get(keyId));
      if (row === undefined || row.organisationId !== organisationId) return undefined;
      const changed = apply(row, checkEvents(outcome), outcome === 'unanswered' ? {} : { testedAt: nowText() });
      auditOf(by, changed, 'provider-key.tested', { outcome });
      return changed;
    }),
    use: database.transaction((keyId: string, outcome: 'accepted' | 'refused') => {
      const row = keyOr(prepared.byId.get(keyId));
      if (row === undefined) return undefined;
      return apply(row, [{ type: `use.${outcome}` }], { usedAt: toMinute(nowMs()) });
    }),
    remove: database.transaction((organisationId: string, keyId: string, by: Actor) => {
      const row = keyOr(prepared.byId.get(keyId));
      if (row === undefined || row.organisationId !== organisationId) return undefined;
      prepared.remove.run(keyId);
      auditOf(by, row, 'provider-key.deleted', { name: row.name });
      return row;
    }),
    keepCanary: database.transaction((sealed: string) => {
      prepared.insertCanary.run(sealed);
      return prepared.canary.get() as string;
    }),
    reseal: database.transaction((kekId: string, texts: readonly Resealed[], by: Actor) => {
      for (const { id, from, to } of texts) {
        const { changes } = id === null ? prepared.resealCanary.run(to, from) : prepared.reseal.run(to, id, from);
        if (changes !== 1)
          throw new StoreError('conflict', `${id ?? 'The canary of the vault'} was changed meanwhile.`);
      }
      const left = prepared.sealedByOthers.get(kekId);
      if (left !== undefined) throw new StoreError('conflict', `${left} was saved meanwhile.`);
      const keys = texts.filter(({ id }) => id !== null).length;
      const detail = { keys, kekId };
      audit({ by, organisationId: null, action: 'provider-key.rotated', target: null, detail });
    }),
  };

  return {
    saveProviderKey: (key, by) => transactions.save.immediate(key, by),
    listProviderKeys: (organisationId) => prepared.list.all(organisationId).map(keyOf),
    findProviderKey: (organisationId, provider) => keyOr(prepared.find.get(organisationId, provider)),
    readSealedProviderKey: (keyId) => prepared.sealedById.get(keyId),
    noteProviderKeyCheck: (organisationId, keyId, outcome, by) =>
      transactions.check.immediate(organisationId, keyId, outcome, by),
    noteProviderKeyUse: (keyId, outcome) => transactions.use.immediate(keyId, outcome),
    removeProviderKey: (organisationId, keyId, by) => transactions.remove.immediate(organisationId, keyId, by),
    listSealedProviderKeys: () => prepared.allSealed.all(),
    countSealedBy: () => prepared.countByKek.all(),
    vaultCanary: () => prepared.canary.get(),
    keepVaultCanary: (sealed) => transactions.keepCanary.immediate(sealed),
    resealVault: (kekId, texts, by) => transactions.reseal.immediate(kekId, texts, by),
  };
}

const statements = (database: TableContext['database']) => ({
  organisationExists: database.prepare<[string], number>('SELECT 1 FROM organisations WHERE id = ?').pluck(),
  insert: database.prepare<KeyRow & { sealed: string }>(
    `INSERT INTO provider_keys
       (id, organisation_id, provider, name, sealed, last_four, fields, state, failures, created_at, tested_at)
     VALUES (@id, @organisationId, @provider, @name, @sealed, @lastFour, @fields, @state, @failures, @createdAt, @testedAt)`,
  ),
  update: database.prepare<Pick<ProviderKey, 'id' | 'state' | 'failures' | 'testedAt' | 'usedAt'>>(
    `UPDATE provider_keys SET state = @state, failures = @failures, tested_at = @testedAt, used_at = @usedAt
     WHERE id = @id`,
  ),
  remove: database.prepare<[string]>('DELETE FROM provider_keys WHERE id = ?'),
  byId: database.prepare<[string], KeyRow>(`SELECT ${COLUMNS} FROM provider_keys WHERE id = ?`),
  find: database.prepare<[string, string], KeyRow>(
    `SELECT ${COLUMNS} FROM provider_keys WHERE organisation_id = ? AND provider = ?`,
  ),
  list: database.prepare<[string], KeyRow>(
    `SELECT ${COLUMNS} FROM provider_keys WHERE organisation_id = ? ORDER BY provider`,
  ),
  sealedById: database.prepare<[string], SealedProviderKey & { state: ProviderKey['state'] }>(
    `SELECT ${SEALED}, state FROM provider_keys WHERE id = ?`,
  ),
  allSealed: database.prepare<[], SealedProviderKey>(`SELECT ${SEALED} FROM provider_keys ORDER BY number`),
  countByKek: database.prepare<[], { kekId: string; keys: number }>(
    `SELECT ${KEK_ID} AS kekId, count(*) AS keys FROM provider_keys GROUP BY 1 ORDER BY 1`,
  ),
  sealedByOthers: database
    .prepare<[string], string>(`SELECT id FROM provider_keys WHERE ${KEK_ID} <> ? ORDER BY number LIMIT 1`)
    .pluck(),
  canary: database.prepare<[], string>('SELECT sealed FROM vault_canary').pluck(),
  insertCanary: database.prepare<[string]>('INSERT OR IGNORE INTO vault_canary (number, sealed) VALUES (1, ?)'),
  reseal: database.prepare<[string, string, string]>('UPDATE provider_keys SET sealed = ? WHERE id = ? AND sealed = ?'),
  resealCanary: database.prepare<[string, string]>('UPDATE vault_canary SET sealed = ? WHERE sealed = ?'),
});

const checkEvents = (outcome: CheckOutcome): ProviderKeyEvent[] => [
  { type: 'check.begun' },
  { type: `check.${outcome}` },
];

function requireSavable({ name, organisationId }: NewProviderKey, organisationExists: boolean): void {
  checkedName(name, 'provider key');
  if (organisationExists) return;
  throw noOrganisation(organisationId);
}

const toMinute = (ms: number): string => new Date(ms - (ms % 60_000)).toISOString();
