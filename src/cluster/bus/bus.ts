// The bus: how actors send messages by address, on one node or many. This is the port and its contract; memory.ts and nats/
// implement it, test/suites/bus.suite.ts tests each promise.
import { isAddress } from './subjects.ts';

/** `<node>/<actor id>`. The node part is the node's incarnation: six characters, new at each start. */
export type Address = `${string}/${string}`;

/** A message. `body` is JSON-safe plain data; `bytes` is one optional binary part (audio). */
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

/** Why a message was not delivered, as far as the sender can know. */
export type DeadLetterReason = 'unknown_actor' | 'unknown_node' | 'overflow' | 'handler_failed' | 'disconnected';

export type SendOutcome = 'accepted' | DeadLetterReason;

/** Receives the messages to one actor. `envelope.bytes` is valid only during the call: copy what you keep. */
export type Receiver = (envelope: Envelope) => void;

/**
 * Called for messages of one actor that were accepted and then could not be delivered: the recipient does not exist, or its node
 * is gone. Not called for failures that `send` returned. A message may also be lost without a report.
 */
export type Undelivered = (to: Address, type: string, reason: DeadLetterReason) => void;

/** Answers requests to a service. When it rejects, the caller gets `handler_failed`. */
export type ServiceHandler = (body: BusBody, from: Address) => BusBody | Promise<BusBody>;

/** Removes what was attached; calling it twice does nothing. */
export type Detach = () => void;

/** A request that had no responders, failed, or was not answered in time. */
export class BusError extends Error {
  override readonly name = 'BusError';
  readonly reason: DeadLetterReason | 'timeout';

  constructor(reason: DeadLetterReason | 'timeout', message: string) {
    super(message);
    this.reason = reason;
  }
}

/**
 * Contract of every implementation:
 * - **Delivery** is at most once. The bus never carries the only copy of audio, finals or money.
 * - **Order** is kept from one sender to one receiver.
 * - **Timing**: delivery may happen inside `send`. A sender brings its own state into order before it sends.
 * - **Bytes** may be reused by the sender when `send` returns, and by the bus when the receiver returns.
 * - **Failure** of a receiver is not thrown to the sender; it is counted as a dead letter (`handler_failed`).
 * - **Dead letters** are counted by reason and reported to `onDeadLetter`; nothing is retried.
 * - **Bounds**: every queue has a size; what does not fit is refused as `overflow`.
 * - **Local first**: messages to this node, and requests to services that this node offers, stay on this node. They work while
 *   the bus is not connected, too.
 * - **Disconnected**: everything that would have to leave the node is refused as `disconnected` at once, and nothing is kept for
 *   later. The bus reconnects on its own without end.
 */
export interface Bus {
  /** This node's incarnation. */
  readonly node: string;
  /** Whether other nodes can be reached; always true for a bus with one node. */
  readonly isConnected: boolean;
  /** Called at each change of `isConnected`. */
  onConnection(listener: (isConnected: boolean) => void): Detach;
  /** Makes an actor reachable. Throws when the id is taken. */
  attach(actorId: string, receiver: Receiver, undelivered?: Undelivered): Detach;
  /** The address of an actor of this node. */
  address(actorId: string): Address;
  send(to: Address, from: Address, body: BusBody, bytes?: Uint8Array): SendOutcome;
  /** Offers a service; one of the nodes that serve it answers each request. */
  serve(service: string, handler: ServiceHandler): Detach;
  /** Offers a service to this node only, not to other nodes. */
  serveLocal(service: string, handler: ServiceHandler): Detach;
  /**
   * Sends a request to a service. Rejects with BusError: `unknown_actor` at once when there are no responders, `disconnected`, or
   * `timeout`.
   */
  request(service: string, from: Address, body: BusBody, timeoutMs: number): Promise<BusBody>;
  /** The same, to the service of that node only. */
  requestOf(node: string, service: string, from: Address, body: BusBody, timeoutMs: number): Promise<BusBody>;
  /** Sends to all subscribers on every node, this one included. */
  publish(topic: string, body: BusBody): void;
  subscribe(topic: string, receiver: (body: BusBody) => void): Detach;
  /** Dead letters since the start, by reason. */
  readonly deadLetters: Readonly<Record<DeadLetterReason, number>>;
  close(): Promise<void>;
}

/** Called for each dead letter; must not throw. */
export type DeadLetterListener = (letter: { to: string; from: string; type: string; reason: DeadLetterReason }) => void;

/**
 * Whether a dead letter is normal: a session or leg may end while messages to it are on their way. An address is only learned
 * from a message or an answer, so its actor existed. Every other dead letter, and a request without an answer, is reported to
 * the operator.
 */
export const isExpectedDeadLetter = ({ to, reason }: Parameters<DeadLetterListener>[0]): boolean =>
  (reason === 'unknown_actor' || reason === 'unknown_node') && (to === FORGOTTEN_ADDRESS || isAddress(to));

/** Stands for the recipient of a message when the sender's record of it is gone. */
export const FORGOTTEN_ADDRESS = 'forgotten';
