// Sockets around a stage: a provider's simulator on a port of this machine, over HTTP and WebSocket. What is said and what
// goes wrong is the stage's; requests and answers of HTTP are http.ts's, calls of gRPC grpc.ts's.
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Server as SocketServer, WebSocket, WebSocketServer } from 'ws';
import type { Clock } from '../../../machines/clock.ts';
import { systemClock } from '../../runtime/telemetry/clock.ts';
import { SIMULATED_HEADER } from '../kit/simulated-wire.ts';
import type { ProviderSimulator, SimulatedAnswer, SimulatedRequest } from '../kit/simulation.ts';
import type { EarSource } from './ears.ts';
import { GrpcHost } from './grpc.ts';
import type { StagePeer } from './saying.ts';
import { SimulatorStage, type StageOptions } from './stage.ts';
import type { StageConnection } from './stage-connection.ts';

export interface SimulatorServerOptions extends Pick<StageOptions, 'onEnd' | 'onFault'> {
  simulator: ProviderSimulator;
  ear: EarSource;
  /** `name` or `name=value`; `FAULTS` of src/vendors/simulation/faults.ts lists them. */
  faults?: readonly string[];
  clock?: Clock;
  /** Largest body of a request; 2 GiB when absent. */
  bodyBytesMax?: number;
  /** 127.0.0.1 when absent. */
  host?: string;
  /** A free one when absent or 0. */
  port?: number;
}

/** Largest WebSocket message of a client. */
const MESSAGE_BYTES_MAX = 16 * 1024 * 1024;
/** What a client has not read; a connection with more is reset. */
const UNREAD_BYTES_MAX = 16 * 1024 * 1024;
/** An upgrade that is never answered is released after so long. */
const HUNG_MS = 600_000;
/** Clients that vanish without a word are noticed by TCP. */
const TCP_KEEP_ALIVE_MS = 60_000;

/** Leaves the answer to a client's close to the stage. */
class StageSocket extends WebSocket {
  connection: StageConnection | undefined;

  /** Called by the library when a close frame has come. */
  override close(code?: number, reason?: string | Buffer): void {
    if (this.connection?.answersClose() !== false) super.close(code, reason);
  }

  /** The provider closes. */
  hangUp(code?: number, reason?: string): void {
    super.close(code, reason);
  }
}

export class SimulatorServer {
  readonly #stage: SimulatorStage;
  readonly #clock: Clock;
  readonly #bodyBytesMax: number | undefined;
  readonly #http: Server;
  readonly #sockets: SocketServer<typeof StageSocket>;
  /** Sockets of upgrades, answered or not, and of those the ones that talk. */
  readonly #upgraded = new Set<Duplex>();
  readonly #talking = new Set<StageSocket>();
  #grpc: GrpcHost | undefined;
  readonly #subprotocols = new WeakMap<IncomingMessage, string>();

  private constructor({ clock = systemClock, host: _, port: __, bodyBytesMax, ...stage }: SimulatorServerOptions) {
    this.#clock = clock;
    this.#bodyBytesMax = bodyBytesMax;
    this.#stage = new SimulatorStage({ ...stage, clock });
    this.#sockets = new WebSocketServer({
      noServer: true,
      WebSocket: StageSocket,
      maxPayload: MESSAGE_BYTES_MAX,
      clientTracking: false,
      perMessageDeflate: false,
      handleProtocols: (_protocols, request) => this.#subprotocols.get(request) ?? false,
    });
    this.#sockets.on('headers', (headers) => void headers.push(`${SIMULATED_HEADER}: ${stage.simulator.provider}`));
    const keepAlive = { keepAlive: true, keepAliveInitialDelay: TCP_KEEP_ALIVE_MS };
    this.#http = createServer(keepAlive, (request, response) => void this.#answer(request, response));
    this.#http.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
  }

  /** Listens. Rejects when it cannot, or when a fault is unknown or ill-formed. */
  static async start(options: SimulatorServerOptions): Promise<SimulatorServer> {
    const server = new SimulatorServer(options);
    const { grpc } = options.simulator;
    if (grpc !== undefined) server.#grpc = await GrpcHost.serve(server.#http, server.#stage, grpc);
    await new Promise<void>((resolve, reject) => {
      server.#http.once('error', reject);
      server.#http.listen(options.port ?? 0, options.host ?? '127.0.0.1', resolve);
    });
    return server;
  }

  get port(): number {
    return (this.#http.address() as AddressInfo).port;
  }

  /** `http://127.0.0.1:port`, where a program of this machine reaches it. */
  get url(): string {
    const { address, port } = this.#http.address() as AddressInfo;
    const host = { '0.0.0.0': '127.0.0.1', '::': '::1' }[address] ?? address;
    return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  }

  /** Connections open now that asked for a WebSocket, or make calls. */
  get connections(): number {
    return this.#upgraded.size + (this.#grpc?.connections ?? 0);
  }

  /** Drops every connection and stops listening. Resolves when the simulator has been told of every end. */
  async close(): Promise<void> {
    const ends = [...this.#talking].map((socket) => new Promise((resolve) => socket.once('close', resolve)));
    ends.push(new Promise((resolve) => this.#http.close(resolve)));
    for (const socket of this.#upgraded) socket.destroy();
    ends.push(this.#grpc?.close() ?? Promise.resolve());
    this.#http.closeAllConnections();
    this.#stage.close();
    await Promise.all(ends);
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#upgraded.add(socket);
    socket.on('close', () => this.#upgraded.delete(socket));
    socket.on('error', () => socket.destroy());
    const asked = requestOf(request);
    const upgrade =
      asked === undefined
        ? { type: 'refuse' as const, answer: this.#stage.simulator.refusal(400) }
        : this.#stage.upgrade(asked);
    if (upgrade.type === 'refuse') {
      socket.once('finish', () => socket.destroy());
      socket.end(refusalText(upgrade.answer));
    } else if (upgrade.type === 'hang') {
      this.#hang(socket);
    } else {
      if (upgrade.subprotocol !== undefined) this.#subprotocols.set(request, upgrade.subprotocol);
      this.#sockets.handleUpgrade(request, socket, head, (webSocket) =>
        this.#serve(webSocket, socket, upgrade.connect),
      );
    }
  }

  /** Reads, so that the client's end is seen, and says nothing. */
  #hang(socket: Duplex): void {
    const timer = this.#clock.setTimeout(() => socket.destroy(), HUNG_MS);
    socket.on('close', () => this.#clock.clearTimeout(timer));
    socket.on('end', () => socket.destroy());
    socket.resume();
  }

  #serve(webSocket: StageSocket, socket: Duplex, connect: (peer: StagePeer) => StageConnection): void {
    // Upgrades of node:http come on its own sockets.
    const drop = (): void => void (socket as Socket).resetAndDestroy();
    const connection = connect({
      send: (frame) => {
        if (webSocket.readyState !== WebSocket.OPEN) return;
        const isRaw = typeof frame === 'string' || frame instanceof Uint8Array;
        webSocket.send(isRaw ? frame : JSON.stringify(frame));
        if (webSocket.bufferedAmount > UNREAD_BYTES_MAX) drop();
      },
      close: (code, reason) => webSocket.hangUp(code, reason),
      drop,
      freeze: () => webSocket.pause(),
      raw: (bytes) => {
        if (webSocket.readyState === WebSocket.OPEN) socket.write(bytes);
      },
    });
    webSocket.connection = connection;
    this.#talking.add(webSocket);
    webSocket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) connection.bytes(data);
      else connection.text(data.toString());
    });
    // What a client breaks, the library closes; the end follows as `close`.
    webSocket.on('error', () => {});
    webSocket.on('close', (code) => {
      this.#talking.delete(webSocket);
      connection.gone(code);
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const body = await readBody(request, this.#bodyBytesMax);
      const asked = requestOf(request, body);
      const { simulator } = this.#stage;
      if (body === undefined) writeAnswer(response, simulator.refusal(413), { isLast: true });
      else if (asked === undefined) writeAnswer(response, simulator.refusal(400));
      else {
        const answer = await this.#stage.http(asked);
        if (answer !== undefined) writeAnswer(response, answer);
      }
    } catch (error) {
      response.destroy();
      // A client that went away in the middle of its body is not a fault.
      if (!request.errored) throw error;
    }
  }
}

/** Largest body of a request: what the most generous provider takes. */
export const BODY_BYTES_MAX = 2 * 1024 ** 3;

/** The whole body; undefined when it is too large. Rejects when the client went away before its end. */
export async function readBody(request: IncomingMessage, bytesMax = BODY_BYTES_MAX): Promise<Uint8Array | undefined> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request.iterator({ destroyOnReturn: false })) {
    bytes += (piece as Buffer).byteLength;
    if (bytes > bytesMax) return undefined;
    pieces.push(piece as Buffer);
  }
  return Buffer.concat(pieces);
}

/** Undefined when its target is not a URL. */
export function requestOf(
  request: IncomingMessage,
  body: Uint8Array = new Uint8Array(0),
): SimulatedRequest | undefined {
  const base = `http://${request.headers.host ?? 'localhost'}`;
  const target = request.url ?? '/';
  if (!URL.canParse(target, base)) return undefined;
  const headers = Object.entries(request.headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(', ') : value,
  ]);
  return { method: request.method ?? 'GET', url: new URL(target, base), headers: Object.fromEntries(headers), body };
}

/** Writes an answer. After the last one the connection ends, whatever the client still sends. */
export function writeAnswer(response: ServerResponse, answer: SimulatedAnswer, { isLast = false } = {}): void {
  const { headers, text } = written(answer);
  if (isLast) {
    response.req.resume();
    headers.connection = 'close';
  }
  response.writeHead(answer.status, headers).end(text);
}

/** The answer to an upgrade that is refused, with its head. */
export function refusalText(answer: SimulatedAnswer): string {
  const { headers, text } = written(answer);
  const all = { ...headers, 'content-length': String(Buffer.byteLength(text)), connection: 'close' };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ''}\r\n${lines.join('')}\r\n${text}`;
}

function written({ headers = {}, body }: SimulatedAnswer): { headers: Record<string, string>; text: string } {
  if (body === undefined || typeof body === 'string') return { headers: { ...headers }, text: body ?? '' };
  return { headers: { 'content-type': 'application/json', ...headers }, text: JSON.stringify(body) };
}
