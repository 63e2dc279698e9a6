// What a codec is told of the leg it is to open, from what the session asked for.
import type { OpenLeg } from '../../machines/events.ts';
import { modelOf, providerOf } from '../api/slug.ts';
import type { LegRequest, ProviderAccess } from '../providers/provider.ts';

export function legRequestOf(request: OpenLeg, access: (provider: string) => ProviderAccess): LegRequest {
  return {
    model: modelOf(request.slug),
    sampleRate: request.sampleRate,
    language: request.language ?? undefined,
    interimResults: request.interimResults,
    diarization: request.diarization,
    params: request.params,
    access: access(providerOf(request.slug)),
  };
}
