// What live sessions send to clients under test is compared with the documents. Loaded with whatever opens a gateway for tests, so
// that no other test has to load a library of WebSockets.
import WebSocket from 'ws';
import { noteClose, noteEvent } from './documented-notes.ts';

/** Deepgram's own endpoint has the same path; a model of a gateway has a provider before it. */
function isLive(socket: WebSocket): boolean {
  const { pathname, searchParams } = new URL(socket.url, 'ws://unknown');
  return pathname === '/v1/listen' && (searchParams.get('model') ?? '').includes('/');
}

const { emit } = WebSocket.prototype;
WebSocket.prototype.emit = function tell(this: WebSocket, name: string | symbol, ...said: unknown[]): boolean {
  // Sockets of servers have no address.
  if (this.url && (name === 'message' || name === 'close') && isLive(this)) {
    if (name === 'close') noteClose(said[0] as number);
    else if (said[1] === false) noteEvent(String(said[0]));
  }
  return emit.call(this, name, ...said);
};
