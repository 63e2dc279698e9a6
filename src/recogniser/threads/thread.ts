// One recogniser thread, seen from outside: its work, the thread time to charge, and whether it is alive. It gets little work at
// a time, so that thread-queue.ts can choose the next stream. worker.ts runs inside it; pool.ts assigns streams.
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../../machines/clock.ts';
import { workerFile } from '../../runtime/telemetry/worker-file.ts';
import { IdleTimer } from '../../runtime/timeouts.ts';
import {
  COMMAND_BYTES,
  PIECE_BYTES,
  paramOf,
  type QueryFault,
  SAMPLE_RATE,
  type StreamCommand,
  type StreamMessage,
  type StreamQuery,
  type ThreadReply,
  type ThreadRequest,
} from '../protocol.ts';
import { type OrganisationShare, type OrganisationShares, ThreadQueue } from './thread-queue.ts';

/** A thread that owes an answer and says nothing for so long hangs. */
const HANG_MS = 10_000;
/** What a thread has at hand, so that it need not wait for this one: twice what is worked on in one piece. */
const AT_HAND_BYTES = 2 * PIECE_BYTES;
/** To compile a task takes as long as some audio. */
const TASK_BYTES = PIECE_BYTES;
const BYTES_PER_SECOND = 2 * SAMPLE_RATE;

/** A stream, as its thread speaks to it. */
export interface ThreadStream {
  say(message: StreamMessage): void;
  /** So many bytes of its queue were worked on. */
  worked(bytes: number): void;
  /** It has to wait for its organisation's time; said once. */
  slowed(): void;
  /** Called once; the thread has forgotten the stream. */
  end(code: number, reason: string): void;
}

interface Check {
  query: StreamQuery;
  resolve(fault: QueryFault | undefined): void;
}

export interface ThreadOptions {
  clock: Clock;
  shares: OrganisationShares;
  /** A stream or a check has ended. */
  onLess: (thread: Thread) => void;
  /** The thread failed, and its streams were closed with 1011. It is still to be closed itself. */
  onFault: (thread: Thread, error: Error) => void;
}

export class Thread {
  readonly #options: ThreadOptions;
  readonly #worker: Worker;
  readonly #streams = new Map<number, ThreadStream>();
  readonly #checks = new Map<number, Check>();
  readonly #queue: ThreadQueue<ThreadRequest>;
  /** Who pays for what was asked, by stream or check, as long as it is not answered; a stream may have been dropped by then. */
  readonly #payers = new Map<number, { share: OrganisationShare; owed: number }>();
  /** Requests without an answer, and how much they ask for. */
  #owed = 0;
  #owedBytes = 0;
  #held: unknown;
  #hang: IdleTimer | undefined;
  #over = false;

  constructor(options: ThreadOptions) {
    this.#options = options;
    this.#queue = new ThreadQueue(options.shares);
    // Flags of the process, such as loaders, are not for its threads.
    this.#worker = new Worker(workerFile(import.meta.url, 'worker'), { execArgv: [], name: 'recogniser' });
    this.#worker.on('message', (reply: ThreadReply) => this.#hear(reply));
    this.#worker.on('error', (error) => this.#fail(error instanceof Error ? error : new Error(String(error))));
    this.#worker.on('exit', (code) => this.#fail(new Error(`A thread of the recogniser ended with code ${code}.`)));
  }

  get streams(): number {
    return this.#streams.size;
  }

  get checks(): number {
    return this.#checks.size;
  }

  open(id: number, query: StreamQuery, share: OrganisationShare, stream: ThreadStream): void {
    this.#streams.set(id, stream);
    this.#queue.open(id, share, () => stream.slowed());
    this.#queue.put(id, { type: 'open', stream: id, query }, TASK_BYTES);
    this.#feed();
  }

  /** At most PIECE_BYTES; they are handed over: their buffer is empty afterwards. */
  audio(id: number, bytes: Uint8Array<ArrayBuffer>): void {
    const { byteLength } = bytes;
    const audio = { seconds: byteLength / BYTES_PER_SECOND, nowMs: this.#options.clock.now() };
    this.#queue.put(id, { type: 'audio', stream: id, bytes }, byteLength, audio);
    this.#feed();
  }

  command(id: number, command: StreamCommand): void {
    this.#queue.put(id, { type: 'command', stream: id, command }, COMMAND_BYTES);
    this.#feed();
  }

  /** Forgets a stream without closing it. */
  drop(id: number): void {
    if (!this.#streams.delete(id) || this.#over) return;
    this.#queue.drop(id);
    this.#worker.postMessage({ type: 'drop', stream: id } satisfies ThreadRequest);
    this.#options.onLess(this);
  }

  check(id: number, query: StreamQuery, share: OrganisationShare): Promise<QueryFault | undefined> {
    return new Promise((resolve) => {
      this.#checks.set(id, { query, resolve });
      this.#queue.open(id, share);
      this.#queue.put(id, { type: 'check', check: id, query }, TASK_BYTES);
      this.#feed();
    });
  }

  /** Ends the thread and all it has. Resolves when it is gone. */
  async close(code: number, reason: string): Promise<void> {
    this.#end(code, reason);
    await this.#worker.terminate();
  }

  /** Gives the thread what is next, as long as it has little at hand. */
  #feed(): void {
    const { clock } = this.#options;
    clock.clearTimeout(this.#held);
    this.#held = undefined;
    while (!this.#over && this.#owedBytes < AT_HAND_BYTES) {
      const next = this.#queue.next(clock.now());
      if (next === undefined) break;
      this.#ask(next.piece.request, next.piece.bytes, next.id, next.share);
    }
    const { heldMs } = this.#queue;
    if (this.#over || this.#owed > 0 || heldMs === Number.POSITIVE_INFINITY) return;
    this.#held = clock.setTimeout(() => this.#feed(), Math.ceil(heldMs));
  }

  #ask(request: ThreadRequest, bytes: number, id: number, share: OrganisationShare): void {
    const payer = this.#payers.get(id);
    if (payer === undefined) this.#payers.set(id, { share, owed: 1 });
    else payer.owed++;
    if (this.#owed === 0) this.#hang?.touch();
    this.#owed++;
    this.#owedBytes += bytes;
    this.#hang ??= new IdleTimer(this.#options.clock, HANG_MS, () => this.#quiet(), { outlastsFreeze: true });
    this.#worker.postMessage(request, request.type === 'audio' ? [request.bytes.buffer] : []);
  }

  /** A request was answered. */
  #answered(id: number, bytes: number, ms: number): void {
    this.#owed--;
    this.#owedBytes -= bytes;
    const payer = this.#payers.get(id);
    if (payer === undefined) return;
    this.#options.shares.spend(payer.share, ms);
    payer.owed--;
    if (payer.owed === 0) this.#payers.delete(id);
  }

  /** Nothing was heard for a while: in order when nothing is owed. */
  #quiet(): void {
    this.#hang = undefined;
    if (this.#owed > 0) this.#fail(new Error(`A thread of the recogniser said nothing for ${HANG_MS / 1000} s.`));
  }

  #hear(reply: ThreadReply): void {
    if (this.#over) return;
    this.#hang?.touch();
    if (reply.type === 'checked') this.#checked(reply);
    else this.#heard(reply);
    this.#feed();
  }

  #checked({ check: id, fault, ms }: Extract<ThreadReply, { type: 'checked' }>): void {
    this.#answered(id, TASK_BYTES, ms);
    const check = this.#checks.get(id);
    this.#checks.delete(id);
    this.#queue.drop(id);
    check?.resolve(fault);
    this.#options.onLess(this);
  }

  #heard(reply: Exclude<ThreadReply, { type: 'checked' }>): void {
    const stream = this.#streams.get(reply.stream);
    if (reply.type === 'said') stream?.say(reply.message);
    else if (reply.type === 'opened') this.#answered(reply.stream, TASK_BYTES, reply.ms);
    else if (reply.type === 'worked') {
      this.#answered(reply.stream, reply.bytes, reply.ms);
      stream?.worked(reply.bytes);
    } else if (this.#streams.delete(reply.stream)) {
      this.#queue.drop(reply.stream);
      stream?.end(1000, '');
      this.#options.onLess(this);
    }
  }

  #fail(error: Error): void {
    if (this.#over) return;
    this.#end(1011, 'The recogniser failed.');
    this.#options.onFault(this, error);
  }

  #end(code: number, reason: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#hang?.stop();
    this.#options.clock.clearTimeout(this.#held);
    const streams = [...this.#streams.values()];
    const checks = [...this.#checks.values()];
    this.#streams.clear();
    this.#checks.clear();
    for (const stream of streams) stream.end(code, reason);
    for (const { query, resolve } of checks) {
      resolve({
        param: paramOf(query.task),
        message: 'The recogniser failed while it looked at this. Simplify it, or try again.',
      });
    }
  }
}
