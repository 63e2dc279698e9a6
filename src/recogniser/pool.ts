// The recogniser's threads as one engine: starts them when they are first needed, gives each stream to the least busy one,
// replaces those that fail or are worn, and ends those that stand idle. What is said in a stream is decided in stream.ts.
import type { Clock } from '../../machines/clock.ts';
import type { Engine, EngineConnection, EngineListener } from '../providers/provider.ts';
import { Deadline } from '../runtime/deadline.ts';
import { backgroundClock } from '../telemetry/clock.ts';
import { PoolConnection } from './connection.ts';
import { paramOf, type QueryFault, readQuery } from './protocol.ts';
import { Thread } from './thread.ts';

export interface RecogniserPoolOptions {
  /** Threads at most. */
  workers: number;
  /** Streams at a time; one more is refused as `recogniser_overloaded`. At most 48 a thread are taken, whatever is asked. */
  streamsMax: number;
  /** Audio of one stream waiting for its thread; more ends the stream as `recogniser_queue_full`. */
  queueBytesMax: number;
  /** Hears when a thread failed; its streams were closed with 1011 and another takes its place when it is needed. */
  onFault?: (error: Error) => void;
  clock?: Clock;
  /** Streams a thread has in its life; the package cannot free a stream's detector (10 kB), so threads wear out. */
  threadStreamsMax?: number;
}

/** A decoder holds 13 MB, and a core decodes about 50 streams of commands as they are spoken. */
const STREAMS_PER_THREAD_MAX = 48;
const THREAD_STREAMS_MAX = 4_096;
/** Checks that may wait; each takes up to 200 ms of a thread. */
const CHECKS_MAX = 32;
/** A thread without work for so long is ended: it gives its memory back. */
const IDLE_MS = 300_000;

/** A thread and what the pool knows of it. */
interface Member {
  thread: Thread;
  opened: number;
  idle: Deadline | undefined;
}

/** Streams of embedded speech recognition. `check` takes up to 200 ms; `connect` says `ready` after 1 to 200 ms. */
export class RecogniserPool implements Engine {
  readonly #options: RecogniserPoolOptions;
  readonly #clock: Clock;
  readonly #streamsMax: number;
  /** Threads that take streams. */
  readonly #members = new Map<Thread, Member>();
  /** Worn threads, until their last stream has ended. */
  readonly #retired = new Set<Thread>();
  /** Threads being ended. */
  readonly #ending = new Set<Promise<void>>();
  #lastId = 0;
  #streams = 0;
  #queuedBytes = 0;
  #closed = false;

  constructor(options: RecogniserPoolOptions) {
    this.#options = options;
    this.#clock = options.clock ?? backgroundClock;
    this.#streamsMax = Math.min(options.streamsMax, options.workers * STREAMS_PER_THREAD_MAX);
  }

  /** Streams open now. */
  get streams(): number {
    return this.#streams;
  }

  /** Audio taken and not yet decoded, of all streams. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  connect(query: Readonly<Record<string, unknown>>, listener: EngineListener): EngineConnection {
    const asked = readQuery(query);
    const isFull = this.#closed || this.#streams >= this.#streamsMax;
    const member = isFull || asked === undefined ? undefined : this.#pick();
    this.#streams++;
    const connection = new PoolConnection(listener, {
      queueBytesMax: this.#options.queueBytesMax,
      onQueue: (bytes) => {
        this.#queuedBytes += bytes;
      },
      onClosed: () => {
        this.#streams--;
      },
    });
    if (isFull) {
      const why = this.#closed ? 'is being shut down' : `holds its limit of ${this.#streamsMax} streams`;
      connection.refuse('recogniser_overloaded', `The embedded recogniser ${why}. Try again shortly.`);
    } else if (asked === undefined || member === undefined) {
      connection.refuse('invalid_query', 'A stream is opened with a language, a task and whether interims are wanted.');
    } else {
      this.#lastId++;
      member.thread.open(this.#lastId, asked, connection);
      connection.attach(member.thread, this.#lastId);
      member.opened++;
      if (member.opened >= (this.#options.threadStreamsMax ?? THREAD_STREAMS_MAX)) this.#retire(member);
    }
    return connection;
  }

  async check(query: Readonly<Record<string, unknown>>): Promise<QueryFault | undefined> {
    const asked = readQuery(query);
    if (asked === undefined) throw new TypeError('This is no query of the embedded recogniser.');
    if (asked.task.builtIn) return undefined;
    const waiting = [...this.#members.keys()].reduce((sum, { checks }) => sum + checks, 0);
    if (this.#closed || waiting >= CHECKS_MAX) {
      return {
        param: paramOf(asked.task),
        message: 'The recogniser is too busy to look at this now. Try again shortly.',
      };
    }
    this.#lastId++;
    return this.#pick().thread.check(this.#lastId, asked);
  }

  /** Ends every thread and resolves when all are gone. Streams are closed with 1001, new ones are refused. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const thread of [...this.#members.keys(), ...this.#retired]) this.#endThread(thread);
    await Promise.all(this.#ending);
  }

  /** The least busy thread; another is started while there may be more and none is free. */
  #pick(): Member {
    const [best] = [...this.#members.values()].sort((a, b) => a.thread.streams - b.thread.streams);
    const isFree = best !== undefined && best.thread.streams + best.thread.checks === 0;
    const member = best !== undefined && (isFree || this.#members.size >= this.#options.workers) ? best : this.#start();
    member.idle?.stop();
    member.idle = undefined;
    return member;
  }

  #start(): Member {
    const thread = new Thread({
      clock: this.#clock,
      onLess: (from) => this.#settle(from),
      onFault: (from, error) => {
        this.#endThread(from);
        this.#options.onFault?.(error);
      },
    });
    const member: Member = { thread, opened: 0, idle: undefined };
    this.#members.set(thread, member);
    return member;
  }

  /** A thread has less to do: one that has nothing left is ended, at once when worn, else after a while. */
  #settle(thread: Thread): void {
    if (this.#closed || thread.streams + thread.checks > 0) return;
    const member = this.#members.get(thread);
    if (member === undefined) this.#endThread(thread);
    else member.idle ??= new Deadline(this.#clock, IDLE_MS, () => this.#endThread(thread));
  }

  #retire({ thread }: Member): void {
    this.#forget(thread);
    this.#retired.add(thread);
  }

  #endThread(thread: Thread): void {
    this.#forget(thread);
    const ending = thread.close(1001, 'The recogniser is closing.').finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  #forget(thread: Thread): void {
    this.#members.get(thread)?.idle?.stop();
    this.#members.delete(thread);
    this.#retired.delete(thread);
  }
}
