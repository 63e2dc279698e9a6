// A WebSocket whose other side is the test: it opens, speaks, pings and closes when it is told to, and takes whatever it is given.
import type { WebSocketConstructor } from '../../../clients/typescript/src/live/web-socket.ts';

type Listener = (event: never) => void;

export class ScriptedSocket {
  readyState = 1;
  bufferedAmount = 0;
  binaryType = '';
  isTerminated = false;
  closedWith: number | undefined;
  query = new URLSearchParams();
  readonly sent: (string | Uint8Array)[] = [];
  readonly #listeners = new Map<string, Listener[]>();

  addEventListener(type: string, listener: Listener): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener]);
  }

  /** As of `ws`, which tells pings. */
  on(type: string, listener: Listener): void {
    this.addEventListener(type, listener);
  }

  send(data: string | Uint8Array): void {
    this.sent.push(data);
  }

  close(code?: number): void {
    this.closedWith = code;
  }

  terminate(): void {
    this.isTerminated = true;
  }

  emit(type: string, event: object = {}): void {
    for (const listener of this.#listeners.get(type) ?? []) listener(event as never);
  }

  say(type: string, fields: object = {}): void {
    const head = { type, session_id: 'ses_1', seq: 1, at: '2026-01-01T00:00:00.000Z' };
    this.emit('message', { data: JSON.stringify({ ...head, ...fields }) });
  }

  /** The session is open. */
  start(fields: object = {}): void {
    this.say('session_started', { limits: { binary_frame_bytes: 65_536 }, ...fields });
  }
}

/** A constructor, and the sockets that it made; `opened` is told of each. */
export function scriptedSockets(opened: (socket: ScriptedSocket, index: number) => void = () => {}) {
  const sockets: ScriptedSocket[] = [];
  class Made extends ScriptedSocket {
    constructor(url: string) {
      super();
      this.query = new URL(url).searchParams;
      sockets.push(this);
      queueMicrotask(() => opened(this, sockets.length - 1));
    }
  }
  return { sockets, webSocket: Made as unknown as WebSocketConstructor };
}
