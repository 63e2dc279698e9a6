// One request or handshake on uWebSockets.js, from the library's callback to the written answer. The request is copied
// before anything else, because the library takes it back at the first await.
import { Refusal } from '../api/errors.ts';
import type { DoorHandlers, DoorOptions, DoorRequest, Reply } from './door.ts';
import {
  type Acceptance,
  answerOf,
  faultReply,
  handshakeHeaders,
  handshakeOf,
  statusLine,
  writableHeaders,
} from './door-reply.ts';
import { UnopenedSocket } from './guarded-socket.ts';
import { RequestBody } from './request-body.ts';
import { classify, declaredBodyBytes, normaliseAddress, RequestHead } from './request-head.ts';
import type { UwsContext, UwsRequest, UwsResponse } from './uws-library.ts';
import { UwsSocket } from './uws-socket.ts';

/**
 * Serves one request. Nothing thrown may leave this call: it would end the process.
 * `context` is there where the library offers to upgrade: a GET with something like a handshake key.
 */
export function serve(
  response: UwsResponse,
  request: UwsRequest,
  context: UwsContext | undefined,
  handlers: DoorHandlers,
  options: DoorOptions,
): void {
  const exchange = new UwsExchange(response, request);
  const kind = classify(exchange.head, options.headerBytesMax);
  if (kind instanceof Refusal) exchange.reply(faultReply(kind, options));
  else if (kind === 'plain' || context === undefined) void answer(exchange, handlers, options);
  else void shakeHands(exchange, context, handlers, options);
}

async function answer(exchange: UwsExchange, handlers: DoorHandlers, options: DoorOptions): Promise<void> {
  exchange.reply(await answerOf(() => handlers.request(exchange.request), options));
}

async function shakeHands(
  exchange: UwsExchange,
  context: UwsContext,
  handlers: DoorHandlers,
  options: DoorOptions,
): Promise<void> {
  const answer = await handshakeOf(() => handlers.upgrade(exchange.request), options);
  if ('refuse' in answer) exchange.reply(answer.refuse, true);
  else exchange.accept(answer, context, (error) => faultReply(error, options));
}

class UwsExchange {
  readonly head: RequestHead;
  readonly request: DoorRequest;
  readonly #response: UwsResponse;
  readonly #body: RequestBody;
  /** Answered or aborted: the response must not be touched any more. */
  #over = false;

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
        resume: () => this.#whilePending(() => response.resume()),
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
      abort.abort();
    });
    response.onData((chunk, isLast) => {
      if (this.#over) return;
      this.#body.arrived(Buffer.from(chunk.slice(0)));
      if (isLast) this.#body.finished();
    });
  }

  reply(reply: Reply, closeConnection = false): void {
    if (this.#over) return;
    // Before the answer: afterwards the connection could not be resumed any more.
    this.#body.discard();
    this.#over = true;
    const response = this.#response;
    const body = reply.body ?? '';
    response.cork(() => {
      response.writeStatus(statusLine(reply.status));
      for (const [name, value] of writableHeaders(reply.headers)) response.writeHeader(name, value);
      if (this.head.method !== 'HEAD') {
        response.end(body, closeConnection);
        return;
      }
      // Given the length, some builds of the library never finish the response.
      response.writeHeader('Content-Length', String(Buffer.byteLength(body)));
      response.endWithoutBody();
    });
  }

  accept(answer: Acceptance, context: UwsContext, onFault: (error: unknown) => void): void {
    if (this.#over) {
      new UnopenedSocket(answer.accept, onFault).terminate();
      return;
    }
    this.#over = true;
    const response = this.#response;
    const socket = new UwsSocket(answer.accept, onFault);
    const key = this.head.headers.get('sec-websocket-key') ?? '';
    response.cork(() => {
      response.writeStatus(statusLine(101));
      for (const [name, value] of writableHeaders(handshakeHeaders(answer))) response.writeHeader(name, value);
    });
    // Not inside `cork`: when the upgraded socket happens to stay at the same address, builds of the library go on to read
    // the state of the response that is no more, and by chance close the connection.
    response.upgrade(socket.userData, key, '', '', context);
    socket.start();
  }

  #whilePending(call: () => void): void {
    if (!this.#over) call();
  }
}
