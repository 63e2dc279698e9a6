// The usage stream on JetStream: publishes messages with ten minutes of deduplication, hands them to the consumer of their shard,
// and moves messages that the ledger refuses for good to a stream of refused ones. pull.ts fetches them.
import { createHash } from 'node:crypto';
import {
  AckPolicy,
  DeliverPolicy,
  DiscardPolicy,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import type { Clock } from '../../../../../machines/clock.ts';
import { backgroundClock } from '../../../../runtime/telemetry/clock.ts';
import { type BusBody, BusError, type Detach } from '../../bus.ts';
import type { UsageHandler, UsageStream, UsageVerdict } from '../../usage-stream.ts';
import { Subjects } from '../subjects.ts';
import {
  ensureStream,
  isMissingStream,
  type JetStream,
  jetStreamOf,
  type LinkedBus,
  whileConnected,
} from './common.ts';
import { OpenedStreams } from './opened-streams.ts';
import { type Delivered, type Pull, pullMessages } from './pull.ts';

const SHARD = /^[A-Za-z0-9_-]{1,32}$/;
const MINUTE_MS = 60_000;
const WINDOW_MS = 10 * MINUTE_MS;
/** A session with as many lines as the ledger takes of one has 190,000. */
const BYTES_MAX = 256 * 1024;
/** Messages that wait for the ledger. Beyond it the stream refuses new ones, and the journals of the nodes keep them. */
const WAITING_MAX = 1_000_000;
/** Refused messages that are kept; the oldest are dropped first. */
const REFUSED_MAX = 100_000;
const PUBLISHES_MAX = 1024;
const IN_HAND_MAX = 64;
const ACK_WAIT_MS = 30_000;
const AGAIN_MS_MAX = 30_000;

export interface NatsUsageOptions {
  clock?: Clock;
  /** Replicas of the stream. 1 when absent. */
  replicas?: number;
  /** Reports to the operator: one sentence without content. */
  onFault?: (sentence: string) => void;
  /** The limit of waiting messages. */
  waitingMax?: number;
  /** How long a delivered message is not delivered again, unless the consumer extends it. */
  ackWaitMs?: number;
  /** The delay before a message that could not be processed is delivered again; it grows with every try. */
  againMs?: number;
}

/** The usage stream on that bus. The first call contacts NATS and creates the stream if it is missing. */
export function natsUsage(bus: LinkedBus, options: NatsUsageOptions = {}): NatsUsage {
  return new NatsUsage(bus, options);
}

export class NatsUsage implements UsageStream {
  readonly #bus: LinkedBus;
  readonly #options: Required<NatsUsageOptions>;
  readonly #subjects: Subjects;
  readonly #name: string;
  readonly #streams: OpenedStreams;
  #publishing = 0;
  #refused = 0;

  constructor(bus: LinkedBus, options: NatsUsageOptions) {
    this.#bus = bus;
    this.#options = {
      clock: backgroundClock,
      replicas: 1,
      onFault: () => {},
      waitingMax: WAITING_MAX,
      ackWaitMs: ACK_WAIT_MS,
      againMs: 1000,
      ...options,
    };
    this.#subjects = new Subjects(bus.link.prefix);
    this.#name = `${bus.link.prefix}-usage`;
    this.#streams = new OpenedStreams(bus, (streams) => this.#ensure(streams));
  }

  get #refusedName(): string {
    return `${this.#name}-refused`;
  }

  /** Refused messages since this process started. */
  get refused(): number {
    return this.#refused;
  }

  async publish(shard: string, id: string, body: BusBody): Promise<void> {
    const bytes = Buffer.from(JSON.stringify(body));
    if (bytes.length > BYTES_MAX) {
      throw new BusError('overflow', `The usage message ${id} has ${bytes.length} bytes; it can have ${BYTES_MAX}.`);
    }
    if (this.#publishing >= PUBLISHES_MAX) {
      throw new BusError(
        'overflow',
        `${PUBLISHES_MAX} usage messages are on their way already: try again in a moment.`,
      );
    }
    this.#publishing++;
    try {
      await this.#write(this.#subjects.usage(checked(shard)), idOf(shard, id), bytes);
    } finally {
      this.#publishing--;
    }
  }

  consume(shard: string, handler: UsageHandler): Detach {
    const durable = `shard-${checked(shard)}`;
    const { clock, onFault } = this.#options;
    const pull = pullMessages(this.#bus, {
      clock,
      stream: this.#name,
      durable,
      inHandMax: IN_HAND_MAX,
      onFault,
      prepare: async () => {
        await this.#streams.ask('preparing to take usage', ({ manager }) => this.#prepare(manager, durable, shard));
        again.begin();
      },
      take: (message) => this.#take(pull, shard, message, handler),
    });
    const again = this.#again(shard, handler);
    return () => {
      again.stop();
      pull.stop();
    };
  }

  waiting(shard: string): Promise<number | undefined> {
    return this.#count(this.#name, this.#subjects.usage(checked(shard)));
  }

  putAside(shard: string): Promise<number | undefined> {
    return this.#count(this.#refusedName, this.#subjects.refusedUsage(checked(shard)));
  }

  async #count(stream: string, subject: string): Promise<number | undefined> {
    try {
      return await this.#streams.ask('counting usage', async ({ manager }) => {
        const { state } = await manager.streams.info(stream, { subjects_filter: subject });
        return state.subjects?.[subject] ?? 0;
      });
    } catch {
      return undefined;
    }
  }

  #again(shard: string, handler: UsageHandler): UsageRedelivery {
    const { clock, againMs, onFault } = this.#options;
    return usageRedelivery({
      ask: (work) => this.#streams.ask('looking at usage that was put aside', ({ manager }) => work(manager)),
      stream: this.#refusedName,
      subject: this.#subjects.refusedUsage(shard),
      take: (data) => verdictOf(data, (body) => handler(body, true)),
      pause: (tries) => new Promise((resolve) => void clock.setTimeout(() => resolve(), laterMs(againMs, tries))),
      onFault: (error) => this.#bus.isConnected && onFault(`Usage that was put aside waits: ${error.message}`),
    });
  }

  async #take(pull: Pull, shard: string, message: Delivered, handler: UsageHandler): Promise<void> {
    let verdict = await verdictOf(message.data, (body) => handler(body, false));
    if (verdict === 'never' && !(await this.#putAside(shard, message))) verdict = 'again';
    if (verdict === 'done') pull.done(message);
    else if (verdict === 'never') pull.drop(message);
    else pull.again(message, laterMs(this.#options.againMs, message.deliveries));
  }

  /** Whether it was stored among the refused messages. */
  async #putAside(shard: string, message: Delivered): Promise<boolean> {
    try {
      // The id is its sequence: if the answer is lost and this is repeated, it is stored once.
      await this.#write(this.#subjects.refusedUsage(shard), `${shard}:${message.sequence}`, message.data);
    } catch {
      return false;
    }
    this.#refused++;
    this.#options.onFault(
      `A usage message cannot be taken by this ledger: it is number ${message.sequence} of ${this.#name}, kept in ${this.#refusedName}.`,
    );
    return true;
  }

  async #write(subject: string, msgID: string, bytes: Uint8Array): Promise<void> {
    try {
      await this.#streams.ask('writing usage', ({ client }) => client.publish(subject, bytes, { msgID }));
    } catch (error) {
      const isFull = error instanceof BusError && /maximum (messages|bytes)|insufficient/.test(error.message);
      throw isFull
        ? new BusError('overflow', `The stream ${this.#name} is full: the accounts node takes nothing.`)
        : error;
    }
  }

  async #ensure({ manager }: JetStream): Promise<void> {
    const common = { storage: StorageType.File, num_replicas: this.#options.replicas, max_msg_size: BYTES_MAX + 4096 };
    await ensureStream(manager, {
      ...common,
      name: this.#name,
      description: 'Voxgate: what was used, on its way to the ledger',
      subjects: [this.#subjects.usage('*')],
      retention: RetentionPolicy.Workqueue,
      max_msgs: this.#options.waitingMax,
      // A full stream refuses new messages and keeps the waiting ones.
      discard: DiscardPolicy.New,
      duplicate_window: nanos(WINDOW_MS),
    });
    await ensureStream(manager, {
      ...common,
      name: this.#refusedName,
      description: 'Voxgate: usage that the ledger could not take, for the operator to read',
      subjects: [this.#subjects.refusedUsage('*')],
      retention: RetentionPolicy.Limits,
      max_msgs: REFUSED_MAX,
      discard: DiscardPolicy.Old,
      duplicate_window: nanos(WINDOW_MS),
    });
  }

  async #prepare(manager: JetStream['manager'], durable: string, shard: string): Promise<void> {
    try {
      await manager.consumers.add(this.#name, {
        durable_name: durable,
        filter_subject: this.#subjects.usage(shard),
        ack_policy: AckPolicy.Explicit,
        deliver_policy: DeliverPolicy.All,
        ack_wait: nanos(this.#options.ackWaitMs),
        max_ack_pending: 4 * IN_HAND_MAX,
        max_deliver: -1,
      });
    } catch (error) {
      this.#streams.forget();
      throw error;
    }
  }
}

/** An unreadable message is refused for good. When the handler fails, the message is tried again. */
async function verdictOf(data: Uint8Array, take: (body: BusBody) => Promise<UsageVerdict>): Promise<UsageVerdict> {
  const body = bodyOf(data);
  if (body === undefined) return 'never';
  try {
    return await take(body);
  } catch {
    return 'again';
  }
}

const laterMs = (againMs: number, tries: number): number =>
  Math.min(AGAIN_MS_MAX, againMs * 2 ** Math.min(tries - 1, 16));

function checked(shard: string): string {
  if (SHARD.test(shard)) return shard;
  throw new TypeError(`"${shard}" is no name of a shard: up to 32 letters, digits, _ and -.`);
}

/** Makes any text fit into a header. */
function idOf(shard: string, id: string): string {
  return /^[\w.:-]{1,128}$/.test(id) ? `${shard}:${id}` : createHash('sha256').update(`${shard}:${id}`).digest('hex');
}

function bodyOf(data: Uint8Array): BusBody | undefined {
  try {
    const body: unknown = JSON.parse(Buffer.from(data).toString());
    const isBody = typeof body === 'object' && body !== null && 'type' in body && typeof body.type === 'string';
    return isBody ? (body as BusBody) : undefined;
  } catch {
    return undefined;
  }
}

interface RedeliveryOptions {
  /** Calls JetStream; rejects with BusError. */
  ask<Result>(work: (manager: JetStreamManager) => Promise<Result>): Promise<Result>;
  stream: string;
  subject: string;
  take(data: Uint8Array): Promise<UsageVerdict>;
  /** Waits before the next try of a message that could not be processed yet. */
  pause(tries: number): Promise<void>;
  onFault(error: Error): void;
}

interface UsageRedelivery {
  /** Goes through the stream once. After an outage it starts from the beginning. */
  begin(): void;
  stop(): void;
}

/**
 * Delivers refused messages once more, oldest first: another ledger may accept what the last one refused, for instance when the
 * right ledger is back. Accepted messages are removed; the others stay in the stream, readable for the operator.
 */
function usageRedelivery(options: RedeliveryOptions): UsageRedelivery {
  let isBegun = false;
  let isStopped = false;
  return {
    begin() {
      if (isBegun || isStopped) return;
      isBegun = true;
      redeliver(options, () => isStopped).catch((error: Error) => {
        isBegun = false;
        if (!isStopped) options.onFault(error);
      });
    },
    stop() {
      isStopped = true;
    },
  };
}

async function redeliver(
  { ask, stream, subject, take, pause }: RedeliveryOptions,
  isStopped: () => boolean,
): Promise<void> {
  const { state } = await ask((manager) => manager.streams.info(stream));
  for (let sequence = state.first_seq; state.messages > 0 && sequence <= state.last_seq; sequence++) {
    if (isStopped()) return;
    const message = await ask((manager) => manager.streams.getMessage(stream, { seq: sequence }));
    if (message?.subject !== subject) continue;
    let verdict: UsageVerdict = 'again';
    for (let tries = 1; verdict === 'again'; tries++) {
      if (isStopped()) return;
      verdict = await take(message.data);
      if (verdict === 'again') await pause(tries);
    }
    if (verdict === 'done') await ask((manager) => manager.streams.deleteMessage(stream, sequence));
  }
}

/** A message that the ledger refused, for an operator to read and to remove once it is dealt with. */
export interface RefusedUsage {
  /** Its number in the stream. */
  number: number;
  /** When it was put aside. ISO 8601 UTC. */
  at: string;
  data: Uint8Array;
}

/** The oldest first. Rejects with BusError. */
export function refusedUsage(bus: LinkedBus, shard: string): Promise<RefusedUsage[]> {
  const { stream, subject } = namesOf(bus, shard);
  return whileConnected(bus, 'reading usage that was refused', async () => {
    const { manager } = await jetStreamOf(bus);
    const refused: RefusedUsage[] = [];
    const { state } = await manager.streams.info(stream);
    for (let number = state.first_seq; state.messages > 0 && number <= state.last_seq; number++) {
      const message = await manager.streams.getMessage(stream, { seq: number });
      if (message?.subject !== subject) continue;
      refused.push({ number, at: message.time.toISOString(), data: message.data });
    }
    return refused;
  }).catch((error: unknown) => {
    // Nothing was ever refused.
    if (isMissingStream(error)) return [];
    throw error;
  });
}

/** Resolves with false when there is no such message of that shard. Rejects with BusError. */
export function removeRefusedUsage(bus: LinkedBus, shard: string, number: number): Promise<boolean> {
  const { stream, subject } = namesOf(bus, shard);
  return whileConnected(bus, 'removing usage that was refused', async () => {
    const { manager } = await jetStreamOf(bus);
    const message = await manager.streams.getMessage(stream, { seq: number });
    return message?.subject === subject && (await manager.streams.deleteMessage(stream, number));
  });
}

const namesOf = ({ link: { prefix } }: LinkedBus, shard: string) => ({
  stream: `${prefix}-usage-refused`,
  subject: new Subjects(prefix).refusedUsage(shard),
});
