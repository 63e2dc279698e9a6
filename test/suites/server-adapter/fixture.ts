// What the parts of the server's suite share: a server with recording handlers, closed after each test, and plain clients.
import { createHash } from 'node:crypto';
import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { afterAll, afterEach, vi } from 'vitest';
import { WebSocket } from 'ws';
import { ApiError } from '../../../src/api/errors.ts';
import type {
  HttpServer,
  HttpServerOptions,
  OpenServer,
  ServerHandlers,
  ServerRequest,
  ServerSocket,
  SocketHandlers,
  WholeReply,
} from '../../../src/http/server.ts';
import { RawSocket } from '../../fakes/raw-socket.ts';
import type { AdapterGaps } from './gaps.ts';

export interface AdapterUnderTest {
  open: OpenServer;
  gaps: AdapterGaps;
}

export const HEADER_BYTES_MAX = 8192;
export const MESSAGE_BYTES_MAX = 1024 * 1024;

/** One thing that happened, waited for as a promise. */
export class Signal<T> {
  readonly #arrived: T[] = [];
  readonly #waiting: ((value: T) => void)[] = [];

  readonly add = (value: T): void => {
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#arrived.push(value);
    else waiting(value);
  };

  /** The next one, in order. */
  next(): Promise<T> {
    if (this.#arrived.length > 0) return Promise.resolve(this.#arrived.shift() as T);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Those that nobody waited for. */
  get left(): readonly T[] {
    return this.#arrived;
  }
}

export type Event =
  | { type: 'open' | 'drained'; socket: ServerSocket }
  | { type: 'pong'; socket: ServerSocket; text: string }
  | { type: 'message'; socket: ServerSocket; data: Buffer; isBinary: boolean }
  | { type: 'closed'; socket: ServerSocket; code: number; reason: string };

/** Handlers that record, each event a copy. `on` is called inside the handler. */
export function recordingHandlers(events: Signal<Event>, on: (event: Event) => void = () => {}): SocketHandlers {
  const record = (event: Event) => {
    events.add(event);
    on(event);
  };
  return {
    open: (socket) => record({ type: 'open', socket }),
    message: (socket, data, isBinary) => record({ type: 'message', socket, data: Buffer.from(data), isBinary }),
    pong: (socket, text) => record({ type: 'pong', socket, text }),
    drained: (socket) => record({ type: 'drained', socket }),
    closed: (socket, code, reason) => record({ type: 'closed', socket, code, reason }),
  };
}

/** Echoes text; answers binary with its length and digest. */
export const echoHandlers: SocketHandlers = {
  open: () => {},
  message: (socket, data, isBinary) => {
    socket.send(isBinary ? `${data.byteLength} ${digest(data)}` : Buffer.from(data).toString());
  },
  pong: () => {},
  drained: () => {},
  closed: () => {},
};

export function digest(data: Uint8Array): string {
  return createHash('sha1').update(data).digest('hex');
}

const openServers: HttpServer[] = [];
const openClients: { destroy(): void }[] = [];
async function close(): Promise<void> {
  for (const client of openClients.splice(0)) client.destroy();
  await Promise.all(openServers.splice(0).map((server) => server.close()));
}
export const closeAfterEach = (): void => afterEach(close);
/** For tests that run at the same time: one that ends would close the servers of the others. */
export const closeAfterAll = (): void => afterAll(close);

export interface Started {
  server: HttpServer;
  port: number;
  faults: unknown[];
}

/** Opens a server on a free port. By default it answers 200 and accepts sockets that echo. */
export async function start(
  { open }: AdapterUnderTest,
  handlers: Partial<ServerHandlers> = {},
  options: Partial<HttpServerOptions> = {},
): Promise<Started> {
  const faults: unknown[] = [];
  const server = await open(
    {
      request: async () => ({ status: 200, body: 'ok' }),
      upgrade: async () => ({ accept: echoHandlers }),
      ...handlers,
    },
    {
      host: '127.0.0.1',
      port: 0,
      headerBytesMax: HEADER_BYTES_MAX,
      messageBytesMax: MESSAGE_BYTES_MAX,
      headerTimeoutMs: 10_000,
      onFault: (error) => {
        faults.push(error);
        return error instanceof ApiError
          ? {
              status: error.status,
              headers: { ...error.extras.headers },
              body: JSON.stringify({ error: error.body('req_test') }),
            }
          : { status: 500, body: 'fault' };
      },
      ...options,
    },
  );
  openServers.push(server);
  return { server, port: server.port, faults };
}

/** Runs a case on fake timers, for ends that a timer of the server brings; sockets run in real time. */
export const onFakeTimers =
  <Given extends unknown[]>(run: (...given: Given) => Promise<void>) =>
  async (...given: Given): Promise<void> => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      await run(...given);
    } finally {
      vi.useRealTimers();
    }
  };

export async function rawSocket(port: number, options: { tls?: boolean } = {}): Promise<RawSocket> {
  const socket = await RawSocket.connect(port, options);
  openClients.push(socket);
  return socket;
}

/** A socket of the `ws` package, open. */
export async function webSocket(port: number, path = '/'): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`);
  openClients.push({ destroy: () => socket.terminate() });
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  return socket;
}

export function nextMessage(socket: WebSocket): Promise<string> {
  return new Promise((resolve) => socket.once('message', (data) => resolve(data.toString())));
}

export interface HttpReply {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** One request over node:http, on a connection of its own unless an agent is given. */
export function http(
  port: number,
  path: string,
  {
    method = 'GET',
    headers = {},
    body,
    agent,
  }: { method?: string; headers?: Record<string, string>; body?: string | Uint8Array; agent?: Agent } = {},
): Promise<HttpReply> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { port, host: '127.0.0.1', path, method, headers, agent: agent ?? new Agent() },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks).toString(),
          }),
        );
        response.on('error', reject);
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

/** The bytes of a plain GET; `headers` are whole lines. */
export const get = (target: string, headers: readonly string[] = []) =>
  [`GET ${target} HTTP/1.1`, 'Host: localhost', ...headers, '\r\n'].join('\r\n');

/** A reply that shows what the handler saw of the request. */
export function mirror(request: ServerRequest): WholeReply {
  const { method, path, query, remoteAddress } = request;
  return {
    status: 200,
    body: JSON.stringify({ method, path, query, remoteAddress, headers: Object.fromEntries(request.headers) }),
  };
}
