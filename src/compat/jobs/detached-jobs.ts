// Jobs that nobody waits for: each waits for its turn among those of its key, is worked on, and can be fetched until its time is over.
// What the work is, and whether it may be done, is the caller's.
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../machines/clock.ts';
import { ApiError, apiError } from '../../api/errors.ts';
import { type JobState, newestFirst, type ShownFile, type ShownJob } from '../../vendors/compat/jobs.ts';
import type { JsonObject } from '../../vendors/kit/json.ts';
import { KEY_CHARACTERS_MAX, KeptJobs, ORGANISATION_JOBS_MAX } from './kept-jobs.ts';
import { isSame, notHere, type Owner } from './owner.ts';

/** Of one key, while others are worked on. */
export const JOBS_QUEUED_MAX = 100;
/** From the end of the work. */
export const JOB_KEPT_MS = 24 * 3_600_000;

type Heard = Extract<JobState, { type: 'done' }>['heard'];

export interface Work {
  owner: Owner;
  file: ShownFile;
  asked: JsonObject;
  /** Aborts when the job is removed. */
  end: AbortController;
  /** Rejects with an ApiError, or with what was a fault. */
  run(): Promise<Heard>;
  /** It has ended, or never began. */
  ended(): void;
}

interface Job extends ShownJob {
  owner: Owner;
  state: JobState;
  endedAt: Date | undefined;
  characters: number;
  timer: unknown;
  work: Work | undefined;
}

/** What is in progress for a key. */
interface Line {
  running: number;
  queue: Job[];
}

export interface DetachedJobsOptions {
  clock: Clock;
  wallNow(): Date;
  /** What a client may hear of a fault. */
  onFault(error: unknown): ApiError;
  /** A job was forgotten before its time. */
  onForgotten(): void;
}

export class DetachedJobs {
  readonly #options: DetachedJobsOptions;
  readonly #jobs = new KeptJobs<Job>();
  readonly #lines = new Map<string, Line>();
  #isClosed = false;

  constructor(options: DetachedJobsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#jobs.size;
  }

  /**
   * Begins the work, or has it wait for another of the same key to end. Rejects with an ApiError: of `takePlace` where nothing of
   * the key is in progress here, or `too_many_sessions` and `overloaded` where there is no room.
   *
   * @param takePlace among the files that the key may have in progress
   */
  async begin(work: Work, takePlace: () => (() => void) | Promise<() => void>): Promise<ShownJob> {
    const { owner, file, asked } = work;
    const place = await this.#placeOf(owner, takePlace);
    try {
      this.#requireRoom(owner, place === undefined);
    } catch (refusal) {
      place?.();
      throw refusal;
    }
    const job: Job = {
      ...{ id: randomUUID(), owner, file, asked, work, createdAt: this.#options.wallNow(), endedAt: undefined },
      ...{ state: { type: 'queued' }, characters: JSON.stringify(asked).length, timer: undefined },
    };
    this.#jobs.add(job);
    const line = this.#lineOf(owner);
    if (place === undefined) line.queue.push(job);
    else {
      line.running++;
      void this.#run(job, place);
    }
    return { ...job };
  }

  /** Throws an ApiError `not_found`. */
  find(owner: Owner, id: string): ShownJob {
    const job = this.#jobs.get(id);
    if (job === undefined || !isSame(job.owner, owner)) throw notHere('job', JOB_KEPT_MS / 1_000);
    return job;
  }

  /** Newest first. */
  of(owner: Owner): ShownJob[] {
    return this.#jobs
      .ofKey(owner.keyId)
      .filter((job) => isSame(job.owner, owner))
      .sort(newestFirst);
  }

  /** Forgets it, and ends the work on it. Throws an ApiError `not_found`. */
  remove(owner: Owner, id: string): void {
    this.find(owner, id);
    this.#forget(this.#jobs.get(id) as Job);
  }

  close(): void {
    this.#isClosed = true;
    for (const job of this.#jobs.all()) this.#forget(job);
  }

  #lineOf({ keyId }: Owner): Line {
    const line = this.#lines.get(keyId) ?? { running: 0, queue: [] };
    this.#lines.set(keyId, line);
    return line;
  }

  /** Undefined: there is none, and the job waits for that of another. */
  async #placeOf(owner: Owner, takePlace: () => (() => void) | Promise<() => void>) {
    try {
      return await takePlace();
    } catch (refusal) {
      if (!this.#lines.has(owner.keyId)) throw refusal;
      return undefined;
    }
  }

  #requireRoom(owner: Owner, isQueued: boolean): void {
    if (this.#isClosed) throw apiError('overloaded', CLOSED, { retryAfterSeconds: 1 });
    if (isQueued && this.#lineOf(owner).queue.length >= JOBS_QUEUED_MAX)
      throw apiError('too_many_sessions', TOO_MANY, { retryAfterSeconds: 30 });
    this.#makeRoom(owner, 1);
    const full = this.#jobs.fullFor(owner);
    if (full === 'organisation') throw apiError('too_many_sessions', UNFINISHED, { retryAfterSeconds: 30 });
    if (full === 'node') throw apiError('overloaded', BUSY, { retryAfterSeconds: 30 });
  }

  /** Works on a job, and then on the next of its key in the same place. */
  async #run(first: Job, leavePlace: () => void): Promise<void> {
    const line = this.#lineOf(first.owner);
    let job: Job | undefined = first;
    while (job !== undefined) {
      await this.#work(job);
      job = line.queue.shift();
    }
    leavePlace();
    line.running--;
    if (line.running === 0) this.#lines.delete(first.owner.keyId);
  }

  async #work(job: Job): Promise<void> {
    const { work } = job;
    if (work === undefined) return;
    job.state = { type: 'processing' };
    try {
      const heard = await work.run();
      const characters = JSON.stringify(heard.transcription).length;
      this.#over(job, characters > KEY_CHARACTERS_MAX ? TOO_LARGE : { type: 'done', heard }, characters);
    } catch (error) {
      // Of a job that was removed nobody is told.
      if (this.#jobs.get(job.id) === undefined) return;
      const refusal = error instanceof ApiError ? error : this.#options.onFault(error);
      this.#over(job, { type: 'failed', refusal }, 0);
    } finally {
      work.ended();
      job.work = undefined;
    }
  }

  #over(job: Job, state: JobState, characters: number): void {
    // It was removed meanwhile.
    if (!this.#jobs.take(job)) return;
    const { clock, wallNow } = this.#options;
    job.state = state;
    job.endedAt = wallNow();
    if (state.type === 'done') job.characters += characters;
    job.timer = clock.setTimeout(() => this.#forget(job), JOB_KEPT_MS);
    this.#jobs.add(job);
    this.#makeRoom(job.owner, 0);
  }

  /** For so many more. */
  #makeRoom(owner: Owner, more: number): void {
    for (let job = this.#jobs.excess(owner, more); job !== undefined; job = this.#jobs.excess(owner, more)) {
      this.#options.onForgotten();
      this.#forget(job);
    }
  }

  #forget(job: Job): void {
    if (!this.#jobs.take(job)) return;
    this.#options.clock.clearTimeout(job.timer);
    const { work } = job;
    if (work === undefined) return;
    work.end.abort(new DOMException('The job was removed.', 'AbortError'));
    const line = this.#lines.get(job.owner.keyId);
    const at = line?.queue.indexOf(job) ?? -1;
    if (at < 0) return;
    line?.queue.splice(at, 1);
    job.work = undefined;
    work.ended();
  }
}

const TOO_MANY = `This key has ${JOBS_QUEUED_MAX} jobs waiting here already. Wait until some of them are over.`;
const UNFINISHED = `This organisation has ${ORGANISATION_JOBS_MAX} jobs here that are not over. Wait until some of them are.`;
const BUSY = 'This node has too many jobs. Send the job again later.';
const CLOSED = 'This node is being shut down. Send the job to another.';
const TOO_LARGE: JobState = {
  type: 'failed',
  refusal: apiError(
    'file_too_large',
    `The transcript has more than ${KEY_CHARACTERS_MAX} characters of JSON. Split the file.`,
  ),
};
