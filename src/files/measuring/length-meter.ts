// How much audio kept files hold, in threads beside the one that serves: what is in a file is the client's, and may be much work.
// Organisations have their turns, and each has a bound. What the length is good for is decided by whoever asks.

import { Worker } from 'node:worker_threads';
import type { Clock } from '../../../machines/clock.ts';
import { apiError } from '../../api/errors.ts';
import type { MeasuredAudio, Piece } from '../../audio/scan.ts';
import { Quota } from '../../runtime/limits/quota.ts';
import { workerFile } from '../../runtime/telemetry/worker-file.ts';
import { IdleTimer } from '../../runtime/timeouts.ts';
import { BLOCK_BYTES, type FromThread, type ToThread } from './protocol.ts';

/** An organisation has its files in one of them. */
const THREADS = 2;
/** A gigabyte is counted in less. */
const WORK_MS = 10_000;
/** Files that are measured or wait for it, and what one organisation may have of them. */
const FILES_MAX = 1_024;
const ORGANISATION_SHARE = 1 / 4;

export interface LengthMeterOptions {
  clock: Clock;
  /** Hears when a thread failed; the file that it had is not measured, and the others are begun again. */
  onFault?: (error: unknown) => void;
  /** Hears of the name of an overflow. */
  onOverflow?: (name: string) => void;
  /** Work on one file, after which nobody can tell how long it is. */
  workMs?: number;
}

export class LengthMeter {
  readonly #options: LengthMeterOptions;
  readonly #lanes: readonly Lane[];
  readonly #quota = new Quota(FILES_MAX, ORGANISATION_SHARE);

  constructor(options: LengthMeterOptions) {
    this.#options = options;
    const { clock, workMs = WORK_MS, onFault = () => {} } = options;
    this.#lanes = Array.from({ length: THREADS }, () => new Lane({ clock, workMs, onFault }));
  }

  /** Files that are measured, or wait for it. */
  get waiting(): number {
    return this.#quota.used;
  }

  /**
   * How much audio the file holds at most; undefined where nobody can tell, where it cannot be read, or takes too long.
   * Rejects with the ApiError `overloaded` when too many files wait, since what is not measured would be held for dearly.
   */
  async measure(file: MeasuredFile, organisationId: string): Promise<MeasuredAudio | undefined> {
    const lane = this.#laneOf(organisationId);
    const shortage = this.#quota.take(organisationId);
    if (shortage !== undefined) {
      this.#options.onOverflow?.('measured_files');
      throw apiError(
        'overloaded',
        `${shortage === 'share' ? 'As many files of your organisation wait to be measured as one organisation may have waiting' : 'This node has no place for another file that waits to be measured'}. Send this one again in a moment.`,
        { retryAfterSeconds: 1 },
      );
    }
    try {
      return await lane.measure(file, organisationId);
    } finally {
      this.#quota.giveBack(organisationId);
    }
  }

  /** Nobody can tell of what is still waiting. Resolves when the threads are gone. */
  async close(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.close()));
  }

  /** Where it has files already, or the one with the fewest organisations. */
  #laneOf(organisationId: string): Lane {
    const own = this.#lanes.find((lane) => lane.filesOf(organisationId) > 0);
    if (own !== undefined) return own;
    return this.#lanes.reduce((least, lane) => (lane.organisations < least.organisations ? lane : least));
  }
}

export interface MeasuredFile {
  /** Bytes. */
  size: number;
  /** Some of it from a position on, or less at its end. */
  readAt(position: number, length: number): Promise<Uint8Array>;
}

interface LaneOptions {
  clock: Clock;
  /** Work on one file, after which nobody can tell. */
  workMs: number;
  onFault(error: unknown): void;
}

interface Job {
  id: number;
  file: MeasuredFile;
  needs: Piece;
  spentMs: number;
  /** Called once. */
  end(audio: MeasuredAudio | undefined): void;
}

const FIRST: Piece = { at: 0, length: BLOCK_BYTES };

/**
 * The files that one thread measures: organisations have their turn one after the other, each with a piece of its oldest file, so
 * that whoever has one file waits for a piece of everybody else's and not for their files.
 */
class Lane {
  readonly #options: LaneOptions;
  readonly #thread: MeasuringThread;
  /** In the order of their turns. */
  readonly #queues = new Map<string, Job[]>();
  #isWorking = false;
  #isClosed = false;
  #lastId = 0;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.#thread = new MeasuringThread(options.clock);
  }

  /** Organisations with files here. */
  get organisations(): number {
    return this.#queues.size;
  }

  /** Files of an organisation. */
  filesOf(organisationId: string): number {
    return this.#queues.get(organisationId)?.length ?? 0;
  }

  measure(file: MeasuredFile, organisationId: string): Promise<MeasuredAudio | undefined> {
    if (this.#isClosed) return Promise.resolve(undefined);
    return new Promise((end) => {
      const job: Job = { id: ++this.#lastId, file, needs: FIRST, spentMs: 0, end };
      const queue = this.#queues.get(organisationId);
      if (queue === undefined) this.#queues.set(organisationId, [job]);
      else queue.push(job);
      if (!this.#isWorking) void this.#work();
    });
  }

  /** Nobody can tell of what is still waiting. Resolves when the thread is gone. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const queues = [...this.#queues.values()];
    this.#queues.clear();
    for (const { end } of queues.flat()) end(undefined);
    await this.#thread.close();
  }

  async #work(): Promise<void> {
    this.#isWorking = true;
    for (;;) {
      const [next] = this.#queues;
      if (next === undefined) break;
      const [organisationId, queue] = next;
      const isOver = await this.#stretch(queue[0] as Job);
      if (isOver) queue.shift();
      if (this.#isClosed) break;
      // To the end of the round.
      this.#queues.delete(organisationId);
      if (queue.length > 0) this.#queues.set(organisationId, queue);
    }
    this.#isWorking = false;
  }

  /** One piece of a file. True when nothing more is to be done for it. */
  async #stretch(job: Job): Promise<boolean> {
    const { clock, workMs, onFault } = this.#options;
    const fromMs = clock.now();
    const { at, length } = job.needs;
    const read = await job.file.readAt(at, length).catch(() => undefined);
    if (read === undefined) return this.#giveUp(job);
    try {
      // The bytes may belong to a larger buffer, which stays here.
      const bytes = new Uint8Array(read);
      const answer = await this.#thread.ask({ type: 'piece', job: job.id, sizeBytes: job.file.size, at, bytes });
      if (answer.type === 'measured') {
        job.end(answer.audio);
        return true;
      }
      job.needs = answer.piece;
    } catch (error) {
      job.end(undefined);
      if (!this.#isClosed) onFault(error);
      // The others begin again, in another thread.
      for (const each of [...this.#queues.values()].flat()) each.needs = FIRST;
      return true;
    }
    job.spentMs += clock.now() - fromMs;
    return job.spentMs > workMs ? this.#giveUp(job) : false;
  }

  #giveUp(job: Job): true {
    this.#thread.drop(job.id);
    job.end(undefined);
    return true;
  }
}

/** Far more than a piece takes: a thread that says nothing for so long hangs. */
const HANG_MS = 10_000;
/** Tables of the largest files fit; a file that needs more ends the thread, and not the process. */
const MEMORY_MB = 192;

/**
 * One thread that measures files, seen from outside: it is given a piece and answers, one at a time. It is started when it is
 * first needed, and again when it failed.
 */
class MeasuringThread {
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
    const hang = new IdleTimer(this.#clock, HANG_MS, () => this.#fail(worker, new Error('It says nothing.')), {
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
