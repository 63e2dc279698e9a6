// The server that runs everywhere: node:http and ws. Same promises as the fast one, about a third more work for a relay.

import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { ApiError, apiError } from '../../api/errors.ts';
import { listenFailure } from '../../runtime/address-failure.ts';
import { CLOSE_ANSWER_MS, UnopenedSocket } from '../guarded-socket.ts';
import {
  type Acceptance,
  abandonBody,
  answerOf,
  BodyStream,
  faultReply,
  handshakeHeaders,
  handshakeOf,
  isInPieces,
  statusLine,
  writableHeaders,
} from '../reply.ts';
import { emptyBody, RequestBody } from '../request-body.ts';
import {
  classify,
  declaredBodyBytes,
  framingFault,
  headTooLarge,
  normaliseAddress,
  RequestHead,
} from '../request-head.ts';
import type {
  HttpServer,
  HttpServerOptions,
  OpenServer,
  Reply,
  ServerHandlers,
  ServerRequest,
  WholeReply,
} from '../server.ts';
import { NodeSocket } from './socket.ts';

/** Twice the product's limit, so that the server itself says when a head is too large. */
const HEAD_BYTES_MAX = 16 * 1024;
/** The longest a request may take to arrive, however steadily it does. */
const REQUEST_MS_MAX = 60 * 60 * 1000;
const KEEP_ALIVE_MS = 10_000;
/** Pieces of one message: 64 MiB in pieces of 4 KiB. */
const FRAGMENTS_MAX = 16_384;
/** How long a connection that is being given up may still take to read its last answer. */
const LAST_ANSWER_MS = 2_000;

/** Rejects with one sentence when the address cannot be had. */
export const openNodeServer: OpenServer = async (handlers, options) => {
  const server = await createHttpServer(options);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(new Error(listenFailure(options.host, options.port, error.code)));
    });
    server.listen({ host: options.host, port: options.port, exclusive: options.shared !== true }, resolve);
  });
  return new NodeServer(server, handlers, options);
};

/** Known from Node 24.9 on. */
interface UpgradeOptions {
  shouldUpgradeCallback(incoming: IncomingMessage): boolean;
}

async function createHttpServer(options: HttpServerOptions): Promise<Server> {
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

class NodeServer implements HttpServer {
  readonly name = 'node';
  readonly port: number;
  readonly #server: Server;
  readonly #closed: Promise<void>;
  readonly #handlers: ServerHandlers;
  readonly #options: HttpServerOptions;
  readonly #webSockets: WebSocketServer;
  readonly #acceptances = new WeakMap<IncomingMessage, Acceptance>();
  /** Connections that node:http has handed over, and no longer closes; with their socket, once they have one. */
  readonly #handedOver = new Map<Duplex, NodeSocket | undefined>();
  /** Connections that got their last answer: what is behind it may be anything. */
  readonly #givenUp = new WeakSet<Duplex>();
  readonly #onFault = (error: unknown) => faultReply(error, this.#options);

  constructor(server: Server, handlers: ServerHandlers, options: HttpServerOptions) {
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
    if (kind instanceof ApiError) exchange.reply(this.#onFault(kind), this.#onFault, fault !== undefined);
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
    if (kind instanceof ApiError) replyOnSocket(socket, this.#onFault(kind));
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
    const request = serverRequest(head, incoming.socket.remoteAddress, abort.signal, emptyBody());
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
    const refusal = apiErrorOfBroken(error.code ?? '', this.#options.headerBytesMax);
    if (refusal === undefined) socket.destroy();
    else replyOnSocket(socket, this.#onFault(refusal));
  }
}

function webSocketSettings({ messageBytesMax }: HttpServerOptions) {
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

/** The head of a request as it was sent. */
function headOf(request: IncomingMessage): RequestHead {
  // Clients may send the whole URL, as to a proxy.
  const target = (request.url ?? '/').replace(/^https?:\/\/[^/?#]*/i, '');
  const mark = target.indexOf('?');
  const path = mark === -1 ? target : target.slice(0, mark);
  const query = mark === -1 ? '' : target.slice(mark + 1);
  const head = new RequestHead(request.method ?? 'GET', path, query, request.httpVersion);
  const lines = request.rawHeaders;
  for (let at = 0; at + 1 < lines.length; at += 2) head.add(lines[at]!, lines[at + 1]!);
  return head;
}

/** The head once more as bytes, as if the client had not offered to speak another protocol. */
function headWithoutUpgrade(incoming: IncomingMessage): Buffer {
  const lines = [`${incoming.method} ${incoming.url} HTTP/${incoming.httpVersion}`];
  for (let at = 0; at + 1 < incoming.rawHeaders.length; at += 2) {
    const name = incoming.rawHeaders[at]!;
    const value = incoming.rawHeaders[at + 1]!;
    const kept = name.toLowerCase() === 'connection' ? withoutTokens(value, ['upgrade', 'http2-settings']) : value;
    if (!['upgrade', 'http2-settings'].includes(name.toLowerCase()) && kept !== '') lines.push(`${name}: ${kept}`);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

function withoutTokens(list: string, tokens: readonly string[]): string {
  const kept = list.split(',').filter((member) => !tokens.includes(member.trim().toLowerCase()));
  return kept.join(',').trim();
}

/** What node:http could not read as a request, from its error code; undefined when the client is gone. */
export function apiErrorOfBroken(code: string, headerBytesMax: number): ApiError | undefined {
  // Without an answer the client would not know why it was closed.
  if (code === 'CONNECT')
    return apiError(
      'method_not_allowed',
      'The gateway opens no tunnels. Send the request itself instead of `CONNECT`.',
    );
  if (code === 'HPE_HEADER_OVERFLOW') return headTooLarge(headerBytesMax);
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return apiError('request_timeout', 'The request did not arrive in time. Send it again over a steadier connection.');
  }
  // The client left in the middle of its request, or never spoke HTTP.
  if (code === 'HPE_INVALID_EOF_STATE' || !code.startsWith('HPE_')) return undefined;
  return apiError('invalid_request', 'The request is not valid HTTP/1.1. Use an HTTP client library.');
}

function serverRequest(
  head: RequestHead,
  remoteAddress: string | undefined,
  signal: AbortSignal,
  body: RequestBody,
): ServerRequest {
  return {
    method: head.method,
    path: head.path,
    query: head.query,
    headers: head.headers,
    remoteAddress: normaliseAddress(remoteAddress ?? ''),
    signal,
    body: (maxBytes) => body.claim(maxBytes),
  };
}

/** An ordinary request and its response. */
export class NodeExchange {
  readonly head: RequestHead;
  readonly request: ServerRequest;
  readonly #incoming: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #body: RequestBody;
  #isAnswered = false;

  constructor(incoming: IncomingMessage, response: ServerResponse) {
    this.#incoming = incoming;
    this.#response = response;
    this.head = headOf(incoming);
    this.#body = new RequestBody(
      { pause: () => incoming.pause(), resume: () => incoming.resume() },
      declaredBodyBytes(this.head.headers),
    );
    const abort = new AbortController();
    this.request = serverRequest(this.head, incoming.socket.remoteAddress, abort.signal, this.#body);
    response.on('error', () => {});
    response.on('close', () => {
      this.#body.aborted();
      if (!response.writableFinished && !this.#isAnswered) abort.abort();
    });
    this.#receive();
  }

  /**
   * @param onFault hears why a body in pieces failed
   * @param closeConnection once it is out
   */
  reply({ status, headers, body = '' }: Reply, onFault: (error: unknown) => void, closeConnection = false): void {
    this.#body.discard();
    const response = this.#response;
    if (closeConnection) response.setHeader('Connection', 'close');
    const isHead = this.head.method === 'HEAD';
    if (response.destroyed || isHead) abandonBody(body);
    if (response.destroyed) return;
    const written = Object.fromEntries(writableHeaders(headers));
    if (isInPieces(body)) {
      response.writeHead(status, written);
      if (!isHead) {
        this.#stream(body, onFault);
        return;
      }
    } else response.writeHead(status, { ...written, 'Content-Length': Buffer.byteLength(body) });
    const text = isHead || isInPieces(body) ? '' : body;
    if (this.#incoming.complete) response.end(text);
    else this.#replyEarly(text);
  }

  /** Ends the answer when the body is over: Node may close the connection at its end, which many clients take for a broken one. */
  #replyEarly(text: string | Uint8Array): void {
    this.#response.flushHeaders();
    this.#response.write(text);
    this.#isAnswered = true;
    this.#limitRest(() => this.#response.end());
  }

  #stream(body: AsyncIterable<string>, onFault: (error: unknown) => void): void {
    const response = this.#response;
    const stream = new BodyStream(
      body,
      {
        // As bytes: Node 26 counts the bytes of a string that the response gathers and the characters of one that the socket queues,
        // and never emits `drain` when only the first count is over the mark.
        write: (piece) => response.write(Buffer.from(piece)),
        end: () => {
          response.end();
          if (!this.#incoming.complete) this.#limitRest(() => {});
        },
        cut: () => cutOff(response),
        drop: () => response.destroy(),
      },
      onFault,
    );
    response.on('drain', () => stream.roomy());
    response.on('close', () => stream.gone());
    void stream.run();
  }

  #receive(): void {
    const incoming = this.#incoming;
    incoming.on('error', () => {});
    incoming.on('data', (chunk: Buffer) => this.#body.arrived(chunk));
    incoming.on('end', () => this.#body.finished());
  }

  /** The answer is out, and the client may still be sending: it is given a while to read the answer, and no more. */
  #limitRest(then: () => void): void {
    const end = this.#body.afterRest((isWhole) => {
      if (isWhole) then();
      else this.#incoming.destroy();
    });
    this.#incoming.once('close', end);
  }
}

/** Drops the connection behind what was written, without the end that a whole answer has. */
function cutOff(response: ServerResponse): void {
  const { socket } = response;
  if (socket === null) {
    response.destroy();
    return;
  }
  // From Node 26 on, a response gathers its pieces until the end of the turn.
  process.nextTick(() => socket.destroySoon());
  const timer = setTimeout(() => socket.destroy(), LAST_ANSWER_MS).unref();
  socket.once('close', () => clearTimeout(timer));
}

/** Writes an answer on a bare socket and closes it: where node:http has handed the connection over, or given it up. */
function replyOnSocket(socket: Duplex, reply: WholeReply): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = Buffer.from(reply.body ?? '');
  const lines = [
    `HTTP/1.1 ${statusLine(reply.status)}`,
    ...writableHeaders(reply.headers).map(([name, value]) => `${name}: ${value}`),
    `Date: ${new Date().toUTCString()}`,
    `Content-Length: ${body.byteLength}`,
    'Connection: close',
    '\r\n',
  ];
  socket.end(Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), body]));
  // What the client is still sending is read and dropped: left unread, it would cost the client its answer.
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), LAST_ANSWER_MS).unref();
  socket.once('close', () => clearTimeout(timer));
}
