// `GET /v1/models` and `GET /v1/models/{provider}/{model}`.
import { Value } from '@sinclair/typebox/value';
import { printable, refuse } from '../../api/errors.ts';
import { Mode, type Model } from '../../api/models.ts';
import { nearestSlugs } from '../../api/slug.ts';
import type { Provider, ProviderAccess } from '../../providers/provider.ts';
import { parseQuery } from '../query.ts';
import { json, type RouteContext } from '../router.ts';

export interface ModelsDependencies {
  providers: ReadonlyMap<string, Provider>;
  access(provider: string): ProviderAccess;
  /** How a model is doing, from its breakers. */
  statusOf(slug: string): Model['status'];
}

/** The catalogue as clients see it. */
export function listModels({ providers, access, statusOf }: ModelsDependencies): Model[] {
  return [...providers.values()].flatMap((provider) =>
    provider.models.map(({ priceSource: _, ...card }) => ({
      ...card,
      object: 'model' as const,
      owned_by: provider.name,
      provider_params: provider.options(card.id.slice(provider.name.length + 1)),
      available: provider.credential === 'none' || access(provider.name).credential !== undefined,
      status: statusOf(card.id),
    })),
  );
}

export const getModels =
  (dependencies: ModelsDependencies) =>
  async ({ request }: RouteContext) => {
    const query = parseQuery(request.query);
    const mode = query.get('mode');
    for (const name of query.keys()) {
      if (name !== 'mode' && name !== 'provider') {
        throw refuse(
          'invalid_request',
          `\`${printable(name)}\` is not a parameter of /v1/models. Known are mode, provider.`,
          { param: printable(name) },
        );
      }
    }
    if (mode !== undefined && !Value.Check(Mode, mode)) {
      throw refuse('invalid_request', '`mode` is batch or live.', { param: 'mode' });
    }
    const provider = query.get('provider');
    const data = listModels(dependencies).filter(
      (model) =>
        (mode === undefined || model.modes.includes(mode)) && (provider === undefined || model.owned_by === provider),
    );
    return json(200, { object: 'list', data });
  };

export const getModel =
  (dependencies: ModelsDependencies) =>
  async ({ params }: RouteContext) => {
    const slug = `${params.provider}/${params.model}`;
    const models = listModels(dependencies);
    const model = models.find((each) => each.id === slug);
    if (model !== undefined) return json(200, model);
    const nearest = nearestSlugs(
      slug,
      models.map((each) => each.id),
    );
    const hint = nearest.length > 0 ? `Did you mean ${nearest.join(', ')}?` : 'GET /v1/models lists them all.';
    throw refuse('model_not_found', `There is no such model. ${hint}`, { param: 'model' });
  };
