// The request for a leg, as it goes over the bus; and the failures of legs that are the bus's.
import type { LegFailure, OpenLeg } from '../../../machines/events.ts';
import type { Address } from '../../bus/bus.ts';
import type { ChainMember } from '../../failover/chain.ts';
import type { SessionOpening } from '../session-opening.ts';

export function openLegOf(
  { request, sessionId, organisationId }: SessionOpening,
  member: ChainMember,
  session: Address,
  generation: number,
  isWatched: boolean,
): OpenLeg {
  return {
    type: 'leg.open',
    session,
    sessionId,
    generation,
    slug: member.slug,
    sampleRate: member.sampleRate,
    language: member.language ?? null,
    // Also for a client that wants none: a leg that hears a long turn shows by them that it is alive.
    interimResults: true,
    diarization: member.diarization,
    params: { ...member.params },
    credentialId: member.credentialId,
    organisationId,
    ...(request.turnEvents ? { turnEvents: true } : {}),
    ...(member.rule === undefined ? {} : { rule: member.rule }),
    ...(isWatched ? { watched: true } : {}),
  };
}

export const unopened: LegFailure = {
  kind: 'next',
  reason: 'connect_failed',
  code: 'no_upstream_node',
  message: 'No node could open a connection to the provider.',
  own: true,
};

/** Nothing that the provider did: the session's charts forgive it. */
const inside = (code: string, message: string): LegFailure => ({
  kind: 'retry',
  reason: 'upstream_error',
  code,
  message,
  own: true,
});

export const lostReport = inside('report_lost', 'A message of the provider was lost inside the gateway.');
/** The leg is on another node, and was lost on the way there: that node, the bus, or a message. */
export const legLost = inside('leg_lost', 'The node with the connection to the provider was lost.');
/** The leg said nothing for too long, not even that it is there. */
export const legSilent = inside('leg_silent', 'The node with the connection to the provider does not answer.');

/** No node opened the leg: none is there, or none has room for it. */
export class LegUnplaced extends Error {
  override readonly name = 'LegUnplaced';
}
