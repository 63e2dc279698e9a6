// A leg's connection, whatever carries it: a WebSocket to a provider, a gRPC call or an engine in this process. They are used
// through one guarded object that is safe at any time and tells its end exactly once.
import type { Clock } from '../../../machines/clock.ts';
import type { Endpoint, Engine, GrpcEndpoint, SocketEndpoint } from '../../vendors/provider.ts';
import type { Wire, WireListener } from './wire/contract.ts';
import { EngineWire } from './wire/engine-wire.ts';
import { GrpcWire } from './wire/grpc-wire.ts';
import { SocketWire } from './wire/socket-wire.ts';

export type { Wire, WireListener } from './wire/contract.ts';

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
