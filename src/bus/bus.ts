// The bus: how actors talk by address, on one node or many. The port and its promises; memory.ts and nats.ts keep them, and
// test/suites/bus.suite.ts holds each promise once.

/** `<node>/<actor id>`. The node part is the node's incarnation: six characters, new at each start. */
export type Address = `${string}/${string}`;

/** What travels. `body` is JSON-safe plain data; `bytes` is one optional binary part (audio). */
export interface Envelope {
  to: Address;
  from: Address;
  body: BusBody;
  bytes?: Uint8Array;
}

/** Every message names its type; the rest is plain data. */
export interface BusBody {
  type: string;
}

/** Why a message did not arrive, as far as the sender can know. */
export type DeadLetterReason = 'unknown_actor' | 'unknown_node' | 'overflow' | 'handler_failed' | 'disconnected';

export type SendOutcome = 'accepted' | DeadLetterReason;

/** Takes what arrives for one actor. `envelope.bytes` is valid only during the call: copy what is kept. */
export type Receiver = (envelope: Envelope) => void;

/**
 * Hears of letters of one actor that were accepted, and are known since not to have arrived: nobody has that address, or its
 * node is gone. Never told of what `send` itself has answered; and a letter may be lost without anybody knowing.
 */
export type Undelivered = (to: Address, type: string, reason: DeadLetterReason) => void;

/** Answers requests to a service. May take time; a rejection reaches the asker as `handler_failed`. */
export type ServiceHandler = (body: BusBody, from: Address) => BusBody | Promise<BusBody>;

/** Removes what was attached; calling it twice does nothing. */
export type Detach = () => void;

/** A request that found nobody, or whose answer did not come in time. */
export class BusError extends Error {
  override readonly name = 'BusError';
  readonly reason: DeadLetterReason | 'timeout';

  constructor(reason: DeadLetterReason | 'timeout', message: string) {
    super(message);
    this.reason = reason;
  }
}

/**
 * Promises that hold on every implementation:
 * - **Delivery** is at most once. The bus never carries the only copy of audio, finals or money.
 * - **Order** is kept from one sender to one receiver.
 * - **Timing**: delivery may happen inside `send`. A sender leaves its own state whole before it sends.
 * - **Bytes** may be reused by the sender when `send` returns, and by the bus when the receiver returns.
 * - **Failure** of a receiver never reaches the sender; it is counted as a dead letter (`handler_failed`).
 * - **Dead letters** are counted by reason and told to `onDeadLetter`; nothing is retried.
 * - **Bounds**: what an implementation queues has a size; what does not fit is refused as `overflow`.
 * - **Near first**: letters to this node, and requests that this node itself serves, go nowhere else. They pass also while the
 *   bus is not connected.
 * - **Away**: while the bus is not connected, what would have to leave the node is refused as `disconnected` at once, and
 *   nothing is kept for later. It connects again by itself, however long that takes.
 */
export interface Bus {
  /** This node's incarnation. */
  readonly node: string;
  /** Whether other nodes can be reached; always true of a bus that has none. */
  readonly isConnected: boolean;
  /** Hears each time that `isConnected` has changed. */
  onConnection(listener: (isConnected: boolean) => void): Detach;
  /** Makes an actor reachable. Throws when the id is taken. */
  attach(actorId: string, receiver: Receiver, undelivered?: Undelivered): Detach;
  /** The address of an actor of this node. */
  address(actorId: string): Address;
  send(to: Address, from: Address, body: BusBody, bytes?: Uint8Array): SendOutcome;
  /** Offers a service; one of the nodes that serve it answers each request. */
  serve(service: string, handler: ServiceHandler): Detach;
  /** Answers what this node itself asks, and nobody else: to other nodes the service is not here. */
  serveLocal(service: string, handler: ServiceHandler): Detach;
  /** Asks a service. Rejects with BusError: `unknown_actor` at once when nobody serves it, `disconnected`, or `timeout`. */
  request(service: string, from: Address, body: BusBody, timeoutMs: number): Promise<BusBody>;
  /** Asks the service of that node alone. Rejects in the same way. */
  requestOf(node: string, service: string, from: Address, body: BusBody, timeoutMs: number): Promise<BusBody>;
  /** Tells everyone who listens, on every node, this one included. */
  publish(topic: string, body: BusBody): void;
  subscribe(topic: string, receiver: (body: BusBody) => void): Detach;
  /** Dead letters since the start, by reason. */
  readonly deadLetters: Readonly<Record<DeadLetterReason, number>>;
  close(): Promise<void>;
}

/** Hears of each dead letter; must not throw. */
export type DeadLetterListener = (letter: { to: string; from: string; type: string; reason: DeadLetterReason }) => void;
