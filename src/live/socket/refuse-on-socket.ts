// A refusal that reaches its client on the socket, and why sockets are refused for what comes on them.
import type { ApiError } from '../../api/errors.ts';
import type { ServerSocket } from '../../http/server.ts';
import type { Ending } from '../../vendors/compat/dialect.ts';
import type { Excess, PaceSettings } from '../pace/socket-pace.ts';
import { newSessionId } from '../session/session-opening.ts';
import type { ListenDependencies } from './listen-dependencies.ts';

/** Says why in an `error` event, and closes. */
export function refuseOnSocket(
  socket: ServerSocket,
  refusal: ApiError,
  requestId: string,
  { node, wallNow }: Pick<ListenDependencies, 'node' | 'wallNow'>,
): void {
  const at = wallNow();
  const event = {
    ...{ type: 'error', session_id: newSessionId(node, at), seq: 1, at: at.toISOString() },
    error: refusal.body(requestId),
  };
  socket.send(JSON.stringify(event));
  socket.close(refusal.closeCode, refusal.code);
}

/** The same in the words of another vendor's client. */
export function endWith(socket: ServerSocket, { messages, code, reason }: Ending): void {
  for (const message of messages) socket.send(message);
  socket.close(code, reason);
}

export const excessWords = (excess: Excess, settings: PaceSettings): string =>
  excess === 'messages'
    ? `More than ${settings.socketMessagesPerSecondMax} text frames and pings a second came on this socket, or more than ${settings.organisationMessagesPerSecondMax} on all of the organisation’s. One keepalive in several seconds is enough.`
    : 'More than a million frames of less than 128 bytes came on this socket faster than they can be taken, or on several sockets of the organisation together. Send larger frames: 20 ms of audio each, or more.';

export const tooBigWords = (bytes: number, limit: number, isBinary: boolean): string =>
  `A ${isBinary ? 'binary' : 'text'} frame has ${bytes} bytes; at most ${limit} are taken. Send smaller frames.`;
