// How a key lies in its row, and how it is read from there.
import type { Latency } from '../../api/bounds.ts';
import { eachKeyLimit, KEY_LIMITS, type KeyLimitName } from '../../api/console/key-limits.ts';
import type { RedactionClass } from '../../api/redaction.ts';
import type { Replacement } from '../../api/replacements.ts';
import type { NamedRegion } from '../../api/residency-rule.ts';
import { tagsOfText, textOfTags } from '../../api/tags.ts';
import { aliasesOf, textOfAliases } from './aliases.ts';
import type { ApiKey, KeySettings, Scope } from './calls.ts';
import { ceilingsOf, textOfCeilings } from './ceilings.ts';

/** Money and every other integer of a row arrive as bigint. */
export interface KeyRow extends Record<KeyLimitName, bigint | null> {
  id: string;
  organisationId: string;
  name: string;
  display: string;
  createdAt: string;
  revokedAt: string | null;
  expiresAt: string | null;
  scopes: string;
  models: string | null;
  origins: string | null;
  dailySpendMicroUsdMax: bigint | null;
  regions: string | null;
  retention: 'none' | null;
  latency: Latency | null;
  organisationRegions: string | null;
  organisationRetention: 'none' | null;
  redact: string | null;
  organisationRedact: string | null;
  replace: string | null;
  aliases: string | null;
  spendCeilings: string | null;
  hasCeilings: bigint;
  organisationAliases: string | null;
  tags: string | null;
  organisationUnlimited: bigint;
  organisationShowsTranscripts: bigint;
  graceUntil: string | null;
  rolledTo: string | null;
  lastUsedAt: string | null;
  makerId: string | null;
  maker: string | null;
  suspended: bigint;
}

const KEY_LIMIT_NAMES = Object.keys(KEY_LIMITS) as KeyLimitName[];

/** Statements that begin so need `safeIntegers`. */
export const SELECT_KEYS = `
  SELECT api_keys.id, organisation_id AS organisationId, api_keys.name, display, api_keys.created_at AS createdAt,
         revoked_at AS revokedAt, expires_at AS expiresAt, scopes, models, origins,
         ${KEY_LIMIT_NAMES.map((name) => `${KEY_LIMITS[name].member} AS ${name}`).join(', ')}, daily_spend_micro_usd_max AS dailySpendMicroUsdMax,
         api_keys.regions, api_keys.retention, latency, organisations.regions AS organisationRegions,
         organisations.retention AS organisationRetention,
         api_keys.redact, organisations.redact AS organisationRedact, replacements AS replace,
         api_keys.aliases, organisations.aliases AS organisationAliases, api_keys.tags, api_keys.spend_ceilings AS spendCeilings,
         EXISTS (SELECT 1 FROM spend_ceilings WHERE scope IN ('gateway', organisation_id, api_keys.id)) AS hasCeilings,
         credit_limit_micro_usd IS NULL AS organisationUnlimited,
         organisations.show_transcripts AS organisationShowsTranscripts,
         grace_until AS graceUntil, rolled_to AS rolledTo, last_used_at AS lastUsedAt,
         made_by AS makerId, people.email AS maker, suspended_at IS NOT NULL AS suspended
  FROM api_keys JOIN organisations ON organisations.id = organisation_id LEFT JOIN people ON people.id = made_by`;

/** The columns of the settings, with the names under which `settingsToRow` gives their values. */
export const SETTING_COLUMNS: Readonly<Record<keyof KeySettings, string>> = {
  name: 'name',
  expiresAt: 'expires_at',
  scopes: 'scopes',
  models: 'models',
  origins: 'origins',
  ...eachKeyLimit('name', ({ member }) => member),
  dailySpendMicroUsdMax: 'daily_spend_micro_usd_max',
  spendCeilings: 'spend_ceilings',
  regions: 'regions',
  retention: 'retention',
  redact: 'redact',
  replace: 'replacements',
  latency: 'latency',
  aliases: 'aliases',
  tags: 'tags',
};

type InRow =
  | 'name'
  | 'expiresAt'
  | 'scopes'
  | 'models'
  | 'origins'
  | 'regions'
  | 'redact'
  | 'replace'
  | 'aliases'
  | 'spendCeilings'
  | 'tags';
export type SettingsRow = Pick<KeyRow, InRow> & Omit<KeySettings, InRow>;

export function settingsToRow(settings: KeySettings): SettingsRow {
  const { scopes, models, origins, regions, redact, replace, aliases, spendCeilings, tags, ...plain } = settings;
  return {
    ...plain,
    scopes: JSON.stringify(scopes),
    models: textOfList(models),
    origins: textOfList(origins),
    regions: textOfList(regions),
    redact: textOfList(redact),
    replace: replace === null ? null : JSON.stringify(replace),
    aliases: textOfAliases(aliases),
    spendCeilings: textOfCeilings(spendCeilings),
    tags: tags === null ? null : textOfTags(tags),
  };
}

export function keyOf(row: KeyRow): ApiKey {
  return {
    ...row,
    scopes: JSON.parse(row.scopes) as Scope[],
    models: listOf(row.models),
    origins: listOf(row.origins),
    regions: listOf<NamedRegion>(row.regions),
    organisationRegions: listOf<NamedRegion>(row.organisationRegions),
    redact: listOf<RedactionClass>(row.redact),
    organisationRedact: listOf<RedactionClass>(row.organisationRedact),
    replace: row.replace === null ? null : (JSON.parse(row.replace) as Replacement[]),
    aliases: aliasesOf(row.aliases),
    organisationAliases: aliasesOf(row.organisationAliases),
    spendCeilings: ceilingsOf(row.spendCeilings),
    hasCeilings: row.hasCeilings !== 0n,
    tags: row.tags === null ? null : tagsOfText(row.tags),
    ...eachKeyLimit('name', (_, name) => numberOf(row[name])),
    suspended: row.suspended !== 0n,
    organisationUnlimited: row.organisationUnlimited !== 0n,
    organisationShowsTranscripts: row.organisationShowsTranscripts !== 0n,
  };
}

/** The settings of a key, without what became of it. */
export function settingsOf(key: ApiKey): KeySettings {
  const names = Object.keys(SETTING_COLUMNS) as (keyof KeySettings)[];
  return Object.fromEntries(names.map((name) => [name, key[name]])) as unknown as KeySettings;
}

export function listOf<Item extends string>(text: string | null): Item[] | null {
  return text === null ? null : (JSON.parse(text) as Item[]);
}

export const textOfList = (list: readonly string[] | null): string | null =>
  list === null ? null : JSON.stringify(list);

function numberOf(value: bigint | null): number | null {
  return value === null ? null : Number(value);
}
