// The request for a leg, as it goes over the bus; and the failures of legs that are the bus's.
import type { LegFailure, OpenLeg } from '../../machines/events.ts';
import type { Address } from '../bus/bus.ts';
import type { ChainMember } from './chain.ts';
import type { SessionOpening } from './session-opening.ts';

export function openLegOf(
  { request, sessionId, organisationId }: SessionOpening,
  member: ChainMember,
  session: Address,
  generation: number,
): OpenLeg {
  return {
    type: 'leg.open',
    session,
    sessionId,
    generation,
    slug: member.slug,
    sampleRate: member.sampleRate,
    language: request.language ?? null,
    // Also for a client that wants none: a leg that hears a long turn shows by them that it is alive.
    interimResults: true,
    diarization: request.diarization,
    params: { ...member.params },
    credentialId: member.credentialId,
    organisationId,
  };
}

export const unopened: LegFailure = {
  kind: 'next',
  reason: 'connect_failed',
  code: 'no_upstream_node',
  message: 'No node could open a connection to the provider.',
  own: true,
};

export const lostReport: LegFailure = {
  kind: 'retry',
  reason: 'upstream_error',
  code: 'report_lost',
  message: 'A message of the provider was lost inside the gateway.',
  own: true,
};
