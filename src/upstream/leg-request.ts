// What a codec is told of the leg it is to open, from what the session asked for.
import { randomUUID } from 'node:crypto';
import type { OpenLeg } from '../../machines/events.ts';
import { modelOf } from '../api/slug.ts';
import type { LegRequest, ProviderAccess } from '../providers/provider.ts';

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
