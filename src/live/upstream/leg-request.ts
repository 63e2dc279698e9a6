// What a codec is told of the leg it is to open, from what the session asked for.
import { randomUUID } from 'node:crypto';
import type { OpenLeg } from '../../../machines/events.ts';
import type { DataResidencyRule } from '../../api/residency-rule.ts';
import { modelOf, providerOf } from '../../api/slug.ts';
import { keepsTo } from '../../vendors/kit/places.ts';
import type { LegRequest, Provider, ProviderAccess } from '../../vendors/provider.ts';

/** Before the dial nothing of the access is known, and nothing of it is needed. */
export const NO_ACCESS: ProviderAccess = { baseUrl: undefined, credential: undefined };

export function legRequestOf(request: OpenLeg, access: ProviderAccess): LegRequest {
  return {
    model: modelOf(request.slug),
    sampleRate: request.sampleRate,
    language: request.language ?? undefined,
    interimResults: request.interimResults,
    diarization: request.diarization,
    turnEvents: request.turnEvents === true,
    params: request.params,
    access,
    connection: { id: randomUUID().replaceAll('-', ''), wallMs: Date.now() },
  };
}

/** The access, at the endpoint that the leg's rule asks for; undefined where it does not keep to that, or may not. */
export function accessWithin(
  { slug, params, rule }: Pick<OpenLeg, 'slug' | 'params' | 'rule'>,
  access: ProviderAccess,
  providers: ReadonlyMap<string, Provider>,
): ProviderAccess | undefined {
  if (rule === undefined) return access;
  const provider = providers.get(providerOf(slug));
  const card = provider?.models.find(({ id }) => id === slug);
  if (provider === undefined || card === undefined) return undefined;
  return keepsTo({ provider, card, mode: 'live', params, access }, rule as DataResidencyRule);
}
