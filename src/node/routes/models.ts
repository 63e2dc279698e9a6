// `GET /v1/models`, `GET /v1/models/{provider}/{model}`, and the same with the slash escaped, as client libraries write it.

import { Value } from '@sinclair/typebox/value';
import type { AliasedKey } from '../../accounts/auth/aliases.ts';
import type { Caller } from '../../accounts/auth/permissions.ts';
import type { OwnKey } from '../../accounts/vault/own-keys.ts';
import { apiError, printable } from '../../api/errors.ts';
import { Mode, type Model, ModelsQuery, type Price, SHORT_MEMBERS } from '../../api/models.ts';
import { type DataResidencyRule, FREE_RULE, isFree } from '../../api/residency-rule.ts';
import { modelOf, nearestSlugs, ownerOf } from '../../api/slug.ts';
import type { PriceList } from '../../config/prices/price-list.ts';
import { parseQuery } from '../../http/query.ts';
import { json, type RouteContext } from '../../http/router.ts';
import { knownOf, type OwnKeyOf } from '../../live/failover/chain-credential.ts';
import { LANGUAGE, readRule } from '../../live/socket/query.ts';
import { placed, shownProcessing } from '../../vendors/kit/places.ts';
import type { ModelCard, Provider, ProviderAccess } from '../../vendors/kit/provider.ts';
import { isServed } from '../../vendors/kit/served.ts';

export interface ModelsDependencies {
  providers: ReadonlyMap<string, Provider>;
  access(provider: string): ProviderAccess;
  /** Whether the service has a credential for that, here or on the node that would use it. Absent: here. */
  hasService?(provider: string, mode: Mode): boolean;
  /** What the models cost here; a mode without a price is not offered. */
  prices: PriceList;
  /** The caller's own keys; absent without a vault. */
  ownKeyOf?: OwnKeyOf;
  /** How a model is doing for an organisation, from its breakers; for all of them when absent. */
  statusOf(slug: string, organisationId?: string): Model['status'];
}

/**
 * The catalogue as clients see it: with the prices in force, and only the modes that have one. A caller's own key, by
 * provider, takes the place of the service's, and needs no price.
 */
export function listModels(
  { providers, access, hasService, prices, statusOf }: ModelsDependencies,
  ownKeys: ReadonlyMap<string, OwnKey> = new Map(),
  { mode, rule = FREE_RULE, fits = () => true }: Partial<ModelsFilter> = {},
  organisationId?: string,
): Model[] {
  return [...providers.values()].flatMap((provider) => {
    const own = ownKeys.get(provider.name);
    const isUsable = (mode: Mode) => hasService?.(provider.name, mode) ?? isServed(provider, access(provider.name));
    const known = own === undefined ? access(provider.name) : knownOf(own, access(provider.name));
    const isWithin = (card: ModelCard, each: Mode) =>
      (mode === undefined || mode === each) &&
      placed({ provider, card, mode: each, params: {}, access: known }, rule) !== undefined;
    const within = provider.models.filter((card) => isFree(rule) || card.modes.some((each) => isWithin(card, each)));
    const listed = within.map(
      ({
        priceSource: _,
        switching: __,
        liveCapabilities: ___,
        isWhisper: ____,
        isForOnePurpose: _____,
        live_turns,
        ...card
      }) => {
        const modes = card.modes.filter((mode) => own !== undefined || prices.priceOf(card.id, mode) !== undefined);
        return {
          ...card,
          processing: shownProcessing(card, known),
          object: 'model' as const,
          owned_by: ownerOf(card.id),
          modes,
          ...(modes.includes('live') ? { live_turns: live_turns ?? ('model' as const) } : {}),
          pricing: prices.shown(card.id),
          provider_params: provider.options(modelOf(card.id)),
          available: own === undefined ? modes.some(isUsable) : !own.barred && modes.length > 0,
          status: statusOf(card.id, organisationId),
        };
      },
    );
    return listed.filter(fits);
  });
}

/** The caller's aliases, each as its first model is, where that is listed. */
function listAliases({ aliases, organisationAliases }: AliasedKey, models: readonly Model[]): Model[] {
  return Object.entries({ ...organisationAliases, ...aliases }).flatMap(([id, chain]) => {
    const first = models.find((model) => model.id === chain[0]?.model);
    return first === undefined ? [] : [{ ...first, id, owned_by: 'alias' }];
  });
}

/** Who lists models: a caller with its key, or somebody in the console. */
type Lister = Pick<Caller, 'organisationId'> & Partial<Pick<Caller, 'key'>>;

async function modelsFor(caller: Lister, dependencies: ModelsDependencies, filter?: ModelsFilter): Promise<Model[]> {
  const { providers, ownKeyOf } = dependencies;
  const ownKeys = new Map<string, OwnKey>();
  for (const { name, credential } of providers.values()) {
    const own = credential === 'required' ? await ownKeyOf?.(caller.organisationId, name) : undefined;
    if (own !== undefined) ownKeys.set(name, own);
  }
  const models = listModels(dependencies, ownKeys, filter, caller.organisationId);
  return [...models, ...listAliases(caller.key ?? {}, models)];
}

const shortened = (model: Model): Partial<Model> =>
  Object.fromEntries(SHORT_MEMBERS.flatMap((name) => (name in model ? [[name, model[name]]] : [])));

export const getModels =
  (dependencies: ModelsDependencies) =>
  async ({ request }: RouteContext, caller: Lister) => {
    const filter = readModelsFilter(parseQuery(request.query));
    const models = await modelsFor(caller, dependencies, filter);
    return json(200, { object: 'list', data: filter.isShort ? models.map(shortened) : models });
  };

export const getModel =
  (dependencies: ModelsDependencies, provider?: string) =>
  async ({ params }: RouteContext, caller: Lister) => {
    const named = params.slug ?? `${params.provider}/${params.model}`;
    const slug = provider === undefined || named.includes('/') ? named : `${provider}/${named}`;
    const models = await modelsFor(caller, dependencies);
    const model = models.find((each) => each.id === slug);
    if (model !== undefined) return json(200, model);
    const nearest = nearestSlugs(
      slug,
      models.map((each) => each.id),
    );
    const hint = nearest.length > 0 ? `Did you mean ${nearest.join(', ')}?` : 'GET /v1/models lists them all.';
    throw apiError('model_not_found', `There is no such model. ${hint}`, { param: 'model' });
  };

// What is requested of a list of models: by mode, provider, language, price and place. Read from a query, and from a command's options.
export interface ModelsFilter {
  mode: Mode | undefined;
  rule: DataResidencyRule | undefined;
  isShort: boolean;
  fits(model: Model): boolean;
}

/** Throws an ApiError that names the parameter. */
export function readModelsFilter(query: ReadonlyMap<string, string>): ModelsFilter {
  const known = Object.keys(ModelsQuery.properties);
  for (const name of query.keys()) {
    if (known.includes(name)) continue;
    const message = `\`${printable(name)}\` is not a parameter of /v1/models. Known are ${known.join(', ')}.`;
    throw apiError('invalid_request', message, { param: printable(name) });
  }
  const mode = query.get('mode');
  if (mode !== undefined && !Value.Check(Mode, mode)) throw bad('mode', 'is batch or live');
  const language = query.get('language');
  if (language !== undefined && (language === 'auto' || !LANGUAGE.test(language)))
    throw bad('language', 'is a BCP-47 tag such as en or fr-CA');
  const maxPrice = query.get('max_price');
  if (maxPrice !== undefined && !Value.Check(ModelsQuery.properties.max_price, maxPrice))
    throw bad('max_price', 'is USD a minute, such as 0.005');
  const provider = query.get('provider');
  const available = query.get('available');
  if (available !== undefined && !Value.Check(ModelsQuery.properties.available, available))
    throw bad('available', 'is true or false');
  const view = query.get('view') ?? 'full';
  if (!Value.Check(ModelsQuery.properties.view, view)) throw bad('view', 'is full or short');
  return {
    mode,
    isShort: view === 'short',
    rule: readRule(query.get('region'), query.get('retention')),
    fits: (model) =>
      (mode === undefined || model.modes.includes(mode)) &&
      (provider === undefined || model.owned_by === provider) &&
      (available === undefined || model.available === (available === 'true')) &&
      (language === undefined || knows(model, language)) &&
      (maxPrice === undefined || costsAtMost(model, mode, Number(maxPrice))),
  };
}

const bad = (param: string, is: string) => apiError('invalid_request', `\`${param}\` ${is}.`, { param });

const knows = ({ languages }: Model, language: string): boolean =>
  languages.some(
    (known) => known === '*' || known.toLowerCase() === language.toLowerCase() || baseOf(known) === baseOf(language),
  );

const baseOf = (language: string): string => language.toLowerCase().split('-')[0] as string;

/** A price for a session says nothing of a minute. */
function costsAtMost({ modes, pricing }: Model, mode: Mode | undefined, usd: number): boolean {
  const isCheap = (price: Price | undefined) => price?.unit === 'minute' && Number(price.amount) <= usd;
  return modes.some((each) => (mode === undefined || each === mode) && isCheap(pricing[each]));
}
