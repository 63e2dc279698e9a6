// Organisations on an open database.
import { isDeepStrictEqual } from 'node:util';
import type { Aliases } from '../../api/listen.ts';
import { type DataResidencyRule, FREE_RULE } from '../../api/residency-rule.ts';
import type { SpendCeiling } from '../../api/spend-ceilings.ts';
import type { Actor } from '../../store/audit-log.ts';
import { noOrganisation } from '../../store/store-error.ts';
import type { DrawingContext, TableContext } from '../../store/table-context.ts';
import { aliasesOf, checkedAliases, textOfAliases } from './aliases.ts';
import type { KeyCalls, Organisation, SuspensionChange } from './calls.ts';
import { type CeilingCounters, ceilingsOf, checkedCeilings, textOfCeilings } from './ceilings.ts';
import { listOf, textOfList } from './row.ts';
import { checkedMicroUsd, checkedName, checkedRedaction, checkedRegions, checkedRetention } from './settings.ts';

export type OrganisationCalls = Pick<
  KeyCalls,
  | 'createOrganisation'
  | 'setCreditLimit'
  | 'setSuspended'
  | 'setPlaceRule'
  | 'setAliases'
  | 'setRedactionRule'
  | 'setShowTranscripts'
  | 'listOrganisations'
  | 'findOrganisation'
  | 'isOperator'
>;

const SELECT = `
  SELECT id, name, created_at AS createdAt, suspended_at AS suspendedAt, credit_limit_micro_usd AS creditLimitMicroUsd,
         regions, retention, redact, aliases, show_transcripts AS showTranscripts, spend_ceilings AS spendCeilings
  FROM organisations`;

type Row = Omit<Organisation, 'regions' | 'redact' | 'aliases' | 'showTranscripts' | 'spendCeilings'> &
  Record<'regions' | 'redact' | 'aliases' | 'spendCeilings', string | null> & { showTranscripts: bigint };
const organisationOf = (row: Row): Organisation => ({
  ...row,
  regions: listOf(row.regions),
  redact: listOf(row.redact),
  aliases: aliasesOf(row.aliases),
  showTranscripts: row.showTranscripts !== 0n,
  spendCeilings: ceilingsOf(row.spendCeilings),
});

export interface Suspensions {
  /** What changed since this was last asked, by any process. */
  unheardSuspensions(): SuspensionChange[];
}

export function createOrganisationTables({
  database,
  nowText,
  audit,
  newId,
}: DrawingContext): OrganisationCalls & Suspensions {
  const all = database.prepare<[], Row>(`${SELECT} ORDER BY number`).safeIntegers();
  const rowById = database.prepare<[string], Row>(`${SELECT} WHERE id = ?`).safeIntegers();
  const find = (id: string): Organisation | undefined => {
    const row = rowById.get(id);
    return row && organisationOf(row);
  };
  const insert = database.prepare<Pick<Organisation, 'id' | 'name' | 'createdAt' | 'creditLimitMicroUsd'>>(
    `INSERT INTO organisations (id, name, created_at, credit_limit_micro_usd)
     VALUES (@id, @name, @createdAt, @creditLimitMicroUsd)`,
  );
  const updateLimit = database.prepare<{ id: string; creditLimitMicroUsd: bigint | null }>(
    'UPDATE organisations SET credit_limit_micro_usd = @creditLimitMicroUsd WHERE id = @id',
  );
  const updateSuspension = database.prepare<{ id: string; suspendedAt: string | null }>(
    'UPDATE organisations SET suspended_at = @suspendedAt WHERE id = @id',
  );
  const suspended = database.prepare<[], string>('SELECT id FROM organisations WHERE suspended_at IS NOT NULL').pluck();
  const first = database.prepare<[], string>('SELECT organisation_id FROM api_keys ORDER BY number LIMIT 1').pluck();
  let heard = new Set(suspended.all());

  const create = database.transaction((name: string, limit: bigint | null, by: Actor): Organisation => {
    const organisation = {
      id: newId('org'),
      name: checkedName(name, 'organisation'),
      createdAt: nowText(),
      creditLimitMicroUsd: checkedMicroUsd(limit, 'credit limit'),
    };
    insert.run(organisation);
    audit({
      by,
      organisationId: organisation.id,
      action: 'organisation.created',
      target: organisation.id,
      detail: { name, creditLimitMicroUsd: limit?.toString() ?? null },
    });
    const settings = { redact: null, aliases: null, showTranscripts: false, spendCeilings: null };
    return { ...organisation, suspendedAt: null, ...FREE_RULE, ...settings };
  });

  const setLimit = database.transaction((id: string, limit: bigint | null, by: Actor): Organisation => {
    const creditLimitMicroUsd = checkedMicroUsd(limit, 'credit limit');
    const before = find(id);
    if (before === undefined) throw noOrganisation(id);
    if (before.creditLimitMicroUsd === creditLimitMicroUsd) return before;
    updateLimit.run({ id, creditLimitMicroUsd });
    audit({
      by,
      organisationId: id,
      action: 'credit-limit.changed',
      target: id,
      detail: {
        fromMicroUsd: before.creditLimitMicroUsd?.toString() ?? null,
        toMicroUsd: creditLimitMicroUsd?.toString() ?? null,
      },
    });
    return { ...before, creditLimitMicroUsd };
  });

  const setSuspended = database.transaction((id: string, suspended: boolean, by: Actor): Organisation => {
    const before = find(id);
    if (before === undefined) throw noOrganisation(id);
    if ((before.suspendedAt !== null) === suspended) return before;
    const suspendedAt = suspended ? nowText() : null;
    updateSuspension.run({ id, suspendedAt });
    const action = suspended ? 'organisation.suspended' : 'organisation.reinstated';
    audit({ by, organisationId: id, action, target: id, detail: {} });
    return { ...before, suspendedAt };
  });

  return {
    createOrganisation: (name, limit, by) => create.immediate(name, limit, by),
    setCreditLimit: (id, limit, by) => setLimit.immediate(id, limit, by),
    setSuspended: (id, suspended, by) => setSuspended.immediate(id, suspended, by),
    setPlaceRule: placeRules({ database, audit }, find),
    setRedactionRule: redactionRules({ database, audit }, find),
    setAliases: aliasTables({ database, audit }, find),
    setShowTranscripts: transcriptTables({ database, audit }, find),
    listOrganisations: () => all.all().map(organisationOf),
    findOrganisation: find,
    isOperator: (id) => first.get() === id,
    unheardSuspensions() {
      const now = new Set(suspended.all());
      const changes = [
        ...[...now].filter((id) => !heard.has(id)).map((organisationId) => ({ organisationId, suspended: true })),
        ...[...heard].filter((id) => !now.has(id)).map((organisationId) => ({ organisationId, suspended: false })),
      ];
      heard = now;
      return changes;
    },
  };
}

function placeRules(
  { database, audit }: Pick<TableContext, 'database' | 'audit'>,
  find: (id: string) => Organisation | undefined,
): OrganisationCalls['setPlaceRule'] {
  const update = database.prepare<{ id: string; regions: string | null; retention: 'none' | null }>(
    'UPDATE organisations SET regions = @regions, retention = @retention WHERE id = @id',
  );
  const set = database.transaction((id: string, rule: DataResidencyRule, by: Actor): Organisation => {
    const to = { regions: checkedRegions(rule.regions), retention: checkedRetention(rule.retention) };
    const before = find(id);
    if (before === undefined) throw noOrganisation(id);
    const from = { regions: before.regions, retention: before.retention };
    if (isDeepStrictEqual(from, to)) return before;
    update.run({ id, regions: textOfList(to.regions), retention: to.retention });
    audit({ by, organisationId: id, action: 'place-rule.changed', target: id, detail: { from, to } });
    return { ...before, ...to };
  });
  return (id, rule, by) => set.immediate(id, rule, by);
}

function redactionRules(
  { database, audit }: Pick<TableContext, 'database' | 'audit'>,
  find: (id: string) => Organisation | undefined,
): OrganisationCalls['setRedactionRule'] {
  const update = database.prepare<{ id: string; redact: string | null }>(
    'UPDATE organisations SET redact = @redact WHERE id = @id',
  );
  const set = database.transaction((id: string, rule: Pick<Organisation, 'redact'>, by: Actor): Organisation => {
    const to = checkedRedaction(rule.redact);
    const before = find(id);
    if (before === undefined) throw noOrganisation(id);
    const from = before.redact;
    if (isDeepStrictEqual(from, to)) return before;
    update.run({ id, redact: textOfList(to) });
    audit({
      by,
      organisationId: id,
      action: 'redaction-rule.changed',
      target: id,
      detail: { from: listed(from), to: listed(to) },
    });
    return { ...before, redact: to };
  });
  return (id, rule, by) => set.immediate(id, rule, by);
}

const listed = (classes: Organisation['redact']): string[] | null => (classes === null ? null : [...classes]);

function aliasTables(
  { database, audit }: Pick<TableContext, 'database' | 'audit'>,
  find: (id: string) => Organisation | undefined,
): OrganisationCalls['setAliases'] {
  const update = database.prepare<{ id: string; aliases: string | null }>(
    'UPDATE organisations SET aliases = @aliases WHERE id = @id',
  );
  const set = database.transaction((id: string, aliases: Aliases, by: Actor): Organisation => {
    const to = checkedAliases(aliases);
    const before = find(id);
    if (before === undefined) throw noOrganisation(id);
    const from = before.aliases;
    if (isDeepStrictEqual(from, to)) return before;
    update.run({ id, aliases: textOfAliases(to) });
    audit({ by, organisationId: id, action: 'aliases.changed', target: id, detail: { from, to } });
    return { ...before, aliases: to };
  });
  return (id, aliases, by) => set.immediate(id, aliases, by);
}

export function ceilingTables(
  { database, audit }: Pick<TableContext, 'database' | 'audit'>,
  find: (id: string) => Organisation | undefined,
  { replaceCeilings }: CeilingCounters,
): KeyCalls['setSpendCeilings'] {
  const update = database.prepare<{ id: string; ceilings: string | null }>(
    'UPDATE organisations SET spend_ceilings = @ceilings WHERE id = @id',
  );
  const set = database.transaction((id: string, ceilings: readonly SpendCeiling[], by: Actor): Organisation => {
    const to = checkedCeilings(ceilings);
    const before = find(id);
    if (before === undefined) throw noOrganisation(id);
    const from = before.spendCeilings;
    if (isDeepStrictEqual(from, to)) return before;
    update.run({ id, ceilings: textOfCeilings(to) });
    replaceCeilings(id, id, to ?? []);
    audit({ by, organisationId: id, action: 'spend-ceilings.changed', target: id, detail: { from, to } });
    return { ...before, spendCeilings: to };
  });
  return (id, ceilings, by) => set.immediate(id, ceilings, by);
}

function transcriptTables(
  { database, audit }: Pick<TableContext, 'database' | 'audit'>,
  find: (id: string) => Organisation | undefined,
): OrganisationCalls['setShowTranscripts'] {
  const update = database.prepare<{ id: string; show: number }>(
    'UPDATE organisations SET show_transcripts = @show WHERE id = @id',
  );
  const set = database.transaction((id: string, show: boolean, by: Actor): Organisation => {
    const before = find(id);
    if (before === undefined) throw noOrganisation(id);
    if (before.showTranscripts === show) return before;
    update.run({ id, show: show ? 1 : 0 });
    audit({ by, organisationId: id, action: 'show-transcripts.changed', target: id, detail: { to: show } });
    return { ...before, showTranscripts: show };
  });
  return (id, show, by) => set.immediate(id, show, by);
}
