// The replicated log of a shard's accounts on JetStream: a stream that is written to by compare and set, sealed with the gateway's
// secret. cluster/replication/log.ts has the contract.
import {
  type Consumer,
  DeliverPolicy,
  DiscardPolicy,
  type JsMsg,
  type PubAck,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import type { Clock } from '../../../../../machines/clock.ts';
import { backgroundClock } from '../../../../runtime/telemetry/clock.ts';
import type { Detach } from '../../bus.ts';
import {
  endsWith,
  type Follows,
  LastWritten,
  LogConflict,
  type LogEnd,
  type LogMessage,
  type LogReader,
  type ReplicatedLog,
} from '../../replicated-log.ts';
import { KeyRing, openEntry, sealEntry } from '../../sealing/key-ring.ts';
import { Subjects } from '../subjects.ts';
import { ensureStream, isWrongEnd, type JetStream, type LinkedBus } from './common.ts';
import { OpenedStreams } from './opened-streams.ts';

const WINDOW_MS = 120_000;
/** The default limit of NATS servers. */
export const MESSAGE_BYTES_MAX = 1024 * 1024;
const AGAIN_MS = 250;

export interface NatsLogOptions {
  shard: string;
  /** Replicas of the stream. */
  replicas: number;
  clock?: Clock;
  /** The oldest entries are removed beyond this; a replica that needs them begins with a snapshot. */
  bytesMax?: number;
}

const BYTES_MAX = 1024 ** 3;

/** The log on that bus. The first call contacts NATS and creates the stream if it is missing. */
export function natsReplicatedLog(bus: LinkedBus, options: NatsLogOptions): ReplicatedLog {
  return new NatsReplicatedLog(bus, options);
}

class NatsReplicatedLog implements ReplicatedLog {
  readonly #options: NatsLogOptions;
  readonly #clock: Clock;
  readonly #ring: KeyRing;
  readonly #name: string;
  readonly #subject: string;
  readonly #streams: OpenedStreams;
  readonly #written = new LastWritten();

  constructor(bus: LinkedBus, options: NatsLogOptions) {
    this.#options = options;
    this.#clock = options.clock ?? backgroundClock;
    this.#ring = new KeyRing(bus.link.secrets, 'accounts log');
    this.#name = `${bus.link.prefix}-accounts-${options.shard}`;
    this.#subject = new Subjects(bus.link.prefix).accountsLog(options.shard);
    this.#streams = new OpenedStreams(bus, (streams) => this.#ensure(streams));
  }

  /**
   * Servers would compare the last message with each one (`Nats-Expected-Last-Msg-Id`). But a server that was started again refuses its
   * copy of the stream for good then: seen with nats-server 2.15.3. So they compare the sequence, and this process the message.
   */
  async append(bytes: Uint8Array, id: string, follows: Follows): Promise<number> {
    const isEnd = follows.id === undefined || this.#written.isEnd(follows, this.#clock.now());
    if (!isEnd && !endsWith(await this.end(), follows)) throw conflict(follows);
    const sentMs = this.#clock.now();
    const { seq, duplicate } = await this.#publish(sealEntry(this.#ring, this.#name, bytes), id, follows);
    // Servers take the first message of an empty log from everyone who expects none.
    if (seq !== follows.sequence + 1) throw conflict(follows);
    // When the first of several tries was sent is not known.
    if (!duplicate) this.#written.wrote(seq, id, sentMs);
    return seq;
  }

  async #publish(sealed: Uint8Array, msgID: string, follows: Follows): Promise<PubAck> {
    const expect = { streamName: this.#name, lastSequence: follows.sequence };
    try {
      return await this.#streams.ask('writing to the log of the accounts', ({ client }) =>
        client.publish(this.#subject, sealed, { msgID, expect }),
      );
    } catch (error) {
      throw isWrongEnd(error) ? conflict(follows) : error;
    }
  }

  end(): Promise<LogEnd> {
    return this.#streams.ask('reading the end of the log of the accounts', async ({ manager }) => {
      const { state } = await manager.streams.info(this.#name);
      const last = state.messages > 0 ? await manager.streams.getMessage(this.#name, { seq: state.last_seq }) : null;
      return {
        sequence: state.last_seq,
        first: state.first_seq,
        last: last === null ? undefined : this.#opened(last.seq, last.data),
      };
    });
  }

  at(sequence: number): Promise<LogMessage | undefined> {
    return this.#streams.ask('reading the log of the accounts', async ({ manager }) => {
      const found = await manager.streams.getMessage(this.#name, { seq: sequence });
      return found === null ? undefined : this.#opened(found.seq, found.data);
    });
  }

  /** A message that no node of this gateway wrote gets no bytes, so it is not read as an entry. */
  #opened(sequence: number, data: Uint8Array): LogMessage {
    return { sequence, bytes: openEntry(this.#ring, this.#name, data) ?? new Uint8Array(0) };
  }

  read(from: number, reader: LogReader): Detach {
    const reading = new Reading(from, reader, (sequence, data) => this.#opened(sequence, data));
    const run = async () => {
      while (!reading.isOver) {
        try {
          const consumer = await this.#streams.ask('following the log of the accounts', ({ client }) =>
            client.consumers.get(this.#name, {
              deliver_policy: DeliverPolicy.StartSequence,
              opt_start_seq: Math.max(1, reading.next),
            }),
          );
          await reading.run(consumer);
        } catch {
          // NATS is away, or the stream is not there: again, for as long as this replica follows.
        }
        if (!reading.isOver)
          await new Promise<void>((resolve) => void this.#clock.setTimeout(() => resolve(), AGAIN_MS));
      }
    };
    void run();
    return () => reading.stop();
  }

  #ensure({ manager }: JetStream): Promise<unknown> {
    return ensureStream(manager, {
      name: this.#name,
      subjects: [this.#subject],
      description: 'Voxgate: what was written to the accounts, for their replicas',
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      num_replicas: this.#options.replicas,
      max_bytes: this.#options.bytesMax ?? BYTES_MAX,
      max_msg_size: MESSAGE_BYTES_MAX,
      // Replicas keep their own copies: the log never stops the accounts because it is full.
      discard: DiscardPolicy.Old,
      duplicate_window: nanos(WINDOW_MS),
      deny_delete: true,
      deny_purge: true,
      // Read from the leader, not from a replica that may lag behind.
      allow_direct: false,
    });
  }
}

const conflict = ({ sequence }: Follows): LogConflict =>
  new LogConflict(`The log of the accounts does not end with message ${sequence}.`);

/** Hands over one message after the other, from one consumer after the other. */
class Reading {
  readonly #reader: LogReader;
  readonly #opened: (sequence: number, data: Uint8Array) => LogMessage;
  next: number;
  isOver = false;
  #stop = () => {};

  constructor(from: number, reader: LogReader, opened: (sequence: number, data: Uint8Array) => LogMessage) {
    this.next = from;
    this.#reader = reader;
    this.#opened = opened;
  }

  stop(): void {
    this.isOver = true;
    this.#stop();
  }

  async run(consumer: Consumer): Promise<void> {
    const messages = await consumer.consume();
    this.#stop = () => messages.stop();
    if (this.isOver) return messages.stop();
    for await (const message of messages) {
      if (this.isOver) return;
      if (!(await this.#take(message))) return;
    }
  }

  async #take({ seq, data }: JsMsg): Promise<boolean> {
    // A consumer that is to begin behind the end begins at the end: a lower sequence shows that the log has gone back.
    if (seq > this.next) {
      this.stop();
      this.#reader.removed(seq);
      return false;
    }
    await this.#reader.message(this.#opened(seq, new Uint8Array(data)));
    this.next = seq + 1;
    return !this.isOver;
  }
}
