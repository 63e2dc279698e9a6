// `GET /v1/listen?resume=<token>`: the session goes on with the new socket.
import type { Caller } from '../../accounts/auth/permissions.ts';
import type { SocketHandlers, SocketPace } from '../../http/server.ts';
import type { SocketPaces } from '../pace/socket-pace.ts';
import type { ListenDependencies } from '../socket/listen-dependencies.ts';
import { type ResumeWish, unsaid } from './resume-wish.ts';

/**
 * What takes the messages of the new socket; undefined where the session is gone, or can no longer be gone on with. Rejects with a
 * Refusal.
 */
export async function resumedSocket(
  wish: ResumeWish,
  { organisationId, keyId }: Caller,
  { resumables, relays, paces }: ListenDependencies,
): Promise<{ accept: SocketHandlers; pace: SocketPace } | undefined> {
  const found = resumables.find({ ...wish, organisationId, keyId });
  if (found === 'unsaid') throw unsaid(wish.after);
  if (found !== undefined) {
    const accept = resumables.next(found, wish.after);
    return found.line.isEnded ? withoutPace(accept, paces) : { accept, pace: found.resuming.pace };
  }
  const { node, token, sessionId, after } = wish;
  const ask = { type: 'resume.ask' as const, token, sessionId, organisationId, keyId, after };
  const end = await relays.join(node, ask, { organisationId, paces });
  if (end === 'unsaid') throw unsaid(after);
  return typeof end === 'string' ? undefined : { accept: end, pace: end.pace };
}

/** Of a session that has ended: it has given its pace back, and its client has nothing to send. */
function withoutPace(accept: SocketHandlers, paces: SocketPaces): { accept: SocketHandlers; pace: SocketPace } {
  const pace = paces.refused();
  const closed: SocketHandlers['closed'] = (...closing) => {
    pace.release();
    accept.closed(...closing);
  };
  return { accept: { ...accept, closed }, pace };
}
