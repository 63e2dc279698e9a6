// One request on node:http, from its head to the written answer, and the answers that must be written without node:http.
// What the answers say is decided by the handlers.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Refusal, refuse } from '../../api/errors.ts';
import type { DoorRequest, Reply, WholeReply } from '../door.ts';
import { statusLine, writableHeaders } from '../door-reply.ts';
import { abandonBody, BodyStream, isInPieces } from '../door-stream.ts';
import { RequestBody } from '../http/request-body.ts';
import { declaredBodyBytes, headTooLarge, normaliseAddress, RequestHead } from '../http/request-head.ts';

/** How long a connection that is being given up may still take to read its last answer. */
const LAST_ANSWER_MS = 2_000;

/** The head of a request as it was sent. */
export function headOf(request: IncomingMessage): RequestHead {
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
export function headWithoutUpgrade(incoming: IncomingMessage): Buffer {
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
export function refusalOfBroken(code: string, headerBytesMax: number): Refusal | undefined {
  // Without an answer the client would not know why it was closed.
  if (code === 'CONNECT')
    return refuse('method_not_allowed', 'The gateway opens no tunnels. Send the request itself instead of `CONNECT`.');
  if (code === 'HPE_HEADER_OVERFLOW') return headTooLarge(headerBytesMax);
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return refuse('request_timeout', 'The request did not arrive in time. Send it again over a steadier connection.');
  }
  // The client left in the middle of its request, or never spoke HTTP.
  if (code === 'HPE_INVALID_EOF_STATE' || !code.startsWith('HPE_')) return undefined;
  return refuse('invalid_request', 'The request is not valid HTTP/1.1. Use an HTTP client library.');
}

export function doorRequest(
  head: RequestHead,
  remoteAddress: string | undefined,
  signal: AbortSignal,
  body: RequestBody,
): DoorRequest {
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
  readonly request: DoorRequest;
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
    this.request = doorRequest(this.head, incoming.socket.remoteAddress, abort.signal, this.#body);
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
export function replyOnSocket(socket: Duplex, reply: WholeReply): void {
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
