// The recogniser's threads as one engine: starts them when they are first needed, gives each stream to the least busy one,
// replaces those that fail or are worn, and ends those that stand idle. What is said in a stream is decided in stream.ts.
import type { Clock } from '../../../machines/clock.ts';
import { Deadline } from '../../runtime/deadline.ts';
import { backgroundClock } from '../../runtime/telemetry/clock.ts';
import type { Engine, EngineConnection, EngineListener } from '../../vendors/provider.ts';
import { PoolConnection } from '../connection.ts';
import { type OrganisationShare, OrganisationShares } from '../organisation-shares.ts';
import { paramOf, type QueryFault, readQuery, type StreamErrorCode } from '../protocol.ts';
import { Thread } from './thread.ts';

export interface RecogniserPoolOptions {
  /** Threads at most. */
  workers: number;
  /** Streams at a time; one more is refused as `recogniser_overloaded`. At most 48 a thread are taken, whatever is asked. */
  streamsMax: number;
  /**
   * Of these one organisation's, refused beyond as `recogniser_share_used`; without a bound when absent. Never more than three
   * quarters of all.
   */
  streamsPerOrganisationMax?: number;
  /**
   * Seconds of threads that one organisation may use in a minute. Beyond, what it speaks is heard behind what others speak, and what
   * runs ahead of real time is slowed to the pace of speech, with the warning `recogniser_slowed`. Without a limit when absent.
   */
  cpuSecondsPerMinutePerOrganisationMax?: number;
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
/** Of these one organisation's. */
const CHECKS_PER_ORGANISATION_MAX = 8;
/** Of all streams one organisation's, at most. */
const ORGANISATION_SHARE = 0.75;
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
  readonly #streamsPerOrganisationMax: number;
  readonly #shares: OrganisationShares;
  /** Threads that take streams. */
  readonly #members = new Map<Thread, Member>();
  /** Worn threads, until their last stream has ended. */
  readonly #retired = new Set<Thread>();
  /** Threads being ended. */
  readonly #ending = new Set<Promise<void>>();
  #lastId = 0;
  #streams = 0;
  #queuedBytes = 0;
  #slowed = 0;
  #closed = false;

  constructor(options: RecogniserPoolOptions) {
    this.#options = options;
    this.#clock = options.clock ?? backgroundClock;
    this.#streamsMax = Math.min(options.streamsMax, options.workers * STREAMS_PER_THREAD_MAX);
    this.#streamsPerOrganisationMax = Math.min(
      options.streamsPerOrganisationMax ?? Number.POSITIVE_INFINITY,
      Math.ceil(this.#streamsMax * ORGANISATION_SHARE),
    );
    const { cpuSecondsPerMinutePerOrganisationMax: cpuSeconds } = options;
    this.#shares = new OrganisationShares({
      clock: this.#clock,
      ...(cpuSeconds === undefined ? {} : { cpuMsPerMinuteMax: cpuSeconds * 1000 }),
    });
  }

  /** Streams open now. */
  get streams(): number {
    return this.#streams;
  }

  /** Audio taken and not yet decoded, of all streams. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /** Streams that were slowed for the time that their organisation had used, since the start. */
  get slowed(): number {
    return this.#slowed;
  }

  /** @param owner the organisation that the stream is for; absent for the process's own */
  connect(query: Readonly<Record<string, unknown>>, listener: EngineListener, owner?: string): EngineConnection {
    const asked = readQuery(query);
    const share = this.#shares.of(owner);
    const refusal = this.#refusal(share);
    const member = refusal !== undefined || asked === undefined ? undefined : this.#pick();
    this.#streams++;
    share.streams++;
    const connection = new PoolConnection(listener, {
      queueBytesMax: this.#options.queueBytesMax,
      onQueue: (bytes) => {
        this.#queuedBytes += bytes;
      },
      onSlowed: () => {
        this.#slowed++;
      },
      onClosed: () => {
        this.#streams--;
        share.streams--;
        this.#shares.left(share);
      },
    });
    if (refusal !== undefined) connection.refuse(...refusal);
    else if (asked === undefined || member === undefined) {
      connection.refuse('invalid_query', 'A stream is opened with a language, a task and whether interims are wanted.');
    } else {
      this.#lastId++;
      member.thread.open(this.#lastId, asked, share, connection);
      connection.attach(member.thread, this.#lastId);
      member.opened++;
      if (member.opened >= (this.#options.threadStreamsMax ?? THREAD_STREAMS_MAX)) this.#retire(member);
    }
    return connection;
  }

  /** @param owner the organisation that asks */
  async check(query: Readonly<Record<string, unknown>>, owner?: string): Promise<QueryFault | undefined> {
    const asked = readQuery(query);
    if (asked === undefined) throw new TypeError('This is no query of the embedded recogniser.');
    if (asked.task.builtIn) return undefined;
    const waiting = [...this.#members.keys()].reduce((sum, { checks }) => sum + checks, 0);
    const share = this.#shares.of(owner);
    const hasMany = owner !== undefined && share.checks >= CHECKS_PER_ORGANISATION_MAX;
    if (this.#closed || waiting >= CHECKS_MAX || hasMany) {
      this.#shares.left(share);
      return {
        param: paramOf(asked.task),
        message: 'The recogniser is too busy to look at this now. Try again shortly.',
      };
    }
    this.#lastId++;
    share.checks++;
    return this.#pick()
      .thread.check(this.#lastId, asked, share)
      .finally(() => {
        share.checks--;
        this.#shares.left(share);
      });
  }

  /** Ends every thread and resolves when all are gone. Streams are closed with 1001, new ones are refused. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const thread of [...this.#members.keys(), ...this.#retired]) this.#endThread(thread);
    await Promise.all(this.#ending);
  }

  /** Why there is no stream for it now. */
  #refusal({ owner, streams }: OrganisationShare): [StreamErrorCode, string] | undefined {
    const all = this.#streamsMax;
    const share = this.#streamsPerOrganisationMax;
    if (this.#closed)
      return ['recogniser_overloaded', 'The embedded recogniser is being shut down. Try again shortly.'];
    if (this.#streams >= all) {
      const message = `The embedded recogniser holds its limit of ${all} streams. Try again shortly.`;
      return ['recogniser_overloaded', message];
    }
    if (owner === undefined || streams < share) return undefined;
    const message = `This organisation has ${share} streams of the embedded recogniser, which is its share. End one first.`;
    return ['recogniser_share_used', message];
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
      shares: this.#shares,
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
