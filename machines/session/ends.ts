// How a session ends on its own: the reason, and the error its client is told. When it ends so is decided in session.ts.
import type { SessionEndReason } from '../events.ts';
import type { SessionContext, SessionError } from './types.ts';

export interface SessionEnd {
  reason: SessionEndReason;
  error: SessionError | null;
}

const failed = (message: string): SessionEnd & { error: SessionError } => ({
  reason: 'error',
  error: { code: 'internal_error', message },
});
const tooLong = (message: string): SessionEnd => ({ reason: 'too_long', error: { code: 'session_too_long', message } });

export const closedByClient: SessionEnd = { reason: 'client_closed', error: null };

export const idle: SessionEnd = {
  reason: 'idle',
  error: {
    code: 'session_idle',
    message: 'No audio and no keepalive came for the idle limit. Send {"type":"keepalive"} while there is no audio.',
  },
};

export const longest = tooLong('The session reached its longest duration. Open a new one to go on.');

export const longestWhileEnding = tooLong(
  'The session reached its longest duration before all its audio was transcribed.',
);

export const drained: SessionEnd & { error: SessionError } = {
  reason: 'draining',
  error: { code: 'node_draining', message: 'This node is being shut down. Connect again; another node answers.' },
};

/** The host itself has failed. */
export const mistaken = failed('The gateway made a mistake in this session. Quote the request id.');
export const failoverFailed = failed('The failover chart failed.');

/** A request that is wrong must not be sent again as it is; anything else is worth another try later. */
export function lossCode({ failure, attempts }: Pick<SessionContext, 'failure' | 'attempts'>): string {
  if (failure?.kind === 'caller') return 'invalid_provider_params';
  if (failure?.ownKey !== undefined) return 'upstream_account';
  return attempts.length > 1 ? 'upstream_exhausted' : 'upstream_failed';
}
