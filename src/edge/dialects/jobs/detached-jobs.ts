// Jobs that nobody waits for: each waits for its turn among those of its key, is worked on, and is asked for until its time is over.
// What the work is, and whether it may be done, is the caller's.
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../../machines/clock.ts';
import { Refusal, refuse } from '../../../api/errors.ts';
import type { JobState, ShownFile, ShownJob } from '../../../dialects/jobs.ts';
import type { Members } from '../../../providers/kit/json.ts';
import { isSame, notHere, type Owner } from './owner.ts';

/** Of one key, while others are worked on. */
export const JOBS_QUEUED_MAX = 100;
/** Of one key and of the node: those that are not over yet, and those that are, of which the oldest is forgotten first. */
export const KEY_JOBS_MAX = 1_000;
export const NODE_JOBS_MAX = 10_000;
/** The same for what they say, in characters of JSON. */
export const KEY_CHARACTERS_MAX = 32 * 1024 * 1024;
export const NODE_CHARACTERS_MAX = 256 * 1024 * 1024;
/** From the end of the work. */
export const JOB_KEPT_MS = 24 * 3_600_000;

type Heard = Extract<JobState, { type: 'done' }>['heard'];

export interface Work {
  owner: Owner;
  file: ShownFile;
  asked: Members;
  /** Aborts when the job is removed. */
  end: AbortController;
  /** Rejects with a Refusal, or with what was a fault. */
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

/** What is under way for a key. */
interface Line {
  running: number;
  queue: Job[];
}

export interface DetachedJobsOptions {
  clock: Clock;
  wallNow(): Date;
  /** What a client may hear of a fault. */
  onFault(error: unknown): Refusal;
  /** A job was forgotten before its time. */
  onForgotten(): void;
}

export class DetachedJobs {
  readonly #options: DetachedJobsOptions;
  /** Those that are over come in the order of their ends. */
  readonly #jobs = new Map<string, Job>();
  /** The same by their keys. */
  readonly #keys = new Map<string, Set<Job>>();
  readonly #lines = new Map<string, Line>();
  #characters = 0;
  #isClosed = false;

  constructor(options: DetachedJobsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#jobs.size;
  }

  /**
   * Begins the work, or has it wait for another of the same key to end. Rejects with a Refusal: of `takePlace` where nothing of
   * the key is under way here, or `too_many_sessions` and `overloaded` where there is no room.
   *
   * @param takePlace among the files that the key may have under way
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
    this.#add(job);
    this.#characters += job.characters;
    const line = this.#lineOf(owner);
    if (place === undefined) line.queue.push(job);
    else {
      line.running++;
      void this.#run(job, place);
    }
    return { ...job };
  }

  /** Throws a Refusal `not_found`. */
  find(owner: Owner, id: string): ShownJob {
    const job = this.#jobs.get(id);
    if (job === undefined || !isSame(job.owner, owner)) throw notHere('job', JOB_KEPT_MS / 1_000);
    return job;
  }

  /** Newest first. */
  of(owner: Owner): ShownJob[] {
    const own = [...(this.#keys.get(owner.keyId) ?? [])].filter((job) => isSame(job.owner, owner));
    return own.sort((one, other) => other.createdAt.getTime() - one.createdAt.getTime());
  }

  /** Forgets it, and ends the work on it. Throws a Refusal `not_found`. */
  remove(owner: Owner, id: string): void {
    this.find(owner, id);
    this.#forget(this.#jobs.get(id) as Job);
  }

  close(): void {
    this.#isClosed = true;
    for (const job of [...this.#jobs.values()]) this.#forget(job);
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
    if (this.#isClosed) throw refuse('overloaded', CLOSED, { retryAfterSeconds: 1 });
    if (isQueued && this.#lineOf(owner).queue.length >= JOBS_QUEUED_MAX)
      throw refuse('too_many_sessions', TOO_MANY, { retryAfterSeconds: 30 });
    this.#makeRoom(owner, 1);
    if (this.#jobs.size >= NODE_JOBS_MAX) throw refuse('overloaded', BUSY, { retryAfterSeconds: 30 });
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
      const characters = JSON.stringify(heard.transcription).length + heard.srt.length + heard.vtt.length;
      this.#over(job, characters > KEY_CHARACTERS_MAX ? TOO_LARGE : { type: 'done', heard }, characters);
    } catch (error) {
      // Of a job that was removed nobody is told.
      if (!this.#jobs.has(job.id)) return;
      const refusal = error instanceof Refusal ? error : this.#options.onFault(error);
      this.#over(job, { type: 'failed', refusal }, 0);
    } finally {
      work.ended();
      job.work = undefined;
    }
  }

  #over(job: Job, state: JobState, characters: number): void {
    // It was removed meanwhile.
    if (!this.#take(job)) return;
    const { clock, wallNow } = this.#options;
    job.state = state;
    job.endedAt = wallNow();
    const kept = state.type === 'done' ? characters : 0;
    job.characters += kept;
    this.#characters += kept;
    job.timer = clock.setTimeout(() => this.#forget(job), JOB_KEPT_MS);
    this.#add(job);
    this.#makeRoom(job.owner, 0);
  }

  /** For so many more. The oldest of those that are over go first, of the key and then of all. */
  #makeRoom({ keyId }: Owner, more: number): void {
    const own = [...(this.#keys.get(keyId) ?? [])];
    let characters = own.reduce((sum, job) => sum + job.characters, 0);
    let count = own.length + more;
    for (const job of own) {
      if (count <= KEY_JOBS_MAX && characters <= KEY_CHARACTERS_MAX) break;
      if (job.endedAt === undefined) continue;
      count--;
      characters -= job.characters;
      this.#forgetEarly(job);
    }
    for (const job of this.#jobs.values()) {
      if (this.#jobs.size + more <= NODE_JOBS_MAX && this.#characters <= NODE_CHARACTERS_MAX) return;
      if (job.endedAt !== undefined) this.#forgetEarly(job);
    }
  }

  #add(job: Job): void {
    const { keyId } = job.owner;
    this.#jobs.set(job.id, job);
    this.#keys.set(keyId, (this.#keys.get(keyId) ?? new Set()).add(job));
  }

  /** False: it is not here any more. */
  #take(job: Job): boolean {
    const { keyId } = job.owner;
    const own = this.#keys.get(keyId);
    own?.delete(job);
    if (own?.size === 0) this.#keys.delete(keyId);
    return this.#jobs.delete(job.id);
  }

  #forgetEarly(job: Job): void {
    this.#options.onForgotten();
    this.#forget(job);
  }

  #forget(job: Job): void {
    if (!this.#take(job)) return;
    this.#characters -= job.characters;
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
const BUSY = 'This node has too many jobs that are not over. Send the job again later.';
const CLOSED = 'This node is being shut down. Send the job to another.';
const TOO_LARGE: JobState = {
  type: 'failed',
  refusal: refuse(
    'file_too_large',
    `The transcript has more than ${KEY_CHARACTERS_MAX} characters of JSON. Split the file.`,
  ),
};
