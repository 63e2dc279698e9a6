// `GET /v1/listen?resume=<token>`: the session goes on with the new socket.
import type { DoorRequest, SocketHandlers, SocketPace } from '../door.ts';
import type { ListenDependencies } from '../listen/listen-dependencies.ts';
import { type ResumeWish, unsaid } from './resume-wish.ts';

/**
 * What takes the messages of the new socket; undefined where the session is gone, or can no longer be gone on with. Rejects with a
 * Refusal.
 *
 * @param headers gathers what the answer to the handshake says
 */
export async function resumedSocket(
  wish: ResumeWish,
  request: DoorRequest,
  headers: Record<string, string>,
  credential: string | undefined,
  { authenticator, limits, resumables, paces }: ListenDependencies,
): Promise<{ accept: SocketHandlers; pace: SocketPace } | undefined> {
  const caller = await authenticator.socket(credential, request.remoteAddress, request.headers.get('origin'));
  Object.assign(headers, limits.takeRequest(caller.key));
  const found = resumables.find(wish.token, wish.sessionId, caller);
  if (found === undefined) return undefined;
  const gap = found.line.gapAfter(wish.after);
  if (gap === 'unsaid') throw unsaid(wish.after);
  if (gap === 'forgotten') {
    resumables.giveUp(found);
    return undefined;
  }
  const accept = resumables.next(found, wish.after);
  return { accept, pace: found.line.isEnded ? paces.refused() : found.resuming.pace };
}
