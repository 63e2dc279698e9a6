// One WebSocket to `/v1/listen`: frames in and out. The credential goes by the subprotocol pair, so that a refusal arrives as an
// event with a close code everywhere, browsers included. When to open another is decided by live-link.ts.
import type { EventHead } from '../types/events.ts';
import type { StartMessage } from './listen-options.ts';
import { Watchdog } from './watchdog.ts';
import type { WebSocketConstructor, WebSocketLike } from './web-socket.ts';

/** Close code of a socket that is given up where that takes a code: the session waits for another one. */
const GIVEN_UP = 3006;

export interface ConnectionHandlers {
  /** Of any kind. */
  event(event: EventHead & { type: string }): void;
  /** Once, and nothing after it. `cause`: what the socket said, where it says something. */
  closed(code: number, reason: string, cause: unknown): void;
}

export class Connection {
  readonly #socket: WebSocketLike;
  readonly #handlers: ConnectionHandlers;
  #cause: unknown;
  #givenBytes = 0;
  #watchdog: Watchdog | undefined;
  #isOver = false;

  /** Throws what the constructor throws. */
  constructor(
    Socket: WebSocketConstructor,
    { url, start }: { url: string; start: StartMessage | undefined },
    credential: string,
    handlers: ConnectionHandlers,
  ) {
    this.#handlers = handlers;
    this.#socket = new Socket(url, ['bearer', credential]);
    if (start !== undefined) this.#socket.addEventListener('open', () => this.send(start));
    this.#socket.binaryType = 'arraybuffer';
    this.#socket.addEventListener('message', ({ data }) => this.#read(data));
    // `ws` tells of pings; a browser does not.
    const { on } = this.#socket as { on?: (type: 'ping', listener: () => void) => void };
    on?.call(this.#socket, 'ping', () => this.#watchdog?.pinged());
    this.#socket.addEventListener('error', (event) => {
      this.#cause = 'error' in event ? event.error : undefined;
    });
    this.#socket.addEventListener('close', ({ code, reason }) => this.#over(code, reason));
  }

  get bufferedAmount(): number {
    return this.#socket.bufferedAmount;
  }

  send(data: Uint8Array<ArrayBuffer> | object): void {
    if (this.#isOver) return;
    const frame = data instanceof Uint8Array ? data : JSON.stringify(data);
    this.#givenBytes += frame.length;
    if ('type' in data && data.type === 'close') this.#watchdog?.closing();
    this.#socket.send(frame);
  }

  /** The session is open: from now on the connection counts as lost (1006) when nothing comes through any more. */
  watch(pendingMs: () => number): void {
    this.#watchdog = new Watchdog({
      unsent: () => this.bufferedAmount,
      given: () => this.#givenBytes,
      pendingMs,
      lost: () => this.abandon(1006, ''),
    });
  }

  /** Gives the socket up: nothing is heard of it any more, but `closed` with this code. */
  abandon(code: number, reason: string): void {
    if (this.#isOver) return;
    this.#over(code, reason);
    // A handshake that never ends, and a peer that is gone: `ws` can do without their consent. By 1000 the session would end.
    const { terminate } = this.#socket as { terminate?: () => void };
    if (code === 1000) this.#socket.close(1000);
    else if (terminate === undefined) this.#socket.close(GIVEN_UP);
    else terminate.call(this.#socket);
  }

  #read(data: unknown): void {
    if (this.#isOver || typeof data !== 'string') return;
    this.#watchdog?.heard();
    let event: unknown;
    try {
      event = JSON.parse(data);
    } catch {
      return;
    }
    if (typeof event !== 'object' || event === null || !('type' in event)) return;
    this.#handlers.event(event as EventHead & { type: string });
  }

  #over(code: number, reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#watchdog?.stop();
    this.#handlers.closed(code, reason, this.#cause);
  }
}
