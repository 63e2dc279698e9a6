// A pull consumer: fetches as many messages of a durable consumer as the caller has room for, again after every outage, and never
// hands one message over twice at the same time.
import { type Msg, type NatsConnection, nanos, nuid, type Subscription } from '@nats-io/transport-node';
import type { Clock } from '../../../../../machines/clock.ts';
import { Subjects } from '../subjects.ts';
import type { LinkedBus } from './common.ts';

/** How long the server keeps one pull request open. */
const PULL_MS = 10_000;
/** If the server stays silent for this long after that, the pull request counts as lost. */
const LATE_MS = 2000;
const RETRY_MS_MIN = 100;
const RETRY_MS_MAX = 10_000;
const NO_MORE = /^(404|408)$/;

export interface Delivered {
  data: Uint8Array;
  /** Its sequence in the stream. */
  sequence: number;
  /** How often it was delivered, including this time. */
  deliveries: number;
  /** The subject for its acknowledgement. */
  reply: string;
}

export interface Pull {
  /** Each of these acknowledges one message in its way; only the first call counts. */
  done(message: Delivered): void;
  again(message: Delivered, delayMs: number): void;
  drop(message: Delivered): void;
  /** Hands over no further message; fetched messages that were not handed over go back to the stream. */
  stop(): void;
}

export interface PullOptions {
  clock: Clock;
  stream: string;
  durable: string;
  /** Messages that the caller processes at the same time. */
  inHandMax: number;
  /** Creates the consumer if it is missing. Rejects while that is not possible. */
  prepare(): Promise<void>;
  /** Processes the message and acknowledges it with one call of Pull. Never rejects. */
  take(message: Delivered): Promise<void>;
  onFault(sentence: string): void;
}

/** Begins at once, or when the bus is connected. */
export function pullMessages(bus: LinkedBus, options: PullOptions): Pull {
  return new Puller(bus, options);
}

class Puller implements Pull {
  readonly #bus: LinkedBus;
  readonly #options: PullOptions;
  readonly #inbox: string;
  readonly #detach: () => void;
  /** By sequence. */
  readonly #inHand = new Set<number>();
  #subscription: Subscription | undefined;
  #connection: NatsConnection | undefined;
  #timer: unknown;
  #retryMs = RETRY_MS_MIN;
  /** Messages that the open pull request can still bring; 0 when there is none. */
  #coming = 0;
  #isPreparing = false;
  #isStopped = false;

  constructor(bus: LinkedBus, options: PullOptions) {
    this.#bus = bus;
    this.#options = options;
    this.#inbox = `${new Subjects(bus.link.prefix).inbox(bus.node)}.pull.${nuid.next()}`;
    this.#detach = bus.onConnection((isConnected) => {
      this.#clear();
      if (isConnected) void this.#begin();
    });
    if (bus.isConnected) void this.#begin();
  }

  done(message: Delivered): void {
    this.#answer(message, '+ACK');
  }

  again(message: Delivered, delayMs: number): void {
    this.#answer(message, delayMs > 0 ? `-NAK ${JSON.stringify({ delay: nanos(delayMs) })}` : '-NAK');
  }

  drop(message: Delivered): void {
    this.#answer(message, '+TERM');
  }

  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#detach();
    this.#clear();
    const subscription = this.#subscription;
    this.#subscription = undefined;
    if (subscription === undefined || subscription.isClosed()) return;
    // The server drops the pull request with the subscription. Messages already on their way still arrive and go back.
    subscription.drain().catch(() => {});
  }

  /** Start again after each connection: the server may have lost the consumer or its stream. */
  async #begin(): Promise<void> {
    if (this.#isPreparing || this.#isStopped) return;
    this.#isPreparing = true;
    try {
      await this.#options.prepare();
      this.#listen();
      this.#retryMs = RETRY_MS_MIN;
    } catch (error) {
      if (this.#bus.isConnected) this.#options.onFault(error instanceof Error ? error.message : String(error));
      this.#later();
      return;
    } finally {
      this.#isPreparing = false;
    }
    this.#ask();
  }

  #listen(): void {
    const { connection } = this.#bus.link;
    const isListening = connection === this.#connection && this.#subscription?.isClosed() === false;
    if (isListening || this.#isStopped) return;
    this.#connection = connection;
    this.#subscription = connection.subscribe(this.#inbox, {
      callback: (error, message) => {
        if (error === null) this.#hear(message);
      },
    });
  }

  #ask(): void {
    if (this.#isStopped || this.#coming > 0 || this.#isPreparing || !this.#bus.isConnected) return;
    const room = this.#options.inHandMax - this.#inHand.size;
    if (room < 1) return;
    const { stream, durable, clock } = this.#options;
    this.#coming = room;
    const request = JSON.stringify({ batch: room, expires: nanos(PULL_MS) });
    this.#publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${durable}`, request, this.#inbox);
    clock.clearTimeout(this.#timer);
    this.#timer = clock.setTimeout(() => this.#silence(), PULL_MS + LATE_MS);
  }

  /** The pull request should have ended by now without a word of the server. */
  #silence(): void {
    this.#clear();
    void this.#begin();
  }

  #later(): void {
    if (this.#isStopped) return;
    this.#clear();
    const delayMs = this.#retryMs;
    this.#retryMs = Math.min(RETRY_MS_MAX, delayMs * 2);
    this.#timer = this.#options.clock.setTimeout(() => void this.#begin(), delayMs);
  }

  #clear(): void {
    this.#coming = 0;
    this.#options.clock.clearTimeout(this.#timer);
  }

  #hear(message: Msg): void {
    const delivered = read(message);
    if (delivered === undefined) this.#hearStatus(message);
    else if (this.#isStopped) this.again(delivered, 0);
    else this.#hand(delivered);
  }

  #hand(delivered: Delivered): void {
    if (this.#coming > 0 && --this.#coming === 0) this.#clear();
    // It took so long that the server delivered it again; the call that is processing it acknowledges this delivery as well.
    if (!this.#inHand.has(delivered.sequence)) {
      this.#inHand.add(delivered.sequence);
      void this.#options.take(delivered).finally(() => {
        this.#inHand.delete(delivered.sequence);
        this.#ask();
      });
    }
    this.#ask();
  }

  #hearStatus(message: Msg): void {
    const code = String(message.headers?.code ?? '');
    if (code === '' || code === '100' || this.#isStopped) return;
    this.#clear();
    if (NO_MORE.test(code)) this.#ask();
    else this.#later();
  }

  #answer(message: Delivered, word: string): void {
    this.#publish(message.reply, word);
  }

  /** If the acknowledgement is lost, the server delivers the message again. */
  #publish(subject: string, text: string, reply?: string): void {
    try {
      this.#bus.link.connection.publish(subject, text, reply === undefined ? {} : { reply });
    } catch {
      // The connection is being closed.
    }
  }
}

/** `$JS.ACK.<stream>.<consumer>.<deliveries>.<sequence>…`, or with two more parts in front since 2.9.4; undefined for a status. */
function read({ reply = '', data }: Msg): Delivered | undefined {
  const parts = reply.split('.');
  if (parts[0] !== '$JS' || parts[1] !== 'ACK' || parts.length < 9) return undefined;
  const at = parts.length === 9 ? 4 : 6;
  const deliveries = Number(parts[at]);
  const sequence = Number(parts[at + 1]);
  if (!Number.isSafeInteger(deliveries) || !Number.isSafeInteger(sequence)) return undefined;
  // The bytes belong to the connection, which may reuse them.
  return { data: new Uint8Array(data), sequence, deliveries, reply };
}
