// The recogniser's threads as one engine: starts them when they are first needed, gives each stream to the least busy one,
// bounds what waits, and replaces a thread that fails. What is said in a stream is decided in stream.ts.
import { Worker } from 'node:worker_threads';
import type { Engine, EngineConnection, EngineListener, Outgoing } from '../providers/provider.ts';
import { workerFile } from '../telemetry/worker-file.ts';
import type {
  QueryFault,
  StreamErrorCode,
  StreamMessage,
  StreamQuery,
  WorkerReply,
  WorkerRequest,
} from './protocol.ts';

export interface RecogniserPoolOptions {
  /** Threads at most. */
  workers: number;
  /** Streams at a time; one more is refused as `recogniser_overloaded`. */
  streamsMax: number;
  /** Audio of one stream waiting for its thread; more ends the stream as `recogniser_queue_full`. */
  queueBytesMax: number;
  /** Hears when a thread failed; its streams were closed with 1011 and another takes its place. */
  onFault?: (error: Error) => void;
}

/** A sender is told to go on when so little of the queue is left. */
const DRAINED_BYTES = 65_536;
/** Checks that may wait; one more is answered as a fault. */
const CHECKS_MAX = 256;

/** One thread and what it has. */
class Thread {
  readonly worker: Worker;
  readonly streams = new Map<number, PoolStream>();
  readonly checks = new Map<number, (fault: QueryFault | undefined) => void>();
  failed = false;

  constructor(onReply: (thread: Thread, reply: WorkerReply) => void, onEnd: (thread: Thread, error: Error) => void) {
    // Flags of the process, such as loaders, are not for its threads.
    this.worker = new Worker(workerFile(import.meta.url, 'worker'), { execArgv: [] });
    this.worker.on('message', (reply: WorkerReply) => onReply(this, reply));
    this.worker.on('error', (error) => onEnd(this, error instanceof Error ? error : new Error(String(error))));
    this.worker.on('exit', (code) => onEnd(this, new Error(`The recogniser's thread ended with code ${code}.`)));
  }

  post(request: WorkerRequest, transfer: ArrayBuffer[] = []): void {
    this.worker.postMessage(request, transfer);
  }
}

export class RecogniserPool implements Engine {
  readonly #options: RecogniserPoolOptions;
  readonly #threads: Thread[] = [];
  #lastId = 0;
  #streams = 0;
  #queuedBytes = 0;
  #closed = false;

  constructor(options: RecogniserPoolOptions) {
    this.#options = options;
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
    const stream = new PoolStream(listener, this.#options.queueBytesMax, (bytes) => {
      this.#queuedBytes += bytes;
    });
    if (this.#closed || this.#streams >= this.#options.streamsMax) {
      const limit = this.#options.streamsMax;
      stream.refuse('recogniser_overloaded', `The recogniser holds its limit of ${limit} streams. Try again shortly.`);
      return stream;
    }
    this.#lastId++;
    const id = this.#lastId;
    const thread = this.#leastBusy();
    this.#streams++;
    thread.streams.set(id, stream);
    stream.attach(id, thread, () => {
      this.#streams--;
      thread.streams.delete(id);
    });
    // Shape checked by the codec that wrote it, the options' schema and the thread's own compiler.
    thread.post({ type: 'open', stream: id, query: query as unknown as StreamQuery });
    return stream;
  }

  async check(query: Readonly<Record<string, unknown>>): Promise<QueryFault | undefined> {
    const waiting = this.#threads.reduce((sum, { checks }) => sum + checks.size, 0);
    if (this.#closed || waiting >= CHECKS_MAX) {
      return { param: 'grammar', message: 'The recogniser is too busy to check this now. Try again shortly.' };
    }
    this.#lastId++;
    const id = this.#lastId;
    const thread = this.#leastBusy();
    return new Promise((resolve) => {
      thread.checks.set(id, resolve);
      thread.post({ type: 'check', check: id, query: query as unknown as StreamQuery });
    });
  }

  /** Ends every thread. Streams are closed with 1001. */
  async close(): Promise<void> {
    this.#closed = true;
    const threads = this.#threads.splice(0);
    for (const thread of threads) this.#let(thread, 1001, 'the recogniser is closing');
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }

  #leastBusy(): Thread {
    const [best] = [...this.#threads].sort((a, b) => a.streams.size - b.streams.size);
    if (best !== undefined && (best.streams.size === 0 || this.#threads.length >= this.#options.workers)) return best;
    const thread = new Thread(
      (from, reply) => this.#hear(from, reply),
      (from, error) => this.#fail(from, error),
    );
    this.#threads.push(thread);
    return thread;
  }

  #hear(thread: Thread, reply: WorkerReply): void {
    if (reply.type === 'checked') {
      thread.checks.get(reply.check)?.(reply.fault);
      thread.checks.delete(reply.check);
      return;
    }
    const stream = thread.streams.get(reply.stream);
    if (reply.type === 'said') stream?.say(reply.message);
    else if (reply.type === 'worked') stream?.worked(reply.bytes);
    else stream?.end(1000, '');
  }

  #fail(thread: Thread, error: Error): void {
    if (thread.failed || this.#closed) return;
    thread.failed = true;
    const at = this.#threads.indexOf(thread);
    if (at >= 0) this.#threads.splice(at, 1);
    this.#options.onFault?.(error);
    this.#let(thread, 1011, 'the recogniser failed');
    void thread.worker.terminate();
  }

  /** Closes everything a thread had. */
  #let(thread: Thread, code: number, reason: string): void {
    for (const stream of [...thread.streams.values()]) stream.end(code, reason);
    for (const resolve of thread.checks.values()) {
      resolve({ param: 'grammar', message: 'The recogniser failed at this task. Simplify it, or try again.' });
    }
    thread.checks.clear();
  }
}

/** One connection. Nothing is said inside `connect` or `send`. */
class PoolStream implements EngineConnection {
  readonly #listener: EngineListener;
  readonly #queueBytesMax: number;
  readonly #count: (bytes: number) => void;
  #id = 0;
  #thread: Thread | undefined;
  #release: () => void = () => {};
  #bufferedBytes = 0;
  #full = false;
  #over = false;

  constructor(listener: EngineListener, queueBytesMax: number, count: (bytes: number) => void) {
    this.#listener = listener;
    this.#queueBytesMax = queueBytesMax;
    this.#count = count;
  }

  get bufferedBytes(): number {
    return this.#bufferedBytes;
  }

  attach(id: number, thread: Thread, release: () => void): void {
    this.#id = id;
    this.#thread = thread;
    this.#release = release;
    queueMicrotask(() => {
      if (!this.#over) this.#listener.open();
    });
  }

  /** Says why there is no stream, and closes. */
  refuse(code: StreamErrorCode, message: string): void {
    queueMicrotask(() => {
      if (this.#over) return;
      this.#listener.open();
      this.say({ type: 'error', code, message });
      this.end(1013, code);
    });
  }

  send(frame: Outgoing): void {
    const thread = this.#thread;
    if (this.#over || thread === undefined) return;
    if (!(frame instanceof Uint8Array)) {
      thread.post({ type: 'command', stream: this.#id, command: frame as { type: 'finalize' | 'finish' } });
      return;
    }
    if (this.#bufferedBytes + frame.byteLength > this.#queueBytesMax) {
      this.#thread = undefined;
      thread.post({ type: 'drop', stream: this.#id });
      queueMicrotask(() => {
        this.say({
          type: 'error',
          code: 'recogniser_queue_full',
          message: 'Audio came faster than the recogniser can decode it.',
        });
        this.end(1013, 'recogniser_queue_full');
      });
      return;
    }
    const bytes = frame.slice();
    this.#add(bytes.byteLength);
    this.#full ||= this.#bufferedBytes > DRAINED_BYTES;
    thread.post({ type: 'audio', stream: this.#id, bytes }, [bytes.buffer as ArrayBuffer]);
  }

  close(): void {
    queueMicrotask(() => {
      if (this.#over) return;
      this.#thread?.post({ type: 'drop', stream: this.#id });
      this.end(1000, '');
    });
  }

  terminate(): void {
    if (this.#over) return;
    this.#thread?.post({ type: 'drop', stream: this.#id });
    this.#finish();
  }

  say(message: StreamMessage): void {
    if (!this.#over) this.#listener.message(message);
  }

  worked(bytes: number): void {
    this.#add(-bytes);
    if (!this.#full || this.#over || this.#bufferedBytes > DRAINED_BYTES) return;
    this.#full = false;
    this.#listener.drained();
  }

  end(code: number, reason: string): void {
    if (this.#over) return;
    this.#finish();
    this.#listener.closed(code, reason);
  }

  #add(bytes: number): void {
    this.#bufferedBytes += bytes;
    this.#count(bytes);
  }

  #finish(): void {
    this.#over = true;
    this.#add(-this.#bufferedBytes);
    this.#thread = undefined;
    this.#release();
  }
}
