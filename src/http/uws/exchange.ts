// One request or handshake on uWebSockets.js, from the library's callback to the written answer. The request is copied
// before anything else, because the library takes it back at the first await.

import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { ApiError } from '../../api/errors.ts';
import { UnopenedSocket } from '../guarded-socket.ts';
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
import { RequestBody } from '../request-body.ts';
import { classify, declaredBodyBytes, framingFault, hasToken, normaliseAddress, RequestHead } from '../request-head.ts';
import {
  type HttpServerOptions,
  LARGE_BYTES,
  type Reply,
  type ServerHandlers,
  type ServerRequest,
  type WholeReply,
} from '../server.ts';
import type { UwsContext, UwsLibrary, UwsListenSocket, UwsRequest, UwsResponse } from './library.ts';
import { UwsSocket, watchedSeconds } from './socket.ts';

/** Where an upgraded connection may live: with messages of any size that the product takes, or of 1 MiB at most. */
export interface UwsContexts {
  large: UwsContext;
  small: UwsContext;
  corker: Corker;
}

/** While it reads, the library gathers so much of what is written; more than that leaves at once. */
const GATHERED_BYTES = 16 * 1024;

/** An answer of so much leaves at once: the library does not tell when all of a larger one has. */
const EARLY_ANSWER_BYTES_MAX = 16 * 1024;

/** How long a client whose answer failed may still take nothing of what waits for it. */
const LAST_PIECES_MS = 2_000;

/**
 * Serves one request. Nothing thrown may leave this call: it would end the process.
 * `contexts` are there where the library offers to upgrade: a GET with something like a handshake key.
 */
export function serve(
  response: UwsResponse,
  request: UwsRequest,
  contexts: UwsContexts | undefined,
  handlers: ServerHandlers,
  options: HttpServerOptions,
): void {
  const exchange = new UwsExchange(response, request);
  const fault = framingFault(exchange.head);
  const kind = fault ?? classify(exchange.head, options.headerBytesMax);
  if (fault !== undefined) exchange.replyAndCut(faultReply(fault, options));
  else if (kind instanceof ApiError) exchange.reply(faultReply(kind, options));
  else if (kind === 'plain' || contexts === undefined) void answer(exchange, handlers, options);
  else void shakeHands(exchange, contexts, handlers, options);
}

async function answer(exchange: UwsExchange, handlers: ServerHandlers, options: HttpServerOptions): Promise<void> {
  const reply = await answerOf(() => handlers.request(exchange.request), options);
  const { body, ...head } = reply;
  if (isInPieces(body)) exchange.stream(head, body, (error) => faultReply(error, options));
  else exchange.reply({ ...head, body: body ?? '' });
}

async function shakeHands(
  exchange: UwsExchange,
  contexts: UwsContexts,
  handlers: ServerHandlers,
  options: HttpServerOptions,
): Promise<void> {
  const answer = await handshakeOf(() => handlers.upgrade(exchange.request), options);
  if ('refuse' in answer) exchange.reply(answer.refuse, true);
  else exchange.accept(answer, contexts, options);
}

/** Well below the 30 s. */
const REFRESH_MS = 10_000;

class UwsExchange {
  readonly head: RequestHead;
  readonly request: ServerRequest;
  readonly #response: UwsResponse;
  readonly #body: RequestBody;
  /** Answered or aborted: the response must not be touched any more. */
  #over = false;
  #stream: BodyStream | undefined;
  /** Some of the last piece did not leave at once. */
  #isBehind = false;
  /** Runs where the connection is dropped as soon as the client takes no more of what waits. */
  #lastPieces: NodeJS.Timeout | undefined;
  /** The library has been counting since. */
  #isResumed = false;
  /** Runs from the end of such a body to the answer. */
  #awaitingAnswer: NodeJS.Timeout | undefined;
  /** The answer is out, and the rest of the body is awaited. */
  #endRest: (() => void) | undefined;

  constructor(response: UwsResponse, request: UwsRequest) {
    const query = request.getQuery() ?? '';
    this.#response = response;
    this.head = new RequestHead(request.getMethod(), request.getUrl(), query);
    request.forEach((name, value) => {
      this.head.add(name, value);
    });
    this.#body = new RequestBody(
      {
        pause: () => this.#whilePending(() => response.pause()),
        resume: () => {
          this.#isResumed = true;
          this.#whilePending(() => response.resume());
          // Also after the last byte, which may have arrived while the request was paused.
          if (this.#body.isComplete) this.#awaitAnswer();
        },
        // The library drops a client that sends less than 16 kB/s for 10 s, and starts counting again when it is resumed.
        waiting: () => this.#refresh(),
      },
      declaredBodyBytes(this.head.headers),
    );
    const abort = new AbortController();
    this.request = {
      method: this.head.method,
      path: this.head.path,
      query,
      headers: this.head.headers,
      remoteAddress: normaliseAddress(Buffer.from(response.getRemoteAddressAsText()).toString()),
      signal: abort.signal,
      body: (maxBytes) => this.#body.claim(maxBytes),
    };
    response.onAborted(() => {
      this.#over = true;
      this.#body.aborted();
      if (this.#endRest === undefined) abort.abort();
      else this.#endRest();
      clearTimeout(this.#lastPieces);
      clearTimeout(this.#awaitingAnswer);
      this.#stream?.gone();
    });
    response.onData((chunk, isLast) => {
      if (this.#over) return;
      this.#body.arrived(Buffer.from(chunk.slice(0)));
      if (isLast) this.#finished();
    });
  }

  #finished(): void {
    this.#body.finished();
    // The library waits as long as it takes for the answer, but where it was resumed it closes the connection after 30 s of silence.
    if (this.#isResumed) this.#awaitAnswer();
  }

  #awaitAnswer(): void {
    if (!this.#over) this.#awaitingAnswer ??= setTimeout(() => this.#refresh(), REFRESH_MS).unref();
  }

  /** The library starts counting again. */
  #refresh(): void {
    if (this.#over) return;
    this.#isResumed = true;
    this.#response.pause().resume();
    this.#awaitingAnswer?.refresh();
  }

  /** The connection ends with the answer. After the last chunk there may be trailers, which the library reads as a request. */
  get #isLast(): boolean {
    const { headers } = this.head;
    return headers.has('transfer-encoding') || hasToken(headers.get('connection'), 'close');
  }

  /** @param closeConnection after the answer, even if the client would keep it */
  reply(reply: WholeReply, closeConnection = false): void {
    if (this.#over) return;
    // Before the answer: afterwards the connection could not be resumed any more.
    this.#body.discard();
    if (!closeConnection && !this.#isLast) this.#write(reply, false);
    // While the library passes on what it has read, it serves the next request after this answer, and closes later. As long as this
    // request has no answer, the next one makes it close at once.
    else setImmediate(() => this.#writeLast(reply));
  }

  /**
   * Answers a request whose end is not known, and closes the connection before the library reads what is behind it. It would do so
   * only once it has read all that it has, except for an answer that it cannot gather: so the text is filled up with spaces.
   */
  replyAndCut(reply: WholeReply): void {
    const text = typeof reply.body === 'string' ? reply.body : '';
    this.#body.discard();
    this.#over = true;
    this.#response.cork(() => {
      this.#writeHead(reply);
      // With HEAD as well: such a request is not an honest client's.
      this.#response.end(text.padEnd(GATHERED_BYTES), true);
    });
  }

  #writeLast(reply: WholeReply): void {
    if (this.#over) return;
    const { body = '' } = reply;
    const isEarly = !this.#body.isComplete && this.head.method !== 'HEAD';
    if (isEarly && typeof body === 'string' && Buffer.byteLength(body) <= EARLY_ANSWER_BYTES_MAX)
      this.#replyEarly(reply, body);
    else this.#write(reply, true);
  }

  #write(reply: WholeReply, closeConnection: boolean): void {
    const { body } = reply;
    this.#over = true;
    this.#response.cork(() => {
      this.#writeHead(reply);
      if (this.head.method !== 'HEAD') this.#response.end(body ?? '', closeConnection);
      else this.#response.endWithoutBody(body === undefined ? body : Buffer.byteLength(body), closeConnection);
    });
  }

  /**
   * Answers a client that is still sending. The library would close the connection at once behind an answer that ends it, which
   * many clients take for a broken connection instead of reading the answer. So it is not told that the answer is whole: the end
   * of the head and the body are written as the value of the last header, behind which the library writes a line break.
   */
  #replyEarly(reply: WholeReply, body: string): void {
    const chunk = body === '' ? '' : `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n`;
    this.#response.cork(() => {
      this.#writeHead(reply);
      this.#response.writeHeader('Date', new Date().toUTCString());
      this.#response.writeHeader('Connection', 'close');
      this.#response.writeHeader('Transfer-Encoding', `chunked\r\n\r\n${chunk}0\r\n`);
    });
    // Not inside a call of the library, where the answer may not have left yet.
    this.#endRest = this.#body.afterRest(() => setImmediate(() => this.#drop()));
  }

  /** Answers with a body in pieces. The head leaves with the first of them: the library ends no head that has no body yet. */
  stream(head: Omit<Reply, 'body'>, body: AsyncIterable<string>, onFault: (error: unknown) => void): void {
    if (this.#over || this.head.method === 'HEAD') {
      abandonBody(body);
      this.reply(head);
      return;
    }
    this.#body.discard();
    const response = this.#response;
    let isHeadWritten = false;
    const corked = (write: () => void) =>
      response.cork(() => {
        if (!isHeadWritten) {
          this.#writeHead(head);
          // The library would close the connection, but writes this header where it is told so at the end.
          if (this.#isLast) response.writeHeader('Connection', 'close');
        }
        isHeadWritten = true;
        write();
      });
    const stream = new BodyStream(
      body,
      {
        write: (piece) => {
          corked(() => {
            this.#isBehind = !response.write(piece);
          });
          return !this.#isBehind;
        },
        end: () => {
          const end = () => {
            if (this.#over) return;
            this.#over = true;
            // Nothing more is read of it. The library closes the connection after about 30 s.
            if (this.#isLast) response.pause();
            corked(() => response.end('', false));
          };
          if (this.#isLast) this.#endRest = this.#body.afterRest(() => setImmediate(end));
          else end();
        },
        cut: () => this.#cut(),
        drop: () => this.#drop(),
      },
      onFault,
    );
    this.#stream = stream;
    response.onWritable(() => {
      if (this.#over) return true;
      // Whatever waits is sent as far as there is room, so that it never waits for the next piece.
      response.cork(() => {});
      this.#lastPieces?.refresh();
      stream.roomy();
      return true;
    });
    void stream.run();
  }

  /**
   * Behind what waits: the library tells when there is room, and not when all has left, so the end is that it tells no more.
   * Never at once: inside a call of the library what was written has not left yet, and would be dropped as well.
   */
  #cut(): void {
    if (this.#isBehind) this.#lastPieces = setTimeout(() => this.#drop(), LAST_PIECES_MS).unref();
    else setImmediate(() => this.#drop());
  }

  #drop(): void {
    if (this.#over) return;
    this.#over = true;
    this.#response.close();
  }

  #writeHead({ status, headers }: Omit<Reply, 'body'>): void {
    this.#response.writeStatus(statusLine(status));
    for (const [name, value] of writableHeaders(headers)) this.#response.writeHeader(name, value);
  }

  accept(answer: Acceptance, contexts: UwsContexts, options: HttpServerOptions): void {
    const onFault = faultTeller(options);
    if (this.#over) {
      new UnopenedSocket(answer.accept, onFault).terminate();
      return;
    }
    this.#over = true;
    const response = this.#response;
    const isLarge = options.messageBytesMax <= LARGE_BYTES || (answer.pace?.mayBeLarge() ?? true);
    const socket = new UwsSocket(answer, onFault, watchedSeconds(options) !== undefined);
    const key = this.head.headers.get('sec-websocket-key') ?? '';
    response.cork(() => this.#writeHead({ status: 101, headers: handshakeHeaders(answer) }));
    contexts.corker.run(() =>
      response.upgrade(socket.userData, key, '', '', isLarge ? contexts.large : contexts.small),
    );
    socket.start();
  }

  #whilePending(call: () => void): void {
    if (!this.#over) call();
  }
}

/** Made apart from an exchange: a socket keeps it, and would keep the request and its body with it. */
const faultTeller = (options: HttpServerOptions) => (error: unknown) => void faultReply(error, options);

const HOST = '127.0.0.1';

/**
 * Works around a fault of uWebSockets.js: it writes in one piece inside of `cork` only, and after an upgrade inside of a response's own
 * `cork` it reads memory that the upgrade has freed, and may close the new socket by what it finds there. So a response is upgraded
 * inside of another one's: that of a connection of this process to itself, which is never answered.
 */
export class Corker {
  readonly #response: UwsResponse;
  readonly #close: () => void;

  private constructor(response: UwsResponse, close: () => void) {
    this.#response = response;
    this.#close = close;
  }

  static async open(library: UwsLibrary): Promise<Corker> {
    const app = library.App();
    const path = `/${randomUUID()}`;
    const arrived = new Promise<UwsResponse>((resolve) => {
      app.any(path, (response) => {
        response.onAborted(() => {});
        resolve(response);
      });
    });
    const listenSocket = await new Promise<UwsListenSocket>((resolve, reject) => {
      app.listen(HOST, 0, library.LIBUS_LISTEN_EXCLUSIVE_PORT, (socket) =>
        socket === false ? reject(new Error(`No port of ${HOST} is free.`)) : resolve(socket),
      );
    });
    const client = connect(library.us_socket_local_port(listenSocket), HOST);
    client.on('error', () => {}).unref();
    client.write(`GET ${path} HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`);
    const response = await arrived;
    library.us_listen_socket_close(listenSocket);
    return new Corker(response, () => {
      client.destroy();
      app.close();
    });
  }

  /** Runs a call that upgrades a response. */
  run(upgrade: () => void): void {
    this.#response.cork(upgrade);
  }

  close(): void {
    this.#close();
  }
}
