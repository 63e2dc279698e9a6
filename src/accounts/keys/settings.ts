// Checks the settings of a key and normalises them.
import { LATENCIES, type Latency } from '../../api/bounds.ts';
import { eachKeyLimit } from '../../api/console/key-limits.ts';
import { isRedactionClass, REDACTION_CLASSES, type RedactionClass } from '../../api/redaction.ts';
import { checkedReplacements, type Replacement } from '../../api/replacements.ts';
import { type NamedRegion, REGIONS, regionsIn } from '../../api/residency-rule.ts';
import { isSlug } from '../../api/slug.ts';
import { READABLE_NAME, type Tags, tagsFault } from '../../api/tags.ts';
import { StoreError } from '../../store/store-error.ts';
import { checkedAliases } from './aliases.ts';
import { DEFAULT_SCOPES, type KeySettings, SCOPES, type Scope } from './calls.ts';
import { checkedCeilings } from './ceilings.ts';

const ALL_MODELS_OF_PROVIDER = /^[a-z0-9][a-z0-9-]{0,31}\/\*$/;
const UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/;
const LIST_MAX = 100;
const ORIGIN_LENGTH_MAX = 300;
const QUOTED_MAX = 60;
/** What the database's integers hold. */
const MICRO_USD_MAX = 2n ** 63n - 1n;

/** The settings of a key of which nothing is said. */
export const DEFAULT_SETTINGS: KeySettings = {
  name: 'key',
  expiresAt: null,
  scopes: DEFAULT_SCOPES,
  models: null,
  origins: null,
  ...eachKeyLimit('name', () => null),
  dailySpendMicroUsdMax: null,
  spendCeilings: null,
  regions: null,
  retention: null,
  redact: null,
  replace: null,
  latency: null,
  aliases: null,
  tags: null,
};

const CHECKS: { readonly [Name in keyof KeySettings]: (value: unknown, nowMs: number) => KeySettings[Name] } = {
  name: (value) => checkedName(value, 'key'),
  expiresAt: (value, nowMs) => (value === null ? null : checkedExpiry(value, nowMs)),
  scopes: checkedScopes,
  models: (value) =>
    value === null
      ? null
      : checkedList(value, isModelPattern, 'models', 'a slug such as `deepgram/nova-3`, or `deepgram/*`'),
  origins: (value) =>
    value === null
      ? null
      : checkedList(value, isOrigin, 'origins', 'an exact origin such as `https://app.example.com`'),
  ...eachKeyLimit(
    'name',
    ({ noun }) =>
      (value: unknown) =>
        checkedLimit(value, noun),
  ),
  dailySpendMicroUsdMax: (value) => checkedMicroUsd(value, 'daily spend of a key'),
  spendCeilings: checkedCeilings,
  regions: checkedRegions,
  retention: checkedRetention,
  redact: checkedRedaction,
  replace: checkedReplace,
  latency: checkedLatency,
  aliases: checkedAliases,
  tags: checkedTags,
};

export const SETTING_NAMES = Object.keys(CHECKS) as (keyof KeySettings)[];

/**
 * The settings that are given, in the form in which they are kept; what is absent or undefined is left out.
 *
 * @throws StoreError `invalid`, with a sentence that names the setting
 */
export function checkedSettings(settings: Partial<KeySettings>, nowMs: number): Partial<KeySettings> {
  const given = SETTING_NAMES.filter((name) => settings[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, CHECKS[name](settings[name], nowMs)]));
}

/** What people call something: also others read it, on pages and in bills. */
export function checkedName(value: unknown, owner: 'key' | 'organisation' | 'provider key'): string {
  if (typeof value === 'string' && READABLE_NAME.test(value)) return value;
  throw invalid(
    `The name of ${owner === 'organisation' ? 'an' : 'a'} ${owner} cannot be used; it is a text of 1 to 100 characters without control characters.`,
  );
}

/** @param what such as `credit limit` */
export function checkedMicroUsd(value: unknown, what: string): bigint | null {
  if (value === null) return null;
  if (typeof value === 'bigint' && value >= 0n && value <= MICRO_USD_MAX) return value;
  throw invalid(`The ${what} is a whole number of micro-USD from 0 up, or null for none.`);
}

export function checkedRegions(value: unknown): NamedRegion[] | null {
  if (value === null) return null;
  const regions = Array.isArray(value) && value.length > 0 ? regionsIn(value.join(',')) : undefined;
  if (regions !== undefined) return regions;
  throw invalid(`The regions are a list of one or more of ${REGIONS.join(', ')}, or null for all.`);
}

export function checkedRetention(value: unknown): 'none' | null {
  if (value === null || value === 'none') return value;
  throw invalid('The retention is `none`, or null where anything may be kept.');
}

export function checkedRedaction(value: unknown): readonly RedactionClass[] | null {
  if (value === null) return null;
  if (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((each) => typeof each === 'string' && isRedactionClass(each))
  )
    return REDACTION_CLASSES.filter((each) => value.includes(each));
  throw invalid(
    `The classes to redact are a list of one or more of ${REDACTION_CLASSES.join(', ')}, or null for none.`,
  );
}

function checkedReplace(value: unknown): readonly Replacement[] | null {
  if (value === null) return null;
  const { rules, fault } = { rules: [], ...checkedReplacements(value) };
  if (fault !== undefined) throw invalid(`\`replace\` ${fault}`);
  return rules.length === 0 ? null : rules;
}

function checkedTags(value: unknown): Tags | null {
  if (value === null) return null;
  const fault = tagsFault(value);
  if (fault !== undefined) throw invalid(`\`tags\` ${fault}`);
  return Object.keys(value as Tags).length === 0 ? null : (value as Tags);
}

function checkedLatency(value: unknown): Latency | null {
  if (value === null || LATENCIES.some((latency) => latency === value)) return value as Latency | null;
  throw invalid(`The latency is one of ${LATENCIES.join(', ')}, or null for the gateway's own setting.`);
}

function checkedExpiry(value: unknown, nowMs: number): string {
  const atMs = typeof value === 'string' && UTC.test(value) ? Date.parse(value) : Number.NaN;
  // A day that its month does not have would be read as one of the next month.
  const isDay = !Number.isNaN(atMs) && new Date(atMs).toISOString().slice(0, 19) === String(value).slice(0, 19);
  if (!isDay) throw invalid('The expiry of a key is a time by UTC such as `2030-01-31T12:00:00Z`, or null for none.');
  if (atMs <= nowMs) throw invalid('The expiry of a key is in the future; to end a key now, revoke it.');
  return new Date(atMs).toISOString();
}

function checkedScopes(value: unknown): readonly Scope[] {
  const all = SCOPES.join(', ');
  if (!Array.isArray(value) || value.length === 0) throw invalid(`The scopes of a key are one or more of ${all}.`);
  const unknown = value.find((scope) => !SCOPES.includes(scope as Scope));
  if (unknown !== undefined) throw invalid(`There is no scope ${quoted(unknown)}; the scopes are ${all}.`);
  return SCOPES.filter((scope) => value.includes(scope));
}

function checkedList(value: unknown, isGood: (item: string) => boolean, what: string, form: string): string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > LIST_MAX) {
    throw invalid(`The ${what} of a key are a list of 1 to ${LIST_MAX}, or null for all.`);
  }
  for (const item of value) {
    if (typeof item !== 'string' || !isGood(item)) {
      throw invalid(`${quoted(item)} is none of the ${what} that a key can be limited to; each is ${form}.`);
    }
  }
  return [...new Set(value as string[])];
}

function isModelPattern(text: string): boolean {
  return isSlug(text) || ALL_MODELS_OF_PROVIDER.test(text);
}

/** As a browser sends it: lower case, no path, no port where it is the scheme's own. */
function isOrigin(text: string): boolean {
  if (text.length > ORIGIN_LENGTH_MAX || text.includes('*') || !URL.canParse(text)) return false;
  const { protocol, host } = new URL(text);
  return host !== '' && `${protocol}//${host}` === text;
}

function checkedLimit(value: unknown, what: string): number | null {
  if (value === null) return null;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1) return value;
  throw invalid(`The limit of ${what} of a key is a whole number from 1 up, or null for the node's own limit.`);
}

function quoted(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, QUOTED_MAX)) : `A ${typeof value}`;
}

function invalid(message: string): StoreError {
  return new StoreError('invalid', message);
}
