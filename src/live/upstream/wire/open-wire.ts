// A leg's connection, whatever carries it: a WebSocket to a provider, a gRPC call or an engine in this process. They are used
// through one guarded object that is safe at any time and tells its end exactly once.
import type { Clock } from '../../../../machines/clock.ts';
import type {
  Endpoint,
  Engine,
  EngineConnection,
  EngineListener,
  GrpcEndpoint,
  Outgoing,
  SocketEndpoint,
} from '../../../vendors/kit/provider.ts';
import { GrpcWire } from './grpc-wire.ts';
import { SocketWire } from './socket-wire.ts';
import type { Wire, WireListener } from './wire.ts';

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

/** A leg's connection to an engine of this process: the same contract in front of it. */
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

  /** An engine of this process says on its own when it has failed. */
  ping(): void {
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
