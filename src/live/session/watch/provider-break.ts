// A simulated provider is told to fail, for the one session of somebody who wants to see what comes of it: asked from any node,
// done on the session's own. A real provider is never told anything.
import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { DemandedFault } from '../../../../machines/events.ts';
import { isTokenOf } from '../../../accounts/auth/token.ts';
import type { Bus, Detach } from '../../../cluster/bus/bus.ts';
import { BREAK_PROVIDER } from '../../../cluster/bus/subjects.ts';
import type { SessionHost } from '../host.ts';
import { nodeOfSession } from '../session-opening.ts';

/** How long a page waits for another node. */
const ANSWER_MS = 1_000;

const Id = Type.String({ minLength: 1, maxLength: 128 });
const BreakMessage = Type.Object({
  type: Type.Literal('session.break'),
  sessionId: Id,
  organisationId: Id,
  /** Who asks: it has to be their own session. */
  personId: Id,
  fault: Type.Union([Type.Literal('drop'), Type.Literal('stall'), Type.Literal('error')]),
});
const BreakAnswer = Type.Object({
  type: Type.Union([Type.Literal('break.done'), Type.Literal('break.unknown'), Type.Literal('break.real')]),
});
type BreakAnswer = Static<typeof BreakAnswer>;

/**
 * `unknown`: no such session of that person is live; `real`: no simulator hears it now; `unreachable`: its node does not answer.
 */
export type Broken = 'done' | 'unknown' | 'real' | 'unreachable';

/** The person's own session whose provider is to fail. */
export interface BreakRequest {
  sessionId: string;
  organisationId: string;
  personId: string;
  fault: DemandedFault;
}

/** Never rejects. */
export async function breakProvider(bus: Pick<Bus, 'requestOf' | 'address'>, request: BreakRequest): Promise<Broken> {
  const node = nodeOfSession(request.sessionId);
  if (node === undefined) return 'unknown';
  try {
    const message = { type: 'session.break', ...request };
    const answer = await bus.requestOf(node, BREAK_PROVIDER, bus.address('break'), message, ANSWER_MS);
    if (!Value.Check(BreakAnswer, answer)) return 'unreachable';
    return answer.type.slice('break.'.length) as Broken;
  } catch {
    return 'unreachable';
  }
}

export function serveProviderBreaks(bus: Pick<Bus, 'serve'>, sessions: Pick<SessionHost, 'find'>): Detach {
  return bus.serve(BREAK_PROVIDER, (body): BreakAnswer => {
    if (!Value.Check(BreakMessage, body)) return { type: 'break.unknown' };
    const { sessionId, organisationId, personId, fault } = body;
    const session = sessions.find(sessionId);
    const isOwn = session?.opening.organisationId === organisationId && isTokenOf(session.opening.tokenId, personId);
    if (!isOwn) return { type: 'break.unknown' };
    return { type: session.breakProvider(fault) ? 'break.done' : 'break.real' };
  });
}
