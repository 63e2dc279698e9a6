// What a caller's key allows: kinds of work, models, and the pages it may be used from. Who the caller is was decided before.
import { apiError, printable } from '../../api/errors.ts';
import { classesOf, type RedactionClass } from '../../api/redaction.ts';
import { type DataResidencyRule, FREE_RULE } from '../../api/residency-rule.ts';
import { ownerOf } from '../../api/slug.ts';
import type { AskedRule } from '../../vendors/kit/place-rules.ts';
import type { ApiKey, Scope } from '../keys/calls.ts';

const MODELS_SHOWN_MAX = 10;

/** On whose behalf a request is made. A token's caller has the organisation, the bill and the limits of the key `keyId`. */
export interface Caller {
  organisationId: string;
  keyId: string;
  /** For a token the key that minted it. */
  key: ApiKey;
  via: 'key' | 'token';
  /** Only with `via: 'token'`. */
  tokenId?: string;
}

const WORK: Readonly<Record<Scope, string>> = {
  listen: 'live sessions',
  transcribe: 'transcribing files',
  tokens: 'minting client tokens',
  tokens_may_upload: 'transcribing files with its client tokens',
  webhooks: 'managing webhooks',
};

/** Where audio may go: what is asked for can only be narrower than what the key and its organisation allow. */
export const residencyRulesOf = (
  { key }: Pick<Caller, 'key'>,
  asked: DataResidencyRule = FREE_RULE,
): readonly AskedRule[] => [
  { by: 'the request', ...asked },
  // A node of an older version answers without these.
  { by: 'the API key', regions: key.regions ?? null, retention: key.retention ?? null },
  {
    by: 'the organisation',
    regions: key.organisationRegions ?? null,
    retention: key.organisationRetention ?? null,
  },
];

/** What the gateway redacts for the caller: what is requested, and what its key and its organisation demand in addition. */
export const redactedFor = (
  { key }: Pick<Caller, 'key'>,
  asked?: readonly RedactionClass[],
): readonly RedactionClass[] | undefined => classesOf(asked, key.redact, key.organisationRedact);

/** Whether the ledger grants every hold of the key: it has no spending limit, and its organisation no credit limit. */
export const isUnlimited = ({ key }: Pick<Caller, 'key'>): boolean =>
  key.organisationUnlimited === true && key.dailySpendMicroUsdMax === null;

/** Throws an ApiError `scope_not_allowed` that names the scope. */
export function requireScope({ key }: Pick<Caller, 'key'>, scope: Scope): void {
  if (!key.scopes.includes(scope)) throw scopeNotAllowed(scope);
}

export function scopeNotAllowed(scope: Scope) {
  return apiError(
    'scope_not_allowed',
    `The API key does not allow ${WORK[scope]}. That takes the scope \`${scope}\`: give it to the key, or use another key.`,
  );
}

/**
 * Every member of a chain, the first one being `model` and the others `fallbacks`. Throws an ApiError `model_not_allowed`
 * naming the first slug that the key does not allow.
 */
export function requireModels(caller: Pick<Caller, 'key'>, slugs: readonly string[]): void {
  const { models } = caller.key;
  const index = slugs.findIndex((slug) => !allowsModel(caller, slug));
  if (models === null || index === -1) return;
  const shown = models.slice(0, MODELS_SHOWN_MAX).join(', ');
  const more = models.length > MODELS_SHOWN_MAX ? ` and ${models.length - MODELS_SHOWN_MAX} more` : '';
  throw apiError(
    'model_not_allowed',
    `The API key does not allow the model ${printable(slugs[index]!)}; it allows ${shown === '' ? 'none' : shown}${more}.`,
    { param: index === 0 ? 'model' : 'fallbacks' },
  );
}

export function allowsModel({ key: { models } }: Pick<Caller, 'key'>, slug: string): boolean {
  return models === null || models.includes(slug) || models.includes(`${ownerOf(slug)}/*`);
}

/** The operator's last resort, where the caller may use it. */
export const lastResortFor = (caller: Pick<Caller, 'key'>, slug: string | undefined): string | undefined =>
  slug !== undefined && allowsModel(caller, slug) ? slug : undefined;

/**
 * A key with a list of origins is used from pages of those origins, or from a server, which sends no origin. Its tokens are
 * for pages: without an origin they are refused. Throws an ApiError `origin_not_allowed`.
 */
export function requireOrigin({ key, via }: Pick<Caller, 'key' | 'via'>, origin: string | undefined): void {
  if (key.origins === null) return;
  if (origin === undefined ? via === 'key' : key.origins.includes(origin)) return;
  const which =
    origin === undefined
      ? 'The client token may be used from certain pages only, and no `Origin` header was sent. Use it from a browser'
      : `The credential may not be used from pages of ${printable(origin)}. Add exactly that origin to the API key`;
  throw apiError('origin_not_allowed', `${which}, or use a key without a list of origins.`);
}
