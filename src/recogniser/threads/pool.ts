// The recogniser's threads as one engine: starts them when they are first needed, gives each stream to the least busy one,
// replaces those that fail or are worn, and ends those that stand idle. What is said in a stream is decided in stream.ts.
import type { Clock } from '../../../machines/clock.ts';
import { backgroundClock } from '../../runtime/telemetry/clock.ts';
import { IdleTimer } from '../../runtime/timeouts.ts';
import type { Engine, EngineConnection, EngineListener, Outgoing } from '../../vendors/kit/provider.ts';
import {
  COMMAND_BYTES,
  isCommand,
  PIECE_BYTES,
  paramOf,
  type QueryFault,
  readQuery,
  type StreamErrorCode,
  type StreamMessage,
} from '../protocol.ts';
import { Thread, type ThreadStream } from './thread.ts';
import { type OrganisationShare, OrganisationShares } from './thread-queue.ts';

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
  idle: IdleTimer | undefined;
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
    else member.idle ??= new IdleTimer(this.#clock, IDLE_MS, () => this.#endThread(thread));
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

/** Two seconds of audio: when so little of the queue is left, the sender is told to go on. */
const LOW_BYTES = 65_536;
/** The close code of a stream that could not be served now (RFC 6455's registry: try again later). */
const TRY_AGAIN_LATER = 1013;

/** Told of what the pool adds up. */
interface ConnectionOptions {
  queueBytesMax: number;
  /** The queue grew by so many bytes, or shrank. */
  onQueue: (bytes: number) => void;
  onSlowed: () => void;
  onClosed: () => void;
}

/**
 * One connection to the recogniser: the engine's contract in front of a stream of a thread. Bounds what waits. The listener is
 * never called inside `connect`, `send` or `close`.
 */
class PoolConnection implements EngineConnection, ThreadStream {
  readonly #listener: EngineListener;
  readonly #options: ConnectionOptions;
  /** Where its stream is; undefined when it has none, or no longer. */
  #place: { thread: Thread; id: number } | undefined;
  #bufferedBytes = 0;
  #over = false;

  constructor(listener: EngineListener, options: ConnectionOptions) {
    this.#listener = listener;
    this.#options = options;
  }

  /** Audio and commands taken and not yet worked on. */
  get bufferedBytes(): number {
    return this.#bufferedBytes;
  }

  /** Joins it to its stream. */
  attach(thread: Thread, id: number): void {
    this.#place = { thread, id };
    this.#later(() => this.#listener.open());
  }

  /** Says why there is no stream, and closes. */
  refuse(code: StreamErrorCode, message: string): void {
    this.#later(() => {
      this.#listener.open();
      this.#failNow(code, message);
    });
  }

  /** Takes audio bytes and `StreamCommand`s; anything else is no frame of this engine and is left out. */
  send(frame: Outgoing): void {
    if (this.#over || this.#place === undefined) return;
    const { thread, id } = this.#place;
    if (frame instanceof Uint8Array) {
      if (!this.#takes(frame.byteLength)) return;
      for (let at = 0; at < frame.byteLength; at += PIECE_BYTES) {
        // A copy: the frame is the sender's again once this returns.
        thread.audio(id, new Uint8Array(frame.subarray(at, at + PIECE_BYTES)));
      }
    } else if (isCommand(frame)) {
      if (this.#takes(COMMAND_BYTES)) thread.command(id, frame);
    }
  }

  close(): void {
    this.#leave();
    this.#later(() => this.end(1000, ''));
  }

  terminate(): void {
    if (this.#over) return;
    this.#leave();
    this.#finish();
  }

  say(message: StreamMessage): void {
    if (!this.#over) this.#listener.message(message);
  }

  worked(bytes: number): void {
    const before = this.#bufferedBytes;
    this.#queue(-bytes);
    // Also at nothing: a sender may wait at a mark of its own, below this one.
    const isLow = (before > LOW_BYTES && this.#bufferedBytes <= LOW_BYTES) || (bytes > 0 && this.#bufferedBytes === 0);
    if (isLow && !this.#over) this.#listener.drained();
  }

  slowed(): void {
    this.#options.onSlowed();
    const message =
      'This organisation has used its time of the embedded recogniser for now: what comes faster than it is spoken is heard at the pace of speech.';
    // It is found out while others are given their turn.
    this.#later(() => this.say({ type: 'warning', code: 'recogniser_slowed', message }));
  }

  end(code: number, reason: string): void {
    if (this.#over) return;
    this.#finish();
    this.#listener.closed(code, reason);
  }

  /** Puts so many bytes into the queue, or ends the stream where there is no room. */
  #takes(bytes: number): boolean {
    if (this.#bufferedBytes + bytes <= this.#options.queueBytesMax) {
      this.#queue(bytes);
      return true;
    }
    this.#leave();
    const message = 'Audio came faster than the recogniser could decode it. Send it more slowly.';
    this.#later(() => this.#failNow('recogniser_queue_full', message));
    return false;
  }

  #failNow(code: StreamErrorCode, message: string): void {
    this.say({ type: 'error', code, message });
    this.end(TRY_AGAIN_LATER, code);
  }

  /** Calls back once the caller has returned, unless the connection is over by then. */
  #later(work: () => void): void {
    queueMicrotask(() => {
      if (!this.#over) work();
    });
  }

  #leave(): void {
    const place = this.#place;
    this.#place = undefined;
    place?.thread.drop(place.id);
  }

  #queue(bytes: number): void {
    this.#bufferedBytes += bytes;
    this.#options.onQueue(bytes);
  }

  #finish(): void {
    this.#over = true;
    this.#place = undefined;
    this.#queue(-this.#bufferedBytes);
    this.#options.onClosed();
  }
}
