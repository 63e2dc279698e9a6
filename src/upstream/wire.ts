// A leg's connection, whatever carries it: a WebSocket to a provider, a gRPC call or an engine in this process. They are used
// through one guarded object that is safe at any time and tells its end exactly once.
import type { IncomingMessage } from 'node:http';
import WebSocket from 'ws';
import type { Clock } from '../../machines/clock.ts';
import type { DemandedFault } from '../../machines/events.ts';
import { jsonOf } from '../providers/kit/json.ts';
import type {
  Endpoint,
  Engine,
  EngineConnection,
  EngineListener,
  GrpcEndpoint,
  Incoming,
  Outgoing,
  ProviderRefusal,
  SocketEndpoint,
} from '../providers/provider.ts';
import { demandText, SIMULATED_HEADER } from '../providers/simulated-wire.ts';
import { Deadline } from '../runtime/deadline.ts';
import { joinedHeaders } from './http/headers.ts';
import { CLOSE_MS, MESSAGE_BYTES_MAX, type Wire, type WireListener } from './wire/contract.ts';
import { GrpcWire } from './wire/grpc-wire.ts';

export type { Wire, WireListener } from './wire/contract.ts';

/** Fragments of one message. */
const FRAGMENTS_MAX = 64;
/** A ping after so long without a sign; a socket that gives none for as long again is dropped. */
const PING_MS = 10_000;
/** Of the body of a refused upgrade; more is not waited for. */
const REFUSAL_BYTES_MAX = 4_096;
const REFUSAL_MS = 250;

/** What a wire can lead to. */
export type WireEndpoint = Exclude<Endpoint, { kind: 'request' }>;
/** Opens what leads over a network. */
export type OpenSocket = (endpoint: SocketEndpoint | GrpcEndpoint, listener: WireListener, clock: Clock) => Wire;

const openReal: OpenSocket = (endpoint, listener, clock) =>
  endpoint.kind === 'grpc' ? new GrpcWire(endpoint, listener, clock) : new SocketWire(endpoint, listener, clock);

/**
 * Opens the wire an endpoint names. How long that may take is the leg's to say: it terminates the wire.
 *
 * @param owner the organisation that the leg is for; an engine shares itself out between them
 */
export function openWire(
  endpoint: WireEndpoint,
  engines: Readonly<Record<string, Engine>>,
  listener: WireListener,
  clock: Clock,
  owner?: string,
  openSocket: OpenSocket = openReal,
): Wire {
  if (endpoint.kind !== 'embedded') return openSocket(endpoint, listener, clock);
  const engine = engines[endpoint.engine];
  if (engine === undefined) throw new Error(`The engine "${endpoint.engine}" is not part of this node.`);
  return new EngineWire(engine, endpoint.query, listener, owner);
}

/** The one wrapper around a client WebSocket. */
class SocketWire implements Wire {
  readonly #socket: WebSocket;
  readonly #listener: WireListener;
  readonly #clock: Clock;
  #heartbeat: Deadline | undefined;
  #connected = false;
  #unanswered = false;
  #isAsked = false;
  #over = false;
  #full = false;
  #isSimulated = false;

  constructor(endpoint: SocketEndpoint, listener: WireListener, clock: Clock) {
    this.#listener = listener;
    this.#clock = clock;
    // No compression, no redirects, small bounds: a provider is not trusted with this process's memory.
    this.#socket = new WebSocket(endpoint.url, endpoint.protocols ?? [], {
      headers: endpoint.headers,
      perMessageDeflate: false,
      followRedirects: false,
      maxPayload: MESSAGE_BYTES_MAX,
      maxFragments: FRAGMENTS_MAX,
    });
    this.#socket.binaryType = 'nodebuffer';
    this.#socket.on('upgrade', ({ headers }) => {
      this.#isSimulated = headers[SIMULATED_HEADER] !== undefined;
    });
    this.#socket.on('open', () => {
      if (this.#over) return;
      this.#connected = true;
      this.#keepAlive();
      if (this.#isSimulated) this.#listener.simulated?.();
      this.#listener.opened();
    });
    this.#socket.on('pong', this.#alive);
    this.#socket.on('message', (data: Buffer, isBinary: boolean) => this.#deliver(data, isBinary));
    this.#socket.on('unexpected-response', (request, response) => {
      this.#readRefusal(response, (refusal) => {
        request.destroy();
        this.#end(() => this.#listener.refused(refusal));
      });
    });
    this.#socket.on('error', (error: NodeJS.ErrnoException) => {
      // Once connected, the close that follows says all there is to say. Its text would name addresses of the operator's.
      if (this.#connected) return;
      const code = error.code === undefined ? '' : ` (${error.code})`;
      this.#end(() => this.#listener.unreachable(`The provider could not be reached${code}.`));
    });
    this.#socket.on('close', (code, reason) => this.#end(() => this.#listener.closed(code, reason.toString())));
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  send(frame: Outgoing): void {
    if (this.#over || this.#socket.readyState !== WebSocket.OPEN) return;
    // A masked copy is made inside `send`, so the caller may reuse its buffer.
    if (frame instanceof Uint8Array || typeof frame === 'string') this.#socket.send(frame, this.#sent);
    else this.#socket.send(JSON.stringify(frame), this.#sent);
    this.#full ||= this.#socket.bufferedAmount > 0;
  }

  breakDown(fault: DemandedFault): void {
    if (this.#isSimulated) this.send(demandText(fault));
  }

  askForSign(): void {
    if (this.#over || this.#socket.readyState !== WebSocket.OPEN) return;
    this.#isAsked = true;
    this.#socket.ping();
  }

  close(): void {
    if (this.#over) return;
    this.#socket.close(1000);
    const clock = this.#clock;
    const socket = this.#socket;
    const timer = clock.setTimeout(() => socket.terminate(), CLOSE_MS);
    socket.on('close', () => clock.clearTimeout(timer));
  }

  terminate(): void {
    if (this.#over) return;
    this.#end(() => {});
    this.#socket.terminate();
  }

  readonly #sent = (): void => {
    if (!this.#full || this.#over || this.#socket.bufferedAmount > 0) return;
    this.#full = false;
    this.#listener.drained();
  };

  #deliver(data: Buffer, isBinary: boolean): void {
    if (this.#over) return;
    this.#alive();
    this.#listener.message(isBinary ? { bytes: data } : messageOf(data.toString('utf8')));
  }

  readonly #alive = (): void => {
    this.#unanswered = false;
    this.#heartbeat?.touch();
    if (!this.#isAsked || this.#over) return;
    this.#isAsked = false;
    this.#listener.alive();
  };

  /** A ping whenever nothing came for a while; a second such while without a sign of life ends the wire. */
  #keepAlive(): void {
    this.#heartbeat = new Deadline(this.#clock, PING_MS, () => {
      if (this.#unanswered) {
        this.#end(() => this.#listener.closed(1006, 'The provider did not answer a ping.'));
        this.#socket.terminate();
        return;
      }
      this.#unanswered = true;
      this.#socket.ping();
      this.#keepAlive();
    });
  }

  /** The body of a refusal tells more than its status; what is not there soon is left out. */
  #readRefusal(response: IncomingMessage, done: (refusal: ProviderRefusal) => void): void {
    const pieces: Buffer[] = [];
    let bytes = 0;
    let over = false;
    const finish = (): void => {
      if (over) return;
      over = true;
      wait.stop();
      const body = Buffer.concat(pieces).subarray(0, REFUSAL_BYTES_MAX).toString('utf8');
      done({ status: response.statusCode ?? 0, headers: joinedHeaders(response.headers), body });
    };
    const wait = new Deadline(this.#clock, REFUSAL_MS, finish);
    response.on('data', (piece: Buffer) => {
      pieces.push(piece);
      bytes += piece.byteLength;
      if (bytes >= REFUSAL_BYTES_MAX) finish();
    });
    response.on('end', finish);
    response.on('error', finish);
    response.on('close', finish);
  }

  #end(tell: () => void): void {
    if (this.#over) return;
    this.#over = true;
    this.#heartbeat?.stop();
    tell();
  }
}

/** The same contract in front of an engine. */
class EngineWire implements Wire {
  readonly #connection: EngineConnection;
  readonly #listener: WireListener;
  #over = false;

  constructor(engine: Engine, query: Readonly<Record<string, unknown>>, listener: WireListener, owner?: string) {
    this.#listener = listener;
    const heard: EngineListener = {
      open: () => {
        if (!this.#over) listener.opened();
      },
      message: (json) => {
        if (!this.#over) listener.message({ json });
      },
      drained: () => {
        if (!this.#over) listener.drained();
      },
      closed: (code, reason) => {
        if (this.#over) return;
        this.#over = true;
        listener.closed(code, reason);
      },
    };
    this.#connection = engine.connect(query, heard, owner);
  }

  get bufferedBytes(): number {
    return this.#connection.bufferedBytes;
  }

  send(frame: Outgoing): void {
    if (!this.#over) this.#connection.send(frame);
  }

  /** It simulates nobody. */
  breakDown(): void {}

  /** An engine of this process says by itself when it has failed. */
  askForSign(): void {
    if (!this.#over) this.#listener.alive();
  }

  close(): void {
    if (!this.#over) this.#connection.close();
  }

  terminate(): void {
    if (this.#over) return;
    this.#over = true;
    this.#connection.terminate();
  }
}

/** A text frame as a codec is told of it. */
export function messageOf(text: string): Incoming {
  const json = jsonOf(text);
  return json === undefined ? { text } : { json };
}
