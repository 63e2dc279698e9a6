// One thread of the recogniser, seen from outside: what it was asked, what it owes, and whether it still lives.
// What runs inside is worker.ts; which streams come here is decided in pool.ts.
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../machines/clock.ts';
import { Deadline } from '../runtime/deadline.ts';
import { workerFile } from '../telemetry/worker-file.ts';
import {
  paramOf,
  type QueryFault,
  type StreamCommand,
  type StreamMessage,
  type StreamQuery,
  type ThreadReply,
  type ThreadRequest,
} from './protocol.ts';

/** A thread that owes an answer and says nothing for so long hangs. */
const HANG_MS = 10_000;

/** A stream, as its thread speaks to it. */
export interface ThreadStream {
  say(message: StreamMessage): void;
  /** So many bytes of its queue were worked on. */
  worked(bytes: number): void;
  /** Called once; the thread has forgotten the stream. */
  end(code: number, reason: string): void;
}

interface Check {
  query: StreamQuery;
  resolve(fault: QueryFault | undefined): void;
}

export interface ThreadOptions {
  clock: Clock;
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
  /** Requests without an answer. */
  #owed = 0;
  #hang: Deadline | undefined;
  #over = false;

  constructor(options: ThreadOptions) {
    this.#options = options;
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

  open(id: number, query: StreamQuery, stream: ThreadStream): void {
    this.#streams.set(id, stream);
    this.#ask({ type: 'open', stream: id, query });
  }

  /** The bytes are handed over: their buffer is empty afterwards. */
  audio(id: number, bytes: Uint8Array<ArrayBuffer>): void {
    this.#ask({ type: 'audio', stream: id, bytes }, [bytes.buffer]);
  }

  command(id: number, command: StreamCommand): void {
    this.#ask({ type: 'command', stream: id, command });
  }

  /** Forgets a stream, without a word to it. */
  drop(id: number): void {
    if (!this.#streams.delete(id) || this.#over) return;
    this.#worker.postMessage({ type: 'drop', stream: id } satisfies ThreadRequest);
    this.#options.onLess(this);
  }

  check(id: number, query: StreamQuery): Promise<QueryFault | undefined> {
    return new Promise((resolve) => {
      this.#checks.set(id, { query, resolve });
      this.#ask({ type: 'check', check: id, query });
    });
  }

  /** Ends the thread and all it has. Resolves when it is gone. */
  async close(code: number, reason: string): Promise<void> {
    this.#end(code, reason);
    await this.#worker.terminate();
  }

  #ask(request: ThreadRequest, transfer: ArrayBuffer[] = []): void {
    if (this.#over) return;
    if (this.#owed === 0) this.#hang?.touch();
    this.#owed++;
    this.#hang ??= new Deadline(this.#options.clock, HANG_MS, () => this.#quiet());
    this.#worker.postMessage(request, transfer);
  }

  /** Nothing was heard for a while: in order when nothing is owed. */
  #quiet(): void {
    this.#hang = undefined;
    if (this.#owed > 0) this.#fail(new Error(`A thread of the recogniser said nothing for ${HANG_MS / 1000} s.`));
  }

  #hear(reply: ThreadReply): void {
    if (this.#over) return;
    this.#hang?.touch();
    if (reply.type === 'worked' || reply.type === 'checked') this.#owed--;
    if (reply.type === 'checked') {
      const check = this.#checks.get(reply.check);
      this.#checks.delete(reply.check);
      check?.resolve(reply.fault);
      this.#options.onLess(this);
      return;
    }
    const stream = this.#streams.get(reply.stream);
    if (reply.type === 'said') stream?.say(reply.message);
    else if (reply.type === 'worked') stream?.worked(reply.bytes);
    else if (this.#streams.delete(reply.stream)) {
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
