// One thread that measures files, seen from outside: it is given a piece and answers, one at a time. It is started when it is
// first needed, and anew when it failed.
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../../machines/clock.ts';
import { Deadline } from '../../runtime/deadline.ts';
import { workerFile } from '../../runtime/telemetry/worker-file.ts';
import type { FromThread, ToThread } from './protocol.ts';

/** Far more than a piece takes: a thread that says nothing for so long hangs. */
const HANG_MS = 10_000;
/** Tables of the largest files fit; a file that needs more ends the thread, and not the process. */
const MEMORY_MB = 192;

export class MeasuringThread {
  readonly #clock: Clock;
  #worker: Worker | undefined;
  #asked: { resolve(answer: FromThread): void; reject(error: Error): void } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Rejects when the thread fails, or hangs: it has then forgotten every file. */
  async ask(message: ToThread & { type: 'piece' }): Promise<FromThread> {
    this.#worker ??= this.#start();
    const worker = this.#worker;
    const hang = new Deadline(this.#clock, HANG_MS, () => this.#fail(worker, new Error('It says nothing.')), {
      outlastsFreeze: true,
    });
    try {
      return await new Promise((resolve, reject) => {
        this.#asked = { resolve, reject };
        worker.postMessage(message, [message.bytes.buffer]);
      });
    } finally {
      hang.stop();
    }
  }

  drop(job: number): void {
    this.#worker?.postMessage({ type: 'drop', job } satisfies ToThread);
  }

  /** Resolves when the thread is gone. */
  async close(): Promise<void> {
    const worker = this.#worker;
    if (worker !== undefined) this.#fail(worker, new Error('It was closed.'));
    await worker?.terminate();
  }

  #start(): Worker {
    // Flags of the process, such as loaders, are not for its threads.
    const worker = new Worker(workerFile(import.meta.url, 'worker'), {
      execArgv: [],
      name: 'measuring',
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    });
    // It holds nobody up who wants to end.
    worker.unref();
    worker.on('message', (answer: FromThread) => {
      const asked = this.#asked;
      this.#asked = undefined;
      asked?.resolve(answer);
    });
    worker.on('error', (error) => this.#fail(worker, error instanceof Error ? error : new Error(String(error))));
    worker.on('exit', (code) => this.#fail(worker, new Error(`It ended with code ${code}.`)));
    return worker;
  }

  #fail(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    void worker.terminate();
    this.#asked?.reject(new Error(`The thread that measures files failed. ${error.message}`));
    this.#asked = undefined;
  }
}
