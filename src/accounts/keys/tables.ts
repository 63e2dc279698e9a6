// API keys on an open database, with their organisations: the store's calls, one transaction each. settings.ts
// checks the settings, chart.ts decides what may become of a key. Runs in the thread that owns the file.
import { isDeepStrictEqual } from 'node:util';
import type { Actor, AuditEntry } from '../../store/audit-log.ts';
import { noOrganisation, StoreError } from '../../store/store-error.ts';
import type { DrawingContext } from '../../store/table-context.ts';
import type { ApiKey, KeyCalls, KeySettings, KeyTableCalls, KeyUsed } from './calls.ts';
import type { CeilingCounters } from './ceilings.ts';
import { keyAfter } from './chart.ts';
import { ceilingTables, createOrganisationTables, type Suspensions } from './organisation-tables.ts';
import { createRedeemedTokens } from './redeemed-tokens.ts';
import {
  type KeyRow,
  keyOf,
  SELECT_KEYS,
  SETTING_COLUMNS,
  type SettingsRow,
  settingsOf,
  settingsToRow,
} from './row.ts';
import { checkedSettings, DEFAULT_SETTINGS, SETTING_NAMES } from './settings.ts';

const GRACE_MS_MAX = 72 * 3600 * 1000;
const MINUTE_MS = 60_000;
/** The last time that is written with a year of four digits, which is what texts of times are compared by. */
const TIME_MS_MAX = Date.UTC(9999, 11, 31);
const GATEWAY: Actor = { type: 'system', id: 'gateway' };

export interface Revocations {
  /** Ids of keys revoked since this was last asked, by any process. */
  unheard(): string[];
}

type NewRow = SettingsRow &
  Pick<KeyRow, 'id' | 'organisationId' | 'display' | 'createdAt' | 'makerId'> & { hash: Uint8Array };
type EndRow = Pick<KeyRow, 'id' | 'graceUntil' | 'rolledTo' | 'revokedAt'> & { revocation: number | null };

type KeyRows = ReturnType<typeof keyRows>;

/** The rows of keys: found, added, ended and noted of. Runs in the caller's transaction. */
function keyRows(context: DrawingContext, { replaceCeilings }: CeilingCounters) {
  const { nowText, audit, newId, newKey } = context;
  const statements = prepare(context);

  function find(keyId: string): ApiKey | undefined {
    const row = statements.byId.get(keyId);
    return row && keyOf(row);
  }

  function findOf(organisationId: string | null, keyId: string): ApiKey | undefined {
    const key = find(keyId);
    return organisationId === null || key?.organisationId === organisationId ? key : undefined;
  }

  function insert(organisationId: string, settings: KeySettings, by: Actor): ApiKey {
    const { hash, display } = newKey();
    const id = newId('key');
    const makerId = by.type === 'person' ? by.id : null;
    const row = { id, organisationId, hash, display, createdAt: nowText(), makerId };
    statements.insert.run({ ...settingsToRow(settings), ...row });
    if (settings.spendCeilings !== null) replaceCeilings(id, organisationId, settings.spendCeilings);
    return find(id)!;
  }

  function note(by: Actor, action: string, key: ApiKey, detail: AuditEntry['detail']): void {
    audit({ by, organisationId: key.organisationId, action, target: key.id, detail });
  }

  /** A revocation is published by its number: every process asks for those after the last that it heard of. */
  function end(key: ApiKey, grace: Pick<EndRow, 'graceUntil' | 'rolledTo'>, isRevoked: boolean): void {
    const { graceUntil, rolledTo } = grace;
    const revocation = isRevoked ? statements.lastRevocation.get()! + 1 : null;
    statements.end.run({ id: key.id, graceUntil, rolledTo, revokedAt: isRevoked ? nowText() : null, revocation });
  }

  function noteUsed(organisationId: string, used: readonly KeyUsed[]): void {
    for (const { keyId, atMs, tokens = 0 } of used) {
      if (!(atMs >= 0 && atMs <= TIME_MS_MAX))
        throw new StoreError('invalid', 'A key was used at no time that there is.');
      if (!Number.isSafeInteger(tokens) || tokens < 0)
        throw new StoreError('invalid', 'A key has minted no such number of tokens.');
      const at = new Date(Math.floor(atMs / MINUTE_MS) * MINUTE_MS).toISOString();
      const key = findOf(organisationId, keyId);
      if (key === undefined) continue;
      const by: Actor = { type: 'key', id: keyId };
      if (dayOf(at) > dayOf(key.lastUsedAt ?? '')) note(by, 'key.used', key, { day: dayOf(at) });
      if (tokens > 0) note(by, 'tokens.minted', key, { count: tokens });
      statements.noteUsed.run({ organisationId, id: keyId, at });
    }
  }

  /** Does the work, unless more keys are in use by it than may be. What is thrown takes it back. */
  function limited<Result>(organisationId: string, activeMax: number, work: () => Result): Result {
    const count = () => statements.countActive.get({ organisationId, now: nowText() })!;
    const before = count();
    const result = work();
    const active = count();
    if (active <= before || active <= activeMax) return result;
    const most = `There would be ${active} keys in use, those in their grace too, and ${activeMax} is the most.`;
    throw new StoreError('conflict', `${most} Revoke one first.`);
  }

  return { statements, find, findOf, insert, note, end, noteUsed, limited, replaceCeilings };
}

/** Of an ISO 8601 time. */
const dayOf = (time: string): string => time.slice(0, 10);

/** What is done to keys, each with its entry in the audit log. Runs in the caller's transaction. */
function keyChanges({ nowMs }: DrawingContext, rows: KeyRows, organisations: Pick<KeyCalls, 'findOrganisation'>) {
  const { statements, find, findOf, insert, note, end, replaceCeilings } = rows;

  function create(organisationId: string, settings: Partial<KeySettings>, by: Actor): { key: ApiKey } {
    const checked = { ...DEFAULT_SETTINGS, ...checkedSettings(settings, nowMs()) };
    if (organisations.findOrganisation(organisationId) === undefined) throw noOrganisation(organisationId);
    const key = insert(organisationId, checked, by);
    note(
      by,
      'key.created',
      key,
      plain(
        checked,
        SETTING_NAMES.filter((name) => isNoted(checked, name)),
      ),
    );
    return { key };
  }

  function change(organisationId: string, keyId: string, settings: Partial<KeySettings>, by: Actor) {
    const key = findOf(organisationId, keyId);
    if (key === undefined) return undefined;
    if (key.revokedAt !== null)
      throw new StoreError('conflict', `The key ${key.id} is revoked; nothing of it can be changed.`);
    const before = settingsOf(key);
    const after = { ...before, ...checkedSettings(settings, nowMs()) };
    const changed = SETTING_NAMES.filter((name) => !isDeepStrictEqual(before[name], after[name]));
    if (changed.length === 0) return key;
    statements.change.run({ ...settingsToRow(after), id: key.id });
    if (changed.includes('spendCeilings')) replaceCeilings(key.id, organisationId, after.spendCeilings ?? []);
    note(by, 'key.changed', key, { from: plain(before, changed), to: plain(after, changed) });
    return find(key.id);
  }

  function roll(organisationId: string, keyId: string, graceMs: number, by: Actor) {
    if (!Number.isInteger(graceMs) || graceMs < 0 || graceMs > GRACE_MS_MAX) {
      throw new StoreError(
        'invalid',
        'The time that a rolled key goes on working is a whole number of milliseconds, 0 to 72 hours.',
      );
    }
    const key = findOf(organisationId, keyId);
    if (key === undefined || key.revokedAt !== null) return undefined;
    const graceUntilMs = nowMs() + graceMs;
    const outcome = keyAfter(key, { type: 'key.roll', nowMs: nowMs(), graceUntilMs });
    if (!outcome.changed) throw notRollable(key);
    const successor = insert(key.organisationId, settingsOf(key), by);
    const graceUntil = new Date(graceUntilMs).toISOString();
    end(key, { graceUntil, rolledTo: successor.id }, outcome.published);
    note(by, 'key.rolled', key, { to: successor.id, graceUntil });
    return { key: successor, old: find(key.id)! };
  }

  function revoke(organisationId: string | null, keyId: string, by: Actor): ApiKey | undefined {
    const key = findOf(organisationId, keyId);
    if (key === undefined) return undefined;
    const outcome = keyAfter(key, { type: 'key.revoke' });
    if (!outcome.changed) return key;
    end(key, key, outcome.published);
    note(by, 'key.revoked', key, { name: key.name, display: key.display });
    return find(key.id);
  }

  return { create, change, roll, revoke };
}

export function createKeyTables(
  context: DrawingContext,
  counters: CeilingCounters,
): KeyTableCalls & Revocations & Suspensions {
  const { database } = context;
  const organisations = createOrganisationTables(context);
  const rows = keyRows(context, counters);
  const { statements, findOf, limited, noteUsed } = rows;
  const { create, change, roll, revoke } = keyChanges(context, rows, organisations);

  const createLimited: KeyTableCalls['createKey'] = (
    organisationId,
    settings,
    by,
    activeMax = Number.POSITIVE_INFINITY,
  ) => limited(organisationId, activeMax, () => create(organisationId, settings, by));
  const changeLimited: KeyCalls['changeKey'] = (
    organisationId,
    keyId,
    settings,
    by,
    activeMax = Number.POSITIVE_INFINITY,
  ) => limited(organisationId, activeMax, () => change(organisationId, keyId, settings, by));
  const rollLimited: KeyTableCalls['rollKey'] = (
    organisationId,
    keyId,
    graceMs,
    by,
    activeMax = Number.POSITIVE_INFINITY,
  ) => limited(organisationId, activeMax, () => roll(organisationId, keyId, graceMs, by));

  const transactions = {
    bootstrap: database.transaction(() => {
      if (organisations.listOrganisations().length > 0) return undefined;
      const organisation = organisations.createOrganisation('Default', null, GATEWAY);
      return { organisation, ...create(organisation.id, { name: 'First key' }, GATEWAY) };
    }),
    create: database.transaction(createLimited),
    change: database.transaction(changeLimited),
    roll: database.transaction(rollLimited),
    revoke: database.transaction(revoke),
    noteUsed: database.transaction(noteUsed),
  };

  let heard = statements.lastRevocation.get()!;
  return {
    ...organisations,
    setSpendCeilings: ceilingTables(context, organisations.findOrganisation, counters),
    bootstrap: () => transactions.bootstrap.immediate(),
    createKey: (...args) => transactions.create.immediate(...args),
    findKeyByHash(hash) {
      const row = statements.byHash.get(hash);
      return row && keyOf(row);
    },
    findKey: findOf,
    listKeys: (organisationId) =>
      (organisationId === undefined ? statements.all.all() : statements.ofOrganisation.all(organisationId)).map(keyOf),
    changeKey: (...args) => transactions.change.immediate(...args),
    rollKey: (...args) => transactions.roll.immediate(...args),
    revokeKey: (organisationId, keyId, by) => transactions.revoke.immediate(organisationId, keyId, by),
    noteKeysUsed: (organisationId, used) => transactions.noteUsed.immediate(organisationId, used),
    redeemToken: createRedeemedTokens(context),
    revokedKeyIds: () => statements.revokedAfter.all(0).map((row) => row.id),
    unheard() {
      const rows = statements.revokedAfter.all(heard);
      heard = rows.at(-1)?.revocation ?? heard;
      return rows.map((row) => row.id);
    },
  };
}

function prepare({ database }: DrawingContext) {
  const columns = Object.entries(SETTING_COLUMNS);
  return {
    byHash: database.prepare<[Uint8Array], KeyRow>(`${SELECT_KEYS} WHERE hash = ?`).safeIntegers(),
    byId: database.prepare<[string], KeyRow>(`${SELECT_KEYS} WHERE api_keys.id = ?`).safeIntegers(),
    all: database.prepare<[], KeyRow>(`${SELECT_KEYS} ORDER BY api_keys.number`).safeIntegers(),
    ofOrganisation: database
      .prepare<[string], KeyRow>(`${SELECT_KEYS} WHERE organisation_id = ? ORDER BY api_keys.number`)
      .safeIntegers(),
    insert: database.prepare<NewRow>(
      `INSERT INTO api_keys (id, organisation_id, hash, display, created_at, made_by, ${columns.map(([, column]) => column).join(', ')})
       VALUES (@id, @organisationId, @hash, @display, @createdAt, @makerId, ${columns.map(([name]) => `@${name}`).join(', ')})`,
    ),
    change: database.prepare<SettingsRow & { id: string }>(
      `UPDATE api_keys SET ${columns.map(([name, column]) => `${column} = @${name}`).join(', ')} WHERE id = @id`,
    ),
    end: database.prepare<EndRow>(
      `UPDATE api_keys SET grace_until = @graceUntil, rolled_to = @rolledTo, revoked_at = @revokedAt,
                           revocation = @revocation
       WHERE id = @id`,
    ),
    noteUsed: database.prepare<{ organisationId: string; id: string; at: string }>(
      `UPDATE api_keys SET last_used_at = @at
       WHERE id = @id AND organisation_id = @organisationId AND (last_used_at IS NULL OR last_used_at < @at)`,
    ),
    countActive: database
      .prepare<{ organisationId: string; now: string }, number>(
        `SELECT count(*) FROM api_keys
         WHERE organisation_id = @organisationId AND revoked_at IS NULL
           AND (grace_until IS NULL OR grace_until > @now) AND (expires_at IS NULL OR expires_at > @now)`,
      )
      .pluck(),
    lastRevocation: database.prepare<[], number>('SELECT coalesce(max(revocation), 0) FROM api_keys').pluck(),
    revokedAfter: database.prepare<[number], { id: string; revocation: number }>(
      'SELECT id, revocation FROM api_keys WHERE revocation > ? ORDER BY revocation',
    ),
  };
}

function notRollable(key: ApiKey): StoreError {
  return key.rolledTo === null
    ? new StoreError('conflict', `The key ${key.id} has expired: change its expiry, or mint a new key.`)
    : new StoreError('conflict', `The key ${key.id} was rolled already, to ${key.rolledTo}: roll that one.`);
}

/** A release that does not know the setting writes the same line for a key without it. */
const isNoted = (settings: KeySettings, name: keyof KeySettings): boolean =>
  !(name === 'redact' || name === 'replace') || settings[name] !== null;

/** Settings as the audit log takes them: money as text. */
function plain(settings: KeySettings, names: readonly (keyof KeySettings)[] = SETTING_NAMES): Record<string, unknown> {
  return Object.fromEntries(
    names.map((name) => [name, typeof settings[name] === 'bigint' ? String(settings[name]) : settings[name]]),
  );
}
