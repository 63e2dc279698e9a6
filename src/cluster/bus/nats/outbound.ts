// Everything that leaves a node for another one: sealed, within its bounds, in the order in which it was said; messages to nodes that
// take batches in batches, the rest one by one.
import type { Address, BusBody, DeadLetterReason } from '../bus.ts';
import type { Sealer } from '../sealing/frame-seal.ts';
import type { AddressPair } from './address-pairs.ts';
import { OutgoingBatches, type Posted } from './batches.ts';
import type { NatsConnector } from './connector.ts';
import { encodeFrame } from './frames.ts';
import { BATCH, BATCH_UNDELIVERED, isSafeName, type Subjects } from './subjects.ts';

interface OutboundOptions {
  node: string;
  connector: NatsConnector;
  subjects: Subjects;
  sealer: Sealer;
  inFlightBytesMax: number | undefined;
  /** A message that was accepted did not leave. */
  dropped(posted: Posted): void;
}

export class Outbound {
  readonly #options: OutboundOptions;
  readonly #inFlight: InFlightWindow;
  readonly #batches: OutgoingBatches;

  constructor(options: OutboundOptions) {
    this.#options = options;
    const { node, connector, subjects, inFlightBytesMax, dropped } = options;
    this.#inFlight = new InFlightWindow(() => connector.connection.flush(), inFlightBytesMax);
    const own = subjects.ofNode(node);
    this.#batches = new OutgoingBatches({
      fits: (bytes) => this.#inFlight.fits(bytes),
      dropped,
      post: (to, id, plain) => {
        const reply = `${own}${BATCH_UNDELIVERED}.${id.toString(36)}`;
        return this.#publish(`${subjects.ofNode(to)}${BATCH}.${node}`, reply, plain) === undefined;
      },
    });
  }

  /** Bytes in flight to the server. */
  get bytes(): number {
    return this.#inFlight.bytes;
  }

  /** A message to an actor. This and the next return the reason when it could not be sent. */
  send(pair: AddressPair, body: BusBody, bytes: Uint8Array | undefined): DeadLetterReason | undefined {
    if (!this.#options.connector.isConnected) return 'disconnected';
    const untaken = this.#batches.add(pair, body, bytes);
    if (untaken !== 'alone') return untaken;
    const reply = `${pair.reply}${isSafeName(body.type) ? body.type : 'unnamed'}`;
    return this.say(pair.subject, reply, pair.from, body, bytes);
  }

  /** Anything, to that subject, behind everything that was said before. */
  say(
    subject: string,
    reply: string | undefined,
    from: Address,
    body: BusBody,
    bytes?: Uint8Array,
  ): DeadLetterReason | undefined {
    this.#batches.send();
    const plain = encodeFrame(from, body, bytes);
    return plain === undefined ? 'overflow' : this.#publish(subject, reply, plain);
  }

  /** The node has said that it takes batches. */
  takesBatches(node: string): void {
    this.#batches.begin(node);
  }

  /** The messages of a batch whose node is not there. */
  undeliveredBatch(id: number): readonly Posted[] {
    const posted = this.#batches.sent(id);
    for (const { pair } of posted.slice(0, 1)) this.#batches.end(pair.node);
    return posted;
  }

  /** What has gathered leaves now. */
  flush(): void {
    this.#batches.send();
  }

  /** The connection was lost, or is a new one. */
  reset(): void {
    this.#inFlight.reset();
    this.#batches.drop();
  }

  #publish(subject: string, reply: string | undefined, plain: Uint8Array): DeadLetterReason | undefined {
    const { connector, sealer } = this.#options;
    if (!connector.isConnected) return 'disconnected';
    const { connection } = connector;
    const frame = sealer.seal(subject, reply ?? '', plain);
    if (frame.byteLength > (connection.info?.max_payload ?? 0)) return 'overflow';
    if (!this.#inFlight.fits(frame.byteLength)) return 'overflow';
    connection.publish(subject, frame, reply === undefined ? undefined : { reply });
    this.#inFlight.sent(frame.byteLength);
    return undefined;
  }
}

/** Enough for about a second of a node's traffic. A server that accepts nothing for longer counts as down. */
const IN_FLIGHT_BYTES_MAX = 8 * 1_048_576;
/** Bytes between two round trips. */
const MARK_BYTES = 256 * 1024;
/** Overhead of one message beside its payload, so that very small messages are bounded too. */
const MESSAGE_BYTES = 128;

/**
 * Bounds the bytes in flight to the NATS server: sent, and not yet confirmed by a round trip. What does not fit is refused;
 * nothing is queued here.
 */
export class InFlightWindow {
  readonly #bytesMax: number;
  readonly #roundTrip: () => Promise<void>;
  #bytes = 0;
  #unmarked = 0;
  /** A round trip of an earlier connection confirms nothing. */
  #era = 0;

  /** `roundTrip` resolves when the server has received everything that was sent before. */
  constructor(roundTrip: () => Promise<void>, bytesMax = IN_FLIGHT_BYTES_MAX) {
    this.#roundTrip = roundTrip;
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  fits(payloadBytes: number): boolean {
    return this.#bytes + payloadBytes + MESSAGE_BYTES <= this.#bytesMax;
  }

  sent(payloadBytes: number): void {
    this.#bytes += payloadBytes + MESSAGE_BYTES;
    this.#unmarked += payloadBytes + MESSAGE_BYTES;
    if (this.#unmarked >= MARK_BYTES) this.#mark();
  }

  /** The connection is a new one: what was in flight has arrived or is lost. */
  reset(): void {
    this.#era++;
    this.#bytes = 0;
    this.#unmarked = 0;
  }

  #mark(): void {
    const era = this.#era;
    const bytes = this.#unmarked;
    this.#unmarked = 0;
    this.#roundTrip().then(
      () => {
        if (era === this.#era) this.#bytes -= bytes;
      },
      // The connection was lost; the bus calls `reset`.
      () => {},
    );
  }
}
