// The files that one thread measures: organisations have their turn one after the other, each with a piece of its oldest file,
// so that whoever has one file waits for a piece of everybody else's and not for their files.
import type { Clock } from '../../../machines/clock.ts';
import type { MeasuredAudio, Piece } from '../../audio/scan.ts';
import { BLOCK_BYTES } from './protocol.ts';
import { MeasuringThread } from './thread.ts';

export interface MeasuredFile {
  /** Bytes. */
  size: number;
  /** Some of it from a position on, or less at its end. */
  readAt(position: number, length: number): Promise<Uint8Array>;
}

export interface LaneOptions {
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

export class Lane {
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
      // The others begin anew, in another thread.
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
