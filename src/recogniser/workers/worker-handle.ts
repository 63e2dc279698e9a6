// One worker of the recogniser, seen from outside: its work, the time to charge, and whether it is alive. It gets little work at
// a time, so that work-queue.ts can choose the next stream. pool.ts assigns streams.
import type { Clock } from '../../../machines/clock.ts';
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
  type WorkerReply,
  type WorkerRequest,
} from '../protocol.ts';
import type { OpenPort, Port } from './port.ts';
import { type OrganisationShare, type OrganisationShares, WorkQueue } from './work-queue.ts';

/** What a worker has at hand, so that it need not wait for this process: twice what is worked on in one piece. */
const AT_HAND_BYTES = 2 * PIECE_BYTES;
/** To compile a task takes as long as some audio. */
const TASK_BYTES = PIECE_BYTES;
const BYTES_PER_SECOND = 2 * SAMPLE_RATE;
/** The reason of a stream that is closed with 1011. */
const FAILED = 'The recogniser failed.';

/** A stream, as its worker speaks to it. */
export interface WorkerStream {
  say(message: StreamMessage): void;
  /** So many bytes of its queue were worked on. */
  worked(bytes: number): void;
  /** It has to wait for its organisation's time; said once. */
  slowed(): void;
  /** Called once; the worker has forgotten the stream. */
  end(code: number, reason: string): void;
}

interface Check {
  query: StreamQuery;
  resolve(fault: QueryFault | undefined): void;
}

export interface WorkerOptions {
  open: OpenPort;
  /** A worker that owes an answer and sends nothing for so long hangs. */
  hangMs: number;
  clock: Clock;
  shares: OrganisationShares;
  /** A stream or a check has ended. */
  onLess: (worker: WorkerHandle) => void;
  /** A stream was served to its end. */
  onServed: () => void;
  /** One stream failed, and was closed with 1011. The others continue. */
  onStreamFault: (error: Error) => void;
  /** The worker failed, and its streams were closed with 1011. It is still to be closed itself. */
  onFault: (worker: WorkerHandle, error: Error) => void;
}

export class WorkerHandle {
  readonly #options: WorkerOptions;
  readonly #port: Port;
  readonly #streams = new Map<number, WorkerStream>();
  readonly #checks = new Map<number, Check>();
  readonly #queue: WorkQueue<WorkerRequest>;
  /** Who pays for what was asked, by stream or check, as long as it is not answered; a stream may have been dropped by then. */
  readonly #payers = new Map<number, { share: OrganisationShare; owed: number }>();
  /** Requests without an answer, and how much they ask for. */
  #owed = 0;
  #owedBytes = 0;
  #held: unknown;
  #hang: IdleTimer | undefined;
  #hasAnswered = false;
  #isFaulty = false;
  #over = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#queue = new WorkQueue(options.shares);
    this.#port = options.open({ reply: (reply) => this.#hear(reply), failed: (error) => this.#fail(error) });
  }

  get streams(): number {
    return this.#streams.size;
  }

  get checks(): number {
    return this.#checks.size;
  }

  /** Whether it has come up: a model that cannot be opened ends its worker before. */
  get hasAnswered(): boolean {
    return this.#hasAnswered;
  }

  /** Whether a stream of it has failed: it is replaced as soon as it has nothing else to do. */
  get isFaulty(): boolean {
    return this.#isFaulty;
  }

  open(id: number, query: StreamQuery, share: OrganisationShare, stream: WorkerStream): void {
    this.#streams.set(id, stream);
    this.#queue.open(id, share, () => stream.slowed());
    this.#queue.put(id, { type: 'open', stream: id, query, organisation: share.owner }, TASK_BYTES);
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
    this.#port.post({ type: 'drop', stream: id });
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

  /** Ends the worker and all it has. Resolves when it is gone. */
  async close(code: number, reason: string): Promise<void> {
    this.#end(code, reason);
    await this.#port.terminate();
  }

  /** Gives the worker what is next, as long as it has little at hand. */
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

  #ask(request: WorkerRequest, bytes: number, id: number, share: OrganisationShare): void {
    const payer = this.#payers.get(id);
    if (payer === undefined) this.#payers.set(id, { share, owed: 1 });
    else payer.owed++;
    if (this.#owed === 0) this.#hang?.touch();
    this.#owed++;
    this.#owedBytes += bytes;
    this.#hang ??= new IdleTimer(this.#options.clock, this.#options.hangMs, () => this.#quiet(), {
      outlastsFreeze: true,
    });
    this.#port.post(request);
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
    if (this.#owed > 0)
      this.#fail(new Error(`A worker of the recogniser sent nothing for ${this.#options.hangMs / 1000} s.`));
  }

  #hear(reply: WorkerReply): void {
    if (this.#over) return;
    this.#hasAnswered = true;
    this.#hang?.touch();
    if (reply.type === 'checked') this.#checked(reply);
    else this.#heard(reply);
    this.#feed();
  }

  #checked({ check: id, fault, ms }: Extract<WorkerReply, { type: 'checked' }>): void {
    this.#answered(id, TASK_BYTES, ms);
    const check = this.#checks.get(id);
    this.#checks.delete(id);
    this.#queue.drop(id);
    check?.resolve(fault);
    this.#options.onLess(this);
  }

  #heard(reply: Exclude<WorkerReply, { type: 'checked' }>): void {
    const stream = this.#streams.get(reply.stream);
    if (reply.type === 'said') stream?.say(reply.message);
    else if (reply.type === 'held') this.#queue.hold(reply.stream, reply.held, this.#options.clock.now());
    else if (reply.type === 'opened') this.#answered(reply.stream, TASK_BYTES, reply.ms);
    else if (reply.type === 'worked') {
      this.#answered(reply.stream, reply.bytes, reply.ms);
      stream?.worked(reply.bytes);
    } else if (this.#streams.delete(reply.stream)) {
      this.#queue.drop(reply.stream);
      if (reply.type === 'ended') {
        this.#options.onServed();
        stream?.end(1000, '');
      } else {
        this.#isFaulty = true;
        stream?.end(1011, FAILED);
        this.#options.onStreamFault(new Error(`A stream of the recogniser failed: ${reply.message}`));
      }
      this.#options.onLess(this);
    }
  }

  #fail(error: Error): void {
    if (this.#over) return;
    this.#end(1011, FAILED);
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
