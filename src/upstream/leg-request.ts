// What a codec is told of the leg it is to open, from what the session asked for.
import type { OpenLeg } from '../../machines/events.ts';
import type { LegRequest, ProviderAccess } from '../providers/provider.ts';

export function legRequestOf(request: OpenLeg, access: (provider: string) => ProviderAccess): LegRequest {
  const slash = request.slug.indexOf('/');
  return {
    model: request.slug.slice(slash + 1),
    sampleRate: request.sampleRate,
    language: request.language ?? undefined,
    interimResults: request.interimResults,
    diarization: request.diarization,
    params: request.params,
    access: access(request.slug.slice(0, slash)),
  };
}
