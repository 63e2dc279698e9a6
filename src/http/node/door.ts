// The door that runs everywhere: node:http and ws. Same promises as the fast one, about a third more work for a relay.
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import { Refusal } from '../../api/errors.ts';
import { listenFailure } from '../../runtime/address-failure.ts';
import type { Door, DoorHandlers, DoorOptions, OpenDoor } from '../door.ts';
import {
  type Acceptance,
  answerOf,
  faultReply,
  handshakeHeaders,
  handshakeOf,
  writableHeaders,
} from '../door-reply.ts';
import { CLOSE_ANSWER_MS, GuardedSocket, UNREAD_BYTES_MAX, UnopenedSocket } from '../guarded-socket.ts';
import { emptyBody } from '../http/request-body.ts';
import { classify, framingFault, type RequestHead } from '../http/request-head.ts';
import { LARGE_BYTES } from '../large-messages.ts';
import { doorRequest, headOf, headWithoutUpgrade, NodeExchange, refusalOfBroken, replyOnSocket } from './exchange.ts';
import { FrameHeads } from './frame-heads.ts';

/** Twice the product's limit, so that the door itself says when a head is too large. */
const HEAD_BYTES_MAX = 16 * 1024;
/** The longest a request may take to arrive, however steadily it does. */
const REQUEST_MS_MAX = 60 * 60 * 1000;
const KEEP_ALIVE_MS = 10_000;
/** Pieces of one message: 64 MiB in pieces of 4 KiB. */
const FRAGMENTS_MAX = 16_384;
/** Of a large message so much has to come before it counts as a sign of life. */
const SIGN_OF_LIFE_BYTES = 64 * 1024;

/** Rejects with one sentence when the address cannot be had. */
export const openNodeDoor: OpenDoor = async (handlers, options) => {
  const server = await createHttpServer(options);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(new Error(listenFailure(options.host, options.port, error.code)));
    });
    server.listen({ host: options.host, port: options.port, exclusive: options.shared !== true }, resolve);
  });
  return new NodeDoor(server, handlers, options);
};

/** Known from Node 24.9 on. */
interface UpgradeOptions {
  shouldUpgradeCallback(incoming: IncomingMessage): boolean;
}

async function createHttpServer(options: DoorOptions): Promise<Server> {
  const settings: ServerOptions & UpgradeOptions = {
    maxHeaderSize: HEAD_BYTES_MAX,
    headersTimeout: options.headerTimeoutMs,
    requestTimeout: Math.max(REQUEST_MS_MAX, options.headerTimeoutMs),
    connectionsCheckingInterval: Math.ceil(options.headerTimeoutMs / 4),
    keepAliveTimeout: KEEP_ALIVE_MS,
    requireHostHeader: false,
    // From Node 26 on, the body of such a request is not on the socket, so it cannot be handed back: see `#handBack`.
    shouldUpgradeCallback: (incoming: IncomingMessage) =>
      classify(headOf(incoming), options.headerBytesMax) !== 'plain',
  };
  if (options.tls === undefined) return createServer(settings);
  const [cert, key] = await Promise.all([options.tls.certFile, options.tls.keyFile].map(readTlsFile));
  try {
    return createTlsServer({ ...settings, cert, key });
  } catch {
    throw new Error(
      `${options.tls.certFile} and ${options.tls.keyFile} are not a certificate and its key in PEM form.`,
    );
  }
}

async function readTlsFile(file: string): Promise<Buffer> {
  return readFile(file).catch(() => {
    throw new Error(`The TLS file ${file} cannot be read.`);
  });
}

class NodeDoor implements Door {
  readonly name = 'node';
  readonly port: number;
  readonly #server: Server;
  readonly #closed: Promise<void>;
  readonly #handlers: DoorHandlers;
  readonly #options: DoorOptions;
  readonly #webSockets: WebSocketServer;
  readonly #acceptances = new WeakMap<IncomingMessage, Acceptance>();
  /** Connections that node:http has handed over, and no longer closes; with their socket, once they have one. */
  readonly #handedOver = new Map<Duplex, NodeSocket | undefined>();
  /** Connections that got their last answer: what is behind it may be anything. */
  readonly #givenUp = new WeakSet<Duplex>();
  readonly #onFault = (error: unknown) => faultReply(error, this.#options);

  constructor(server: Server, handlers: DoorHandlers, options: DoorOptions) {
    this.port = (server.address() as AddressInfo).port;
    this.#server = server;
    this.#closed = new Promise((resolve) => server.once('close', resolve));
    this.#handlers = handlers;
    this.#options = options;
    this.#webSockets = new WebSocketServer(webSocketSettings(options));
    this.#webSockets.on('headers', (lines, incoming) => {
      const acceptance = this.#acceptances.get(incoming);
      if (acceptance === undefined) return;
      for (const [name, value] of writableHeaders(handshakeHeaders(acceptance))) lines.push(`${name}: ${value}`);
    });
    server.on('error', this.#onFault);
    server.on('request', (incoming, response) => void this.#answer(incoming, response));
    server.on('upgrade', (incoming, socket, early) => this.#upgrade(incoming, socket, early));
    server.on('connect', (_, socket) => this.#giveUp({ code: 'CONNECT' }, socket));
    server.on('clientError', (error, socket) => this.#giveUp(error, socket));
  }

  stopListening(): void {
    if (this.#server.listening) this.#server.close();
  }

  async close(): Promise<void> {
    this.stopListening();
    this.#server.closeAllConnections();
    for (const [connection, socket] of this.#handedOver) {
      // Cut now, with audio of the client unread, it would be reset, and its last frames lost: the library cuts it
      // when the client has answered the close frame, or has had its time.
      if (socket?.isEnding) continue;
      socket?.terminate();
      connection.destroy();
    }
    await this.#closed;
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const exchange = new NodeExchange(incoming, response);
    const connection = incoming.socket;
    if (this.#givenUp.has(connection)) return;
    const fault = framingFault(exchange.head);
    const kind = fault ?? classify(exchange.head, this.#options.headerBytesMax);
    if (fault !== undefined) this.#givenUp.add(connection);
    if (kind instanceof Refusal) exchange.reply(this.#onFault(kind), this.#onFault, fault !== undefined);
    else exchange.reply(await answerOf(() => this.#handlers.request(exchange.request), this.#options), this.#onFault);
  }

  #upgrade(incoming: IncomingMessage, socket: Duplex, early: Buffer): void {
    if (!this.#handedOver.has(socket)) {
      this.#handedOver.set(socket, undefined);
      socket.once('close', () => this.#handedOver.delete(socket));
      socket.on('error', () => {});
    }
    const head = headOf(incoming);
    const kind = framingFault(head) ?? classify(head, this.#options.headerBytesMax);
    if (kind instanceof Refusal) replyOnSocket(socket, this.#onFault(kind));
    else if (kind === 'plain') this.#handBack(incoming, socket, early);
    else void this.#shakeHands(head, incoming, socket, early);
  }

  /** A client that offers to speak something else (HTTP/2, mostly) may be answered in HTTP/1.1, as if it had not. */
  #handBack(incoming: IncomingMessage, socket: Duplex, early: Buffer): void {
    socket.unshift(Buffer.concat([headWithoutUpgrade(incoming), early]));
    this.#server.emit(this.#options.tls === undefined ? 'connection' : 'secureConnection', socket);
  }

  async #shakeHands(head: RequestHead, incoming: IncomingMessage, socket: Duplex, early: Buffer): Promise<void> {
    const abort = new AbortController();
    const gone = () => abort.abort();
    socket.once('close', gone);
    const request = doorRequest(head, incoming.socket.remoteAddress, abort.signal, emptyBody());
    const answer = await handshakeOf(() => this.#handlers.upgrade(request), this.#options);
    socket.off('close', gone);
    if ('refuse' in answer) {
      replyOnSocket(socket, answer.refuse);
      return;
    }
    // The library would choose a subprotocol from the offer, and refuse offers that it cannot read.
    delete incoming.headers['sec-websocket-protocol'];
    this.#acceptances.set(incoming, answer);
    let opened: NodeSocket | undefined;
    // Calls back at once, or not at all when the client has left.
    this.#webSockets.handleUpgrade(incoming, socket, early, (webSocket) => {
      opened = new NodeSocket(webSocket, answer, this.#onFault);
      opened.watch(socket);
      this.#handedOver.set(socket, opened);
      opened.start();
    });
    if (opened === undefined) new UnopenedSocket(answer.accept, this.#onFault).terminate();
  }

  /** Says what was wrong with bytes that are no request, once, and closes. */
  #giveUp(error: NodeJS.ErrnoException | { code: string }, socket: Duplex): void {
    if (this.#givenUp.has(socket)) return;
    this.#givenUp.add(socket);
    const refusal = refusalOfBroken(error.code ?? '', this.#options.headerBytesMax);
    if (refusal === undefined) socket.destroy();
    else replyOnSocket(socket, this.#onFault(refusal));
  }
}

/** One WebSocket of the `ws` package. */
class NodeSocket extends GuardedSocket {
  readonly #webSocket: WebSocket;
  #hasQueued = false;
  readonly #heads = new FrameHeads();
  #readBytes = 0;

  protected override readonly canWait = true;

  constructor(webSocket: WebSocket, { accept, pace }: Acceptance, onFault: (error: unknown) => void) {
    super(accept, onFault, pace);
    this.#webSocket = webSocket;
    let fault = '';
    webSocket.on('message', (data, isBinary) => this.received(data as Buffer, isBinary));
    webSocket.on('pong', (data: Buffer) => this.ponged(data));
    webSocket.on('ping', (data: Buffer) => {
      if (this.pinged(data.byteLength)) this.#answerPing(data);
    });
    // What the client sent is no WebSocket frame, or is too large; the library closes by itself.
    webSocket.on('error', (error) => {
      fault = error.message;
    });
    webSocket.on('close', (code, reason) => this.ended(code, reason.toString() || fault));
  }

  start(): void {
    this.opened();
  }

  /** Looks at what the library reads, before it does: of the pieces of a message it tells nothing until it has all. */
  watch(connection: Duplex): void {
    connection.prependListener('data', (chunk: Buffer) => {
      const heads = this.#heads;
      const before = heads.messageBytes;
      heads.read(chunk);
      const pieces = heads.takePieces();
      if (pieces > 0) this.fragmented(pieces);
      if (heads.messageBytes <= LARGE_BYTES) return;
      this.#readBytes += chunk.byteLength;
      if (heads.messageBytes === before && this.#readBytes < SIGN_OF_LIFE_BYTES) return;
      this.#readBytes = 0;
      this.arriving(heads.messageBytes, heads.isBinary);
    });
  }

  #answerPing(data: Buffer): void {
    if (this.#webSocket.readyState !== WebSocket.OPEN) return;
    this.#webSocket.pong(data, false, this.#afterWrite);
    this.#noteQueue();
    if (this.queuedBytes() > UNREAD_BYTES_MAX) this.terminate();
  }

  protected override pauseReading(): void {
    this.#webSocket.pause();
  }

  protected override resumeReading(): void {
    this.#webSocket.resume();
  }

  protected override write(text: string): boolean {
    if (this.#webSocket.readyState !== WebSocket.OPEN) return false;
    this.#webSocket.send(text, this.#afterWrite);
    this.#noteQueue();
    return true;
  }

  protected override writePing(text: string): void {
    this.#webSocket.ping(text, false, this.#afterWrite);
    this.#noteQueue();
  }

  protected override queuedBytes(): number {
    return this.#webSocket.bufferedAmount;
  }

  protected override end(code: number, reason: string): void {
    this.#webSocket.close(code, reason);
  }

  /** The close frame is on its way. */
  get isEnding(): boolean {
    return this.#webSocket.readyState === WebSocket.CLOSING;
  }

  protected override cut(): void {
    this.#webSocket.terminate();
  }

  #noteQueue(): void {
    this.#hasQueued ||= this.#webSocket.bufferedAmount > 0;
  }

  readonly #afterWrite = (): void => {
    if (!this.#hasQueued || this.#webSocket.bufferedAmount > 0) return;
    this.#hasQueued = false;
    this.flushed();
  };
}

function webSocketSettings({ messageBytesMax }: DoorOptions) {
  return {
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    autoPong: false,
    maxFragments: FRAGMENTS_MAX,
    maxPayload: 2 * messageBytesMax,
    closeTimeout: CLOSE_ANSWER_MS,
  };
}
