// What a caller's key allows: kinds of work, models, and the pages it may be used from. Who the caller is was decided before.
import { apiError, printable } from '../../api/errors.ts';
import { classesOf, type RedactionClass } from '../../api/redaction.ts';
import type { Replacement } from '../../api/replacements.ts';
import type { RequestLimits } from '../../api/request-limits.ts';
import { type DataResidencyRule, FREE_RULE } from '../../api/residency-rule.ts';
import { ownerOf } from '../../api/slug.ts';
import type { Tags } from '../../api/tags.ts';
import type { AskedRule } from '../../vendors/kit/place-rules.ts';
import type { ApiKey, Scope } from '../keys/calls.ts';
import type { TokenLimits } from './token.ts';

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
  /** What the client token is limited to, beside its key. Absent for one without limits. */
  token?: TokenLimits & { expiresAtMs: number };
  /** Of the token, where it has some. */
  tags?: Tags | undefined;
  /** Replacement rules of the token, where it has some. */
  replace?: readonly Replacement[] | undefined;
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

/** What is written in another way for the caller: as the request says, then as its client token does, then as its key does. */
export function replacementsFor(
  { key, replace: ofToken }: Pick<Caller, 'key' | 'replace'>,
  asked?: readonly Replacement[],
): readonly Replacement[] | undefined {
  if (ofToken === undefined && !key.replace) return asked;
  return [...(asked ?? []), ...(ofToken ?? []), ...(key.replace ?? [])];
}

/** Whether the ledger grants every hold of the key: nothing limits its spend, and its organisation has no credit limit. */
export const isUnlimited = ({ key }: Pick<Caller, 'key'>): boolean =>
  key.organisationUnlimited === true && key.dailySpendMicroUsdMax === null && key.hasCeilings !== true;

/** Throws an ApiError `scope_not_allowed` that names the scope. */
export function requireScope({ key }: Pick<Caller, 'key'>, scope: Scope): void {
  if (!key.scopes.includes(scope)) throw scopeNotAllowed(scope);
}

export function scopeNotAllowed(scope: Scope) {
  return apiError(
    'scope_not_allowed',
    `The API key does not allow ${WORK[scope]}. It needs the scope \`${scope}\`: add it to the key, or use another key.`,
  );
}

/**
 * Every member of a chain, the first one being `model` and the others `fallbacks`. Throws an ApiError `model_not_allowed`
 * naming the first slug that the key does not allow.
 */
export function requireModels({ key, token }: Pick<Caller, 'key' | 'token'>, slugs: readonly string[]): void {
  requireIn(key.models, slugs, 'API key');
  if (token?.models !== undefined) requireIn(token.models, slugs, 'client token');
}

function requireIn(models: readonly string[] | null, slugs: readonly string[], credential: string): void {
  const index = slugs.findIndex((slug) => !isIn(models, slug));
  if (models === null || index === -1) return;
  const shown = models.slice(0, MODELS_SHOWN_MAX).join(', ');
  const more = models.length > MODELS_SHOWN_MAX ? ` and ${models.length - MODELS_SHOWN_MAX} more` : '';
  throw apiError(
    'model_not_allowed',
    `The ${credential} does not allow the model ${printable(slugs[index]!)}; it allows ${shown === '' ? 'none' : shown}${more}.`,
    { param: index === 0 ? 'model' : 'fallbacks' },
  );
}

const isIn = (models: readonly string[] | null, slug: string): boolean =>
  models === null || models.includes(slug) || models.includes(`${ownerOf(slug)}/*`);

export const allowsModel = ({ key, token }: Pick<Caller, 'key' | 'token'>, slug: string): boolean =>
  isIn(key.models, slug) && isIn(token?.models ?? null, slug);

/** What a client token lets each request spend; undefined without such a limit. */
export function spendOf({ token }: Pick<Caller, 'token'>): RequestLimits | undefined {
  if (token === undefined) return undefined;
  const { maxSeconds, maxMicroUsd } = token;
  return maxSeconds === undefined && maxMicroUsd === undefined ? undefined : { maxSeconds, maxMicroUsd };
}

/** What of a request decides which languages are transcribed. */
export interface RequestedLanguages {
  language: string | undefined;
  common?: { languages?: readonly string[] | undefined } | undefined;
  providerParams: Readonly<Record<string, unknown>>;
  fallbacks: readonly { provider_params?: Readonly<Record<string, unknown>> | undefined }[];
}

/** Names of providers' own options that choose a language. */
const LANGUAGE_OPTION = /"[^"]*(?:lang|locale)[^"]*":/i;

/**
 * A client token that is limited to languages is used for one of them, which the request names. Throws an ApiError
 * `language_not_allowed`.
 */
export function requireLanguages({ token }: Pick<Caller, 'token'>, request: RequestedLanguages): void {
  const allowed = token?.languages;
  if (allowed === undefined) return;
  const { language, common, providerParams, fallbacks } = request;
  const named = [...(language === undefined ? [] : [language]), ...(common?.languages ?? [])];
  const other = named.find((each) => !allowed.some((tag) => isOfLanguage(each, tag)));
  const list = allowed.join(', ');
  if (other !== undefined || language === undefined)
    throw languageNotAllowed(
      other === undefined
        ? `The request names no \`language\`; the client token allows ${list}.`
        : `The client token does not allow the language ${printable(other)}; it allows ${list}.`,
      'language',
    );
  const options = [providerParams, ...fallbacks.map((fallback) => fallback.provider_params ?? {})];
  if (options.some((each) => LANGUAGE_OPTION.test(JSON.stringify(each))))
    throw languageNotAllowed(
      'The client token limits the language, so provider options cannot choose one. Use `language`.',
      'provider_params',
    );
}

const languageNotAllowed = (message: string, param: string) => apiError('language_not_allowed', message, { param });

/** `en` includes `en-US`. */
function isOfLanguage(language: string, tag: string): boolean {
  const [one, other] = [language.toLowerCase(), tag.toLowerCase()];
  return one === other || one.startsWith(`${other}-`);
}

/** The operator's last resort, where the caller may use it. */
export const lastResortFor = (caller: Pick<Caller, 'key' | 'token'>, slug: string | undefined): string | undefined =>
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
