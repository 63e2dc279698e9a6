// The console's endpoints for API keys. The organisation is always that of the session; whether settings can be had is decided
// by the store, which also writes the audit log.

import { EmptyBody, KeyBody, type KeyView, ROLL_GRACE_SECONDS, RollBody } from '../../api/console/console.ts';
import { eachKeyLimit } from '../../api/console/key-limits.ts';
import { apiError } from '../../api/errors.ts';
import type { Aliases } from '../../api/listen.ts';
import { checkedReplacements, type Replacement } from '../../api/replacements.ts';
import { nearestSlugs } from '../../api/slug.ts';
import { type Tags, tagsFault } from '../../api/tags.ts';
import { microUsdOf, usdOf } from '../../config/prices/price.ts';
import { json, type Route } from '../../http/router.ts';
import {
  type ConsoleContext,
  type ConsoleRoute,
  readBody,
  SETTINGS_BYTES_MAX,
} from '../console-login/console-route.ts';
import { requireRoleOverOthers } from '../console-login/roles.ts';
import { checkedAliases } from './aliases.ts';
import type { ApiKey, KeySettings, KeyStore } from './calls.ts';

const MODEL_OR_PROVIDER = /^[\w.-]+\/([\w./-]+|\*)$/;

/** Keys that work, those in their grace too, of one organisation. */
export const ACTIVE_KEYS_MAX = 100;

export interface KeyRoutesDependencies {
  store: Pick<KeyStore, 'findKey' | 'listKeys' | 'createKey' | 'changeKey' | 'rollKey' | 'revokeKey'>;
  consoleRoute: ConsoleRoute;
  /** Slugs that aliases may name; any when absent. */
  models?: readonly string[] | undefined;
  /** Wall-clock milliseconds. */
  nowMs(): number;
  /** What is remembered of the key is old now. */
  onKeyChanged(keyId: string): void;
}

export function keyRoutes(dependencies: KeyRoutesDependencies): Route[] {
  const { consoleRoute } = dependencies;
  const verified = { verified: true };
  const confirmed = { verified: true, confirmed: true };
  return [
    consoleRoute('GET keys', list(dependencies), verified),
    consoleRoute('POST keys', mint(dependencies), confirmed),
    consoleRoute('PATCH keys/:id', change(dependencies), confirmed),
    // Without asking for the password: revoking a leaked key is urgent.
    consoleRoute('DELETE keys/:id', revoke(dependencies), verified),
    consoleRoute('POST keys/:id/roll', roll(dependencies), confirmed),
  ];
}

const list =
  ({ store, nowMs }: KeyRoutesDependencies) =>
  async ({ organisationId }: ConsoleContext) => {
    const keys = await store.listKeys(organisationId);
    return json(200, { data: keys.map((key) => viewOf(key, nowMs())) });
  };

const mint =
  ({ store, models, nowMs }: KeyRoutesDependencies) =>
  async ({ request, organisationId, by }: ConsoleContext) => {
    const settings = settingsOf(await readBody(request, KeyBody, SETTINGS_BYTES_MAX), models);
    const { key, secret } = await store.createKey(organisationId, settings, by, ACTIVE_KEYS_MAX);
    return json(201, { key: viewOf(key, nowMs()), secret });
  };

const change =
  ({ store, models, nowMs, onKeyChanged }: KeyRoutesDependencies) =>
  async ({ request, params, organisationId, by }: ConsoleContext) => {
    const body = await readBody(request, KeyBody, SETTINGS_BYTES_MAX);
    const before = await store.findKey(organisationId, params.id ?? '');
    const settings = settingsOf(body, models, before?.models ?? []);
    const key = await store.changeKey(organisationId, params.id ?? '', settings, by, ACTIVE_KEYS_MAX);
    if (key === undefined) throw noKey();
    onKeyChanged(key.id);
    return json(200, { key: viewOf(key, nowMs()) });
  };

const roll =
  ({ store, nowMs, onKeyChanged }: KeyRoutesDependencies) =>
  async ({ request, params, current, organisationId, by }: ConsoleContext) => {
    const { grace_seconds: seconds = ROLL_GRACE_SECONDS.default } = await readBody(request, RollBody);
    requireRoleOverOthers('POST keys/:id/roll', current, await makerOf(store, organisationId, params.id));
    const rolled = await store.rollKey(organisationId, params.id ?? '', seconds * 1000, by, ACTIVE_KEYS_MAX);
    if (rolled === undefined) throw noKey();
    const { key, secret, old } = rolled;
    onKeyChanged(old.id);
    return json(201, { key: viewOf(key, nowMs()), secret, old: viewOf(old, nowMs()) });
  };

const revoke =
  ({ store, nowMs }: KeyRoutesDependencies) =>
  async ({ request, params, current, organisationId, by }: ConsoleContext) => {
    await readBody(request, EmptyBody);
    requireRoleOverOthers('DELETE keys/:id', current, await makerOf(store, organisationId, params.id));
    const key = await store.revokeKey(organisationId, params.id ?? '', by);
    if (key === undefined) throw noKey();
    return json(200, { key: viewOf(key, nowMs()) });
  };

async function makerOf(
  store: Pick<KeyStore, 'findKey'>,
  organisationId: string,
  keyId: string | undefined,
): Promise<string | null> {
  const key = await store.findKey(organisationId, keyId ?? '');
  if (key === undefined) throw noKey();
  return key.makerId;
}

function noKey() {
  return apiError('not_found', 'There is no such key in use. GET /console/api/keys lists them.');
}

/** @param has models of the key so far: they may stay, though the catalogue may have dropped them */
function settingsOf(
  body: KeyBody,
  models: readonly string[] | undefined,
  has: readonly string[] = [],
): Partial<KeySettings> {
  requireKnown(body.models ?? [], models, has);
  const { daily_spend_usd_max: daily } = body;
  const settings = {
    name: body.name,
    expiresAt: body.expires_at,
    scopes: body.scopes,
    models: body.models,
    origins: body.origins,
    regions: body.regions,
    retention: body.retention,
    redact: body.redact,
    replace: body.replace && wellFormedRules(body.replace),
    latency: body.latency,
    aliases: body.aliases && knownAliases(checkedAliases(body.aliases), models),
    tags: body.tags && wellFormedTags(body.tags),
    ...eachKeyLimit('name', ({ member }) => body[member]),
    spendCeilings: body.spend_ceilings,
    dailySpendMicroUsdMax: typeof daily === 'string' ? microUsdOf(daily) : daily,
  };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

/** Throws an ApiError with the nearest to a model, or a whole provider, that there is not. The form of each is the store's to check. */
function requireKnown(asked: readonly string[], models: readonly string[] | undefined, has: readonly string[]): void {
  if (models === undefined) return;
  const known = [...models, ...new Set(models.map((slug) => `${slug.slice(0, slug.indexOf('/'))}/*`))];
  const unknown = asked.find((each) => MODEL_OR_PROVIDER.test(each) && !known.includes(each) && !has.includes(each));
  if (unknown === undefined) return;
  const [nearest] = nearestSlugs(unknown, known, 1);
  const hint = nearest === undefined ? 'The page “Models” lists them' : `The nearest is ${nearest}`;
  throw apiError('invalid_request', `There is no model ${unknown}. ${hint}.`, { param: 'models' });
}

/** Throws an ApiError with the nearest model to one that there is not. */
function knownAliases(aliases: Aliases | null, models: readonly string[] | undefined): Aliases | null {
  for (const [name, chain] of Object.entries(aliases ?? {})) {
    const unknown = models && chain.find(({ model }) => !models.includes(model))?.model;
    if (unknown === undefined) continue;
    const [nearest] = nearestSlugs(unknown, models ?? [], 1);
    const hint = nearest === undefined ? 'The page “Models” lists them' : `The nearest is ${nearest}`;
    const words = `There is no model ${unknown}, for which the alias ${JSON.stringify(name)} would stand. ${hint}.`;
    throw apiError('invalid_request', words, { param: 'aliases' });
  }
  return aliases;
}

/** Throws an ApiError for what is wrong with them. */
function wellFormedTags(tags: Tags): Tags {
  const fault = tagsFault(tags);
  if (fault === undefined) return tags;
  throw apiError('invalid_request', `\`tags\` ${fault}`, { param: 'tags' });
}

/** The same. */
function wellFormedRules(given: readonly Replacement[]): readonly Replacement[] {
  const { rules, fault } = { rules: [], ...checkedReplacements(given) };
  if (fault === undefined) return rules;
  throw apiError('invalid_request', `\`replace\` ${fault}`, { param: 'replace' });
}

/** What a key is good for at a time. */
export function statusOf({ revokedAt, graceUntil, expiresAt }: ApiKey, nowMs: number): KeyView['status'] {
  const isOver = (end: string | null) => end !== null && Date.parse(end) <= nowMs;
  if (revokedAt !== null || isOver(graceUntil)) return 'revoked';
  if (isOver(expiresAt)) return 'expired';
  return graceUntil === null ? 'active' : 'rolled';
}

function viewOf(key: ApiKey, nowMs: number): KeyView {
  return {
    id: key.id,
    name: key.name,
    display: key.display,
    status: statusOf(key, nowMs),
    created_at: key.createdAt,
    expires_at: key.expiresAt,
    revoked_at: key.revokedAt,
    grace_until: key.graceUntil,
    rolled_to: key.rolledTo,
    last_used_at: key.lastUsedAt,
    made_by: key.makerId === null ? null : { id: key.makerId, email: key.maker },
    scopes: key.scopes,
    models: key.models,
    origins: key.origins,
    regions: key.regions,
    retention: key.retention,
    redact: key.redact ?? null,
    replace: key.replace ?? null,
    latency: key.latency ?? null,
    aliases: key.aliases ?? null,
    tags: key.tags ?? null,
    ...eachKeyLimit('member', (_, name) => key[name]),
    spend_ceilings: key.spendCeilings ?? null,
    daily_spend_usd_max: key.dailySpendMicroUsdMax === null ? null : usdOf(key.dailySpendMicroUsdMax),
  };
}
