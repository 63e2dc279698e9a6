// Organisations and their API keys: shapes and promises. What a key may do is decided by src/accounts/auth. Only a hash of the key is stored.

import type { Latency } from '../../api/bounds.ts';
import type { KeyLimitName } from '../../api/console/key-limits.ts';
import type { Aliases } from '../../api/listen.ts';
import { isServiceClass, type RedactionClass } from '../../api/redaction.ts';
import type { Replacement } from '../../api/replacements.ts';
import type { DataResidencyRule } from '../../api/residency-rule.ts';
import { hasOnlyUpTo, type SpendCeiling } from '../../api/spend-ceilings.ts';
import type { Tags } from '../../api/tags.ts';
import type { Actor } from '../../store/audit-log.ts';
import { OWN_SPEND_SINCE, TAGS_SINCE } from '../../store/migrations.ts';
import {
  type Asynchronous,
  drawing,
  first,
  none,
  notes,
  type Operations,
  reads,
  writes,
} from '../../store/operation.ts';

export interface Organisation {
  id: string;
  name: string;
  /** ISO 8601 UTC. */
  createdAt: string;
  /** Set while everything of the organisation is refused. */
  suspendedAt: string | null;
  /**
   * How far the balance may go below zero, in micro-USD: 0 for prepaid, null without a limit (the operator's own
   * organisation, and those that pay by invoice).
   */
  creditLimitMicroUsd: bigint | null;
  /** Where audio of its requests may go, and whether anything may be kept of it. */
  regions: DataResidencyRule['regions'];
  retention: DataResidencyRule['retention'];
  /** What the gateway redacts in the text of all its requests. A request cannot remove any of it. */
  redact: readonly RedactionClass[] | null;
  /** Of all its keys; a key's own go before them. */
  aliases: Aliases | null;
  /** Whether members see the text of finals in the console while they watch a live session, and that of completed jobs. */
  showTranscripts: boolean;
  /** The most that may be spent in each hour, day or month, by all its keys. */
  spendCeilings: readonly SpendCeiling[] | null;
}

/**
 * `listen`: live sessions. `transcribe`: files. `tokens`: minting client tokens. `tokens_may_upload`: files with those tokens. `webhooks`:
 * managing the webhooks of the organisation.
 */
export const SCOPES = ['listen', 'transcribe', 'tokens', 'tokens_may_upload', 'webhooks'] as const;
export type Scope = (typeof SCOPES)[number];
/** The version of the store that brought the scope `webhooks`. */
const WEBHOOKS_SINCE = 4;
/** The version of the store that brought client tokens for one use. */
const TOKENS_SINCE = 7;
/** The version of the store that brought ceilings on spend. */
const CEILINGS_SINCE = 7;

/** The version that brought redaction by the gateway. */
const REDACT_SINCE = 5;

/** The version that brought classes that a service finds. */
const SERVICE_CLASSES_SINCE = 11;

/** The version that brought replacement rules. */
const REPLACE_SINCE = 12;

/** The version of the store that knows the settings among the arguments of `createKey`, `changeKey` or `setRedactionRule`. */
export const sinceOfKey = (args: readonly unknown[]): number =>
  Math.max(...args.map((each) => sinceOfSettings((each ?? {}) as Partial<KeySettings>)));

const sinceOfSettings = ({ scopes, redact, replace, spendCeilings, tags }: Partial<KeySettings>): number => {
  if (hasOnlyUpTo(spendCeilings)) return OWN_SPEND_SINCE;
  // Other arguments are texts, which have a method of that name.
  if (Array.isArray(replace)) return REPLACE_SINCE;
  if (redact?.some(isServiceClass) === true) return SERVICE_CLASSES_SINCE;
  if (tags != null) return TAGS_SINCE;
  if (spendCeilings != null) return CEILINGS_SINCE;
  if (redact !== undefined) return REDACT_SINCE;
  return scopes?.includes('webhooks') ? WEBHOOKS_SINCE : 1;
};

/** Of a key of which nothing is said: its tokens are for live sessions alone. */
export const DEFAULT_SCOPES: readonly Scope[] = ['listen', 'transcribe', 'tokens'];

/** Settings of a key, chosen when it is created. `null`: the key has no limit of its own, and the node's default holds. */
export interface KeySettings extends Readonly<Record<KeyLimitName, number | null>> {
  name: string;
  /** ISO 8601 UTC. */
  expiresAt: string | null;
  scopes: readonly Scope[];
  /** Slugs, or `<provider>/*`. */
  models: readonly string[] | null;
  /** Exact origins such as `https://app.example.com` that a browser may use the key's tokens from. */
  origins: readonly string[] | null;
  /** Micro-USD a day, by UTC. */
  dailySpendMicroUsdMax: bigint | null;
  /** The most that may be spent in each hour, day or month. */
  spendCeilings: readonly SpendCeiling[] | null;
  /** Where audio of its requests may go, and whether anything may be kept of it. */
  regions: DataResidencyRule['regions'];
  retention: DataResidencyRule['retention'];
  /** What the gateway redacts in the text of its requests. A request cannot remove any of it. */
  redact: readonly RedactionClass[] | null;
  /** What is written in another way in the text of its requests, after the rules of the requests themselves. */
  replace: readonly Replacement[] | null;
  /** Of its live sessions that say nothing themselves; null for the gateway's own setting. */
  latency: Latency | null;
  /** Names that its requests may give for models. */
  aliases: Aliases | null;
  /** Of all its sessions, files and jobs; a request cannot change them. */
  tags: Tags | null;
}

/** A key as it may be shown. */
export interface ApiKey extends KeySettings {
  id: string;
  organisationId: string;
  /** The first 11 characters and the last 4 of the key. */
  display: string;
  createdAt: string;
  revokedAt: string | null;
  /** After a roll: until when the old key still works. ISO 8601 UTC. */
  graceUntil: string | null;
  /** The key that it was rolled to. */
  rolledTo: string | null;
  /** To the minute. */
  lastUsedAt: string | null;
  /** Who minted or rolled it in the console: the person's id, and the address, as long as there is the account. */
  makerId: string | null;
  maker: string | null;
  /** Whether its organisation is suspended. */
  suspended: boolean;
  /** Of all keys of its organisation. */
  organisationRegions: DataResidencyRule['regions'];
  organisationRetention: DataResidencyRule['retention'];
  organisationRedact: readonly RedactionClass[] | null;
  organisationAliases: Aliases | null;
  /** Whether there is a ceiling on the spend of the key, its organisation or the gateway. */
  hasCeilings?: boolean;
  /** Whether its organisation has no credit limit. Absent where a node of an older version answers. */
  organisationUnlimited?: boolean;
  /** Whether its organisation shows transcripts to its members. Absent where a node of an older version answers. */
  organisationShowsTranscripts?: boolean;
}

export type CreatedKey = { key: ApiKey; secret: string };

/** `atMs`: epoch milliseconds. `tokens`: client tokens minted since it was noted last; none when absent. */
export interface KeyUsed {
  keyId: string;
  atMs: number;
  tokens?: number;
}

export interface KeyCalls {
  /** The first organisation (without a credit limit) and key, made when the file has none; undefined otherwise. */
  bootstrap(): (CreatedKey & { organisation: Organisation }) | undefined;
  createOrganisation(name: string, creditLimitMicroUsd: bigint | null, by: Actor): Organisation;
  setCreditLimit(organisationId: string, creditLimitMicroUsd: bigint | null, by: Actor): Organisation;
  /** Suspended, everything of the organisation is refused until it is reinstated. The first time stays. Throws `not_found`. */
  setSuspended(organisationId: string, suspended: boolean, by: Actor): Organisation;
  /** Heeded by requests from then on, and by open sessions at their next connection to a provider. Throws `not_found`, `invalid`. */
  setPlaceRule(organisationId: string, rule: DataResidencyRule, by: Actor): Organisation;
  /** For requests from then on, and for sessions opened from then on. Throws `not_found`, `invalid`. */
  setRedactionRule(organisationId: string, rule: Pick<Organisation, 'redact'>, by: Actor): Organisation;
  /** All that it has afterwards; none takes them away. Throws `not_found`, `invalid`. */
  setAliases(organisationId: string, aliases: Aliases, by: Actor): Organisation;
  /** All that it has afterwards. Holds that are open count under them. Throws `not_found`, `invalid`. */
  setSpendCeilings(organisationId: string, ceilings: readonly SpendCeiling[], by: Actor): Organisation;
  /** For sessions opened from then on. Throws `not_found`. */
  setShowTranscripts(organisationId: string, show: boolean, by: Actor): Organisation;
  listOrganisations(): Organisation[];
  findOrganisation(organisationId: string): Organisation | undefined;
  /** Whether it is the gateway's own: the one that has the first key that was made. */
  isOperator(organisationId: string): boolean;
  /**
   * What is absent of the settings is without a limit; the name is `key` and all scopes are given. `activeMax`, here and
   * below: how many keys of the organisation may be in use after it, those in their grace too; throws `conflict` past it.
   */
  createKey(organisationId: string, settings: Partial<KeySettings>, by: Actor, activeMax?: number): CreatedKey;
  /** Looks a key up by the SHA-256 of its text, revoked ones too. */
  findKeyByHash(hash: Uint8Array): ApiKey | undefined;
  /** By key id, of any organisation when that is null. */
  findKey(organisationId: string | null, keyId: string): ApiKey | undefined;
  listKeys(organisationId?: string): ApiKey[];
  /** Undefined when the organisation has no such key. */
  changeKey(
    organisationId: string,
    keyId: string,
    settings: Partial<KeySettings>,
    by: Actor,
    activeMax?: number,
  ): ApiKey | undefined;
  /** A new key with the same settings; the old one works for so long, 0 to 72 h. Undefined when there is no such active key. */
  rollKey(
    organisationId: string,
    keyId: string,
    graceMs: number,
    by: Actor,
    activeMax?: number,
  ): (CreatedKey & { old: ApiKey }) | undefined;
  /**
   * Revokes by key id, of any organisation when that is null. Undefined when there is no such key; a key already revoked
   * keeps its first time.
   */
  revokeKey(organisationId: string | null, keyId: string, by: Actor): ApiKey | undefined;
  /**
   * When keys of the organisation were last used: kept to the minute, never going back. The audit log tells the first use of a
   * key on each day (UTC), and how many client tokens it minted.
   */
  noteKeysUsed(organisationId: string, used: readonly KeyUsed[]): void;
  /**
   * Uses up a client token for one use: true once, on any node. False after that, and long after its end. Throws `invalid`.
   */
  redeemToken(organisationId: string, tokenId: string, expiresAtMs: number): boolean;
  /** Ids of all revoked keys, for the tokens they minted. */
  revokedKeyIds(): string[];
}

/** The calls as the tables answer them. The tables never see the text of a key. */
export type KeyTableCalls = {
  readonly [Name in keyof KeyCalls]: (...args: Parameters<KeyCalls[Name]>) => Secretless<ReturnType<KeyCalls[Name]>>;
};

type Secretless<Answer> = Answer extends Pick<CreatedKey, 'secret'> ? Omit<Answer, 'secret'> : Answer;

/** An organisation that was suspended, or reinstated. */
export interface SuspensionChange {
  organisationId: string;
  suspended: boolean;
}

/** Changes of keys and organisations made by any process on the same file, reported soon after they happen and not by polling. */
export interface KeyEvents {
  onKeyRevoked(listener: (keyId: string) => void): () => void;
  onSuspension(listener: (change: SuspensionChange) => void): () => void;
}

export type KeyStore = Asynchronous<KeyCalls>;

export const KEY_OPERATIONS = {
  bootstrap: drawing({ ids: 2, key: true }, writes()),
  createOrganisation: drawing({ ids: 1 }, writes()),
  setCreditLimit: writes(),
  setSuspended: writes(),
  setPlaceRule: writes(first('text', 'object', 'object')),
  setRedactionRule: { ...writes(first('text', 'object', 'object')), since: REDACT_SINCE },
  setAliases: writes(first('text', 'object', 'object')),
  setShowTranscripts: writes(first('text', 'flag', 'object')),
  setSpendCeilings: { ...writes(first('text', 'list', 'object')), since: CEILINGS_SINCE },
  listOrganisations: reads(),
  findOrganisation: reads(first('text')),
  isOperator: reads(first('text')),
  createKey: drawing({ ids: 1, key: true }, writes(first('text', 'object', 'object', 'number?'))),
  findKeyByHash: reads(none('bytes')),
  findKey: reads(first('text', 'text')),
  listKeys: reads(first('text')),
  changeKey: writes(first('text', 'text', 'object', 'object', 'number?')),
  rollKey: drawing({ ids: 1, key: true }, writes(first('text', 'text', 'number', 'object', 'number?'))),
  revokeKey: writes(first('text', 'text', 'object')),
  noteKeysUsed: notes(first('text', 'list')),
  redeemToken: { ...writes(first('text', 'text', 'number')), since: TOKENS_SINCE },
  revokedKeyIds: reads(),
} as const satisfies Operations<KeyCalls>;
