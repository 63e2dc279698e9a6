// Workers of the recogniser as one engine: starts them when they are first needed, gives each stream to the least busy one,
// replaces those that fail or are worn, and ends those that stand idle. What a stream reports is decided inside the worker.
import type { Clock } from '../../../machines/clock.ts';
import { backgroundClock } from '../../runtime/telemetry/clock.ts';
import { workerFile } from '../../runtime/telemetry/worker-file.ts';
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
import { type OpenPort, threadPort } from './port.ts';
import { StartBackoff } from './start-backoff.ts';
import { type OrganisationShare, OrganisationShares } from './work-queue.ts';
import { WorkerHandle, type WorkerStream } from './worker-handle.ts';

export interface RecogniserPoolOptions {
  /** Where it runs: a thread of grammars when absent. */
  open?: OpenPort;
  /** Workers at most. */
  workers: number;
  /** Streams at a time; one more is refused as `recogniser_overloaded`. At most 48 a worker are taken, whatever is asked. */
  streamsMax: number;
  /**
   * Of these one organisation's, refused beyond as `recogniser_share_used`; without a bound when absent. Never more than three
   * quarters of all.
   */
  streamsPerOrganisationMax?: number;
  /**
   * Seconds of workers that one organisation may use in a minute. Beyond, what it speaks is heard behind what others speak, and what
   * runs ahead of real time is slowed to the pace of speech, with the warning `recogniser_slowed`. Without a limit when absent.
   */
  cpuSecondsPerMinutePerOrganisationMax?: number;
  /** Audio of one stream waiting for its worker; more ends the stream as `recogniser_queue_full`. */
  queueBytesMax: number;
  /**
   * Called when a worker failed: its streams were closed with 1011, and another takes its place when it is needed. Also called when one
   * stream failed, which was closed with 1011.
   */
  onFault?: (error: Error) => void;
  clock?: Clock;
  /** Streams of a worker in its life; the package of grammars cannot free a stream's detector (10 kB), so its threads wear out. */
  workerStreamsMax?: number;
  /** See `WorkerOptions`; 10 s when absent. */
  hangMs?: number;
}

/** A decoder holds 13 MB, and a core decodes about 50 streams of commands as they are spoken. */
const STREAMS_PER_WORKER_MAX = 48;
const WORKER_STREAMS_MAX = 4_096;
/** Checks that may wait; each takes up to 200 ms of a worker. */
const CHECKS_MAX = 32;
/** Of these one organisation's. */
const CHECKS_PER_ORGANISATION_MAX = 8;
/** Of all streams one organisation's, at most. */
const ORGANISATION_SHARE = 0.75;
/** A worker without work for so long is ended: it gives its memory back. */
const IDLE_MS = 300_000;
const HANG_MS = 10_000;
const grammarThread = threadPort(() => workerFile(import.meta.url, '../grammar/worker'));

/** A worker and what the pool knows of it. */
interface Member {
  worker: WorkerHandle;
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
  readonly #backoff: StartBackoff;
  /** Workers that take streams. */
  readonly #members = new Map<WorkerHandle, Member>();
  /** Worn workers, until their last stream has ended. */
  readonly #retired = new Set<WorkerHandle>();
  /** Workers being ended. */
  readonly #ending = new Set<Promise<void>>();
  #lastId = 0;
  #streams = 0;
  #queuedBytes = 0;
  #slowed = 0;
  /** How many sessions and files rely on a worker that is ready. */
  #keepers = 0;
  #closed = false;

  constructor(options: RecogniserPoolOptions) {
    this.#options = options;
    this.#clock = options.clock ?? backgroundClock;
    this.#streamsMax = Math.min(options.streamsMax, options.workers * STREAMS_PER_WORKER_MAX);
    this.#streamsPerOrganisationMax = Math.min(
      options.streamsPerOrganisationMax ?? Number.POSITIVE_INFINITY,
      Math.ceil(this.#streamsMax * ORGANISATION_SHARE),
    );
    this.#backoff = new StartBackoff(this.#clock);
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
      member.worker.open(this.#lastId, asked, share, connection);
      connection.attach(member.worker, this.#lastId);
      member.opened++;
      if (member.opened >= (this.#options.workerStreamsMax ?? WORKER_STREAMS_MAX)) this.#retire(member);
    }
    return connection;
  }

  /** @param owner the organisation that asks */
  async check(query: Readonly<Record<string, unknown>>, owner?: string): Promise<QueryFault | undefined> {
    const asked = readQuery(query);
    if (asked === undefined) throw new TypeError('This is no query of the embedded recogniser.');
    if (!('builtIn' in asked.task) || asked.task.builtIn) return undefined;
    const waiting = [...this.#members.keys()].reduce((sum, { checks }) => sum + checks, 0);
    const share = this.#shares.of(owner);
    const hasMany = owner !== undefined && share.checks >= CHECKS_PER_ORGANISATION_MAX;
    const isDown = this.#members.size === 0 && this.#backoff.waitMs > 0;
    if (this.#closed || isDown || waiting >= CHECKS_MAX || hasMany) {
      this.#shares.left(share);
      return {
        param: paramOf(asked.task),
        message: 'The recogniser is too busy to look at this now. Try again shortly.',
      };
    }
    this.#lastId++;
    share.checks++;
    return this.#pick()
      .worker.check(this.#lastId, asked, share)
      .finally(() => {
        share.checks--;
        this.#shares.left(share);
      });
  }

  /**
   * Starts a worker ahead of the first stream, and keeps it until the returned function is called. The five idle minutes of a worker
   * begin then.
   */
  keepReady(): () => void {
    this.#keepers++;
    this.#startAhead();
    for (const member of this.#members.values()) {
      member.idle?.stop();
      member.idle = undefined;
    }
    let isKept = true;
    return () => {
      if (!isKept) return;
      isKept = false;
      this.#keepers--;
      for (const worker of this.#members.keys()) this.#settle(worker);
    };
  }

  /** Ends every worker and resolves when all are gone. Streams are closed with 1001, new ones are refused. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const worker of [...this.#members.keys(), ...this.#retired]) this.#endWorker(worker);
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
    const { waitMs } = this.#backoff;
    if (this.#members.size === 0 && waitMs > 0) {
      const message = `The recogniser failed when it was started. It is started again in ${Math.ceil(waitMs / 1000)} s at the earliest.`;
      return ['model_unavailable', message];
    }
    if (owner === undefined || streams < share) return undefined;
    const message = `This organisation has ${share} streams of the embedded recogniser, which is its share. End one first.`;
    return ['recogniser_share_used', message];
  }

  /** The least busy worker; another is started while there may be more and none is free. */
  #pick(): Member {
    const [best] = [...this.#members.values()].sort((a, b) => a.worker.streams - b.worker.streams);
    const isFree = best !== undefined && best.worker.streams + best.worker.checks === 0;
    const isEnough = isFree || this.#members.size >= this.#options.workers || this.#backoff.waitMs > 0;
    const member = best !== undefined && isEnough ? best : this.#start();
    member.idle?.stop();
    member.idle = undefined;
    return member;
  }

  #start(): Member {
    const worker = new WorkerHandle({
      open: this.#options.open ?? grammarThread,
      hangMs: this.#options.hangMs ?? HANG_MS,
      clock: this.#clock,
      shares: this.#shares,
      onLess: (from) => this.#settle(from),
      onServed: () => this.#backoff.served(),
      onStreamFault: (error) => this.#options.onFault?.(error),
      onFault: (from, error) => {
        this.#backoff.failed(from.hasAnswered);
        this.#endWorker(from);
        this.#options.onFault?.(error);
        this.#startAhead();
      },
    });
    const member: Member = { worker, opened: 0, idle: undefined };
    this.#members.set(worker, member);
    return member;
  }

  #startAhead(): void {
    const isNeeded = this.#keepers > 0 && this.#members.size === 0;
    if (isNeeded && !this.#closed && this.#backoff.waitMs === 0) this.#start();
  }

  /** A worker has less to do: one that has nothing left is ended, at once when worn or faulty, else after a while. */
  #settle(worker: WorkerHandle): void {
    if (this.#closed || worker.streams + worker.checks > 0) return;
    const member = this.#members.get(worker);
    if (member === undefined || worker.isFaulty) {
      this.#endWorker(worker);
      this.#startAhead();
    } else if (this.#keepers === 0) {
      member.idle ??= new IdleTimer(this.#clock, IDLE_MS, () => this.#endWorker(worker));
    }
  }

  #retire({ worker }: Member): void {
    this.#forget(worker);
    this.#retired.add(worker);
  }

  #endWorker(worker: WorkerHandle): void {
    this.#forget(worker);
    const ending = worker.close(1001, 'The recogniser is closing.').finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  #forget(worker: WorkerHandle): void {
    this.#members.get(worker)?.idle?.stop();
    this.#members.delete(worker);
    this.#retired.delete(worker);
  }
}

/** Two seconds of audio: when so little of the queue is left, the sender is told to go on. */
const LOW_BYTES = 65_536;
/** The close code of a stream that could not be served now (RFC 6455's registry: try again later). */
const TRY_AGAIN_LATER = 1013;

/** A connection that is told why there is no stream for it, and closed. */
export function refusedConnection(listener: EngineListener, code: StreamErrorCode, message: string): EngineConnection {
  const connection = new PoolConnection(listener, {
    queueBytesMax: 0,
    onQueue: () => {},
    onSlowed: () => {},
    onClosed: () => {},
  });
  connection.refuse(code, message);
  return connection;
}

/** Told of what the pool adds up. */
interface ConnectionOptions {
  queueBytesMax: number;
  /** The queue grew by so many bytes, or shrank. */
  onQueue: (bytes: number) => void;
  onSlowed: () => void;
  onClosed: () => void;
}

/**
 * One connection to the recogniser: the engine's contract in front of a stream of a worker. Bounds what waits. The listener is
 * never called inside `connect`, `send` or `close`.
 */
class PoolConnection implements EngineConnection, WorkerStream {
  readonly #listener: EngineListener;
  readonly #options: ConnectionOptions;
  /** Where its stream is; undefined when it has none, or no longer. */
  #place: { worker: WorkerHandle; id: number } | undefined;
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
  attach(worker: WorkerHandle, id: number): void {
    this.#place = { worker, id };
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
    const { worker, id } = this.#place;
    if (frame instanceof Uint8Array) {
      if (!this.#takes(frame.byteLength)) return;
      for (let at = 0; at < frame.byteLength; at += PIECE_BYTES) {
        // A copy: the frame is the sender's again once this returns.
        worker.audio(id, new Uint8Array(frame.subarray(at, at + PIECE_BYTES)));
      }
    } else if (isCommand(frame)) {
      if (this.#takes(COMMAND_BYTES)) worker.command(id, frame);
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
    place?.worker.drop(place.id);
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
