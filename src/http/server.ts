// What handlers see of the network: plain requests, replies and sockets. Two servers keep this contract, uws/server.ts and
// node/server.ts; test/suites/server-adapter.suite.ts holds it once. A server knows no route, no credential and no product rule.
import type { Readable } from 'node:stream';

/** A request, copied out of the library's hands before anything else happens. */
export interface ServerRequest {
  /** Upper case. */
  method: string;
  /** Undecoded path, without the query. */
  path: string;
  /** Undecoded query without the question mark; empty when there is none. */
  query: string;
  /** Lower-case names; repeated headers are joined with ", ". */
  headers: ReadonlyMap<string, string>;
  remoteAddress: string;
  /** The client reaches the gateway by TLS, whoever speaks it; undefined before that was found out. */
  isTls?: boolean;
  /** Aborted when the client goes away before the reply is written. */
  signal: AbortSignal;
  /**
   * The body as a stream with back-pressure. May be called once. Errors with `BodyTooLarge` past `maxBytes` (also at once
   * when Content-Length says so), or with an abort error when the client goes away.
   */
  body(maxBytes: number): Readable;
}

/** The body is larger than the handler allows. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge';
}

/** An answer that is there as a whole. */
export interface WholeReply {
  status: number;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
}

export interface Reply extends Omit<WholeReply, 'body'> {
  /**
   * The body, or its pieces as they come: the head is sent with the first, each piece at once, and the next is requested when the
   * previous one has left. When the pieces fail, the connection is cut after the last one, so that the client does not take them
   * for a complete body, and `onFault` is called. When the client leaves, reads nothing for 10 s, or wants no body (HEAD),
   * `return` is called and no further piece is requested.
   */
  body?: string | Uint8Array | AsyncIterable<string>;
}

/** What became of a frame given to a socket. `gone`: the socket is closed, nothing was sent. */
export type SocketSend = 'sent' | 'queued' | 'gone';

/**
 * One WebSocket. Every method is safe at any time, also after the close; none throws. A client that reads nothing for 10 s
 * after `close`, or lets 16 MiB pile up, is cut off and reported as 1006; no single message is ever left out.
 */
export interface ServerSocket {
  send(text: string): SocketSend;
  /** Bytes given to `send` that have not left the process. */
  readonly bufferedBytes: number;
  /** The library cuts the connection on its own when nothing came for the time of `silenceMs`, which counts messages half there. */
  readonly watchesSilence: boolean;
  /** The largest message that is taken of it, where that is less than its session takes. */
  readonly messageBytesMax?: number | undefined;
  /** True from `close` or `terminate` on. */
  readonly closed: boolean;
  /** Nothing is read of it for the moment, because it sent too fast: silence is not the client's. */
  readonly heldBack: boolean;
  /** @param text what the other side repeats in its answer, up to 125 ASCII characters */
  ping(text?: string): void;
  /** Sends what is queued, then a close frame. */
  close(code: number, reason: string): void;
  /** Drops the connection without an answer. */
  terminate(): void;
}

/**
 * What happens on a socket. `data` is valid only during the call, but of a message over 1 MiB: that is the handler's. Handlers may
 * throw: the server drops that one socket with 1011.
 */
export interface SocketHandlers {
  open(socket: ServerSocket): void;
  message(socket: ServerSocket, data: Uint8Array, isBinary: boolean): void;
  /** The other side answered a ping, and repeats its text; or says so without having been asked. */
  pong(socket: ServerSocket, text: string): void;
  /**
   * A message over 1 MiB is on its way, and has announced so many bytes so far: told as its pieces begin, and now and then while it
   * arrives. Only where the library lets the server see that.
   */
  arriving?(socket: ServerSocket, bytes: number, isBinary: boolean): void;
  /** What was queued has left (`bufferedBytes` is zero or low again). */
  drained(socket: ServerSocket): void;
  /**
   * Always called, once, and never inside a call; 1006 when no close frame came, 1009 when the server cut off a message that is larger
   * than it can hand on. Without `open` before it when the client
   * left while the upgrade was being answered.
   */
  closed(socket: ServerSocket, code: number, reason: string): void;
}

/**
 * How fast a socket may send. The server asks at every frame, before anything is made of it, and reads no more of the socket for
 * as long as it is told; where the library cannot do that, `canWait` is false, and only what is past bearing is refused.
 */
export interface SocketPace {
  /**
   * A frame came; `isAudio` false: text, a ping or a pong. For how many milliseconds nothing more should be read, 0 for none;
   * infinity: there is no end to it, the frame and all after it are to be left unread, and `exceeded` is called, once.
   */
  take(bytes: number, isAudio: boolean, canWait: boolean): number;
  /** So many pieces of messages came besides. For how many milliseconds nothing more should be read. */
  fragments(count: number): number;
  /** For how many milliseconds nothing more should be read. */
  owedMs(): number;
  /** Nothing more is read; the socket is to be closed. */
  exceeded(): void;
  /** A message over 1 MiB begins. Whether it may be gathered at once; else nothing more is to be read before `granted` is called. */
  enter(granted: () => void): boolean;
  /** It is whole, or there will be no end to it. Any number of times. */
  leave(): void;
  /**
   * Whether the messages of this socket may be over 1 MiB. Asked once, before it opens, by a server that sees nothing of a message
   * before it is whole.
   */
  mayBeLarge(): boolean;
}

/** The answer to an upgrade: a socket (with the subprotocol to name, if any) or a plain HTTP refusal. */
export type UpgradeAnswer =
  | { accept: SocketHandlers; pace?: SocketPace; protocol?: string; headers?: Record<string, string> }
  | { refuse: WholeReply };

export interface ServerHandlers {
  request(request: ServerRequest): Promise<Reply>;
  upgrade(request: ServerRequest): Promise<UpgradeAnswer>;
}

export interface HttpServerOptions {
  host: string;
  /** 0 picks a free port. */
  port: number;
  /**
   * Several processes listen on the port, and each connection goes to one of them: with uWebSockets.js any process of this user
   * can share it (SO_REUSEPORT), with node:http the other workers of its node:cluster. Not shared when absent.
   */
  shared?: boolean;
  tls?: { certFile: string; keyFile: string };
  /** URL and headers together; past it the server answers 414 itself. */
  headerBytesMax: number;
  /** Largest WebSocket message the product accepts; the server lets through twice as much, so that handlers can say why. */
  messageBytesMax: number;
  /** Time for a handshake or request header to arrive. */
  headerTimeoutMs: number;
  /** A socket of which nothing comes for so long is dead, although it was pinged. Watched by the host where it is left out. */
  silenceMs?: number;
  /** What the server answers on its own when a handler rejects: never a stack. */
  onFault(error: unknown): WholeReply;
}

export interface HttpServer {
  readonly name: 'uws' | 'node';
  /** Which build of its library serves, where there is more than one. */
  readonly build?: string;
  readonly port: number;
  /** Stops accepting; open sockets and requests continue. */
  stopListening(): void;
  /** Stops accepting and drops what is open. */
  close(): Promise<void>;
}

export type OpenServer = (handlers: ServerHandlers, options: HttpServerOptions) => Promise<HttpServer>;

/** Messages up to this size are gathered without asking. */
export const LARGE_BYTES = 1024 * 1024;

/** The largest message of a session. What is coded comes in small ones: a long one could be hours of sound. */
export function messageBytesMaxOf(
  pace: { messageBytesMax: number },
  isCoded: boolean,
  socket?: { messageBytesMax?: number | undefined },
): number {
  const bytesMax = Math.min(pace.messageBytesMax, socket?.messageBytesMax ?? Number.POSITIVE_INFINITY);
  return isCoded ? Math.min(LARGE_BYTES, bytesMax) : bytesMax;
}
