// Whose turn it is among the jobs of a key: as many are worked on as the key may have files in progress here, the others wait in line.
import type { Clock } from '../../machines/clock.ts';
import { ApiError } from '../api/errors.ts';
import type { Owner } from './owner.ts';

/** Of one key, on one node, while others are worked on. */
export const JOBS_QUEUED_MAX = 100;
/** Between two attempts to begin a job that waits. */
const AGAIN_MS = 2_000;

/** Takes one of the slots of a key; its answer gives it back. Throws or rejects with an ApiError where none is left. */
export type TakePlace = () => (() => void) | Promise<() => void>;

interface LinedJob {
  readonly owner: Owner;
  /** Set here. */
  wasQueued: boolean;
}

interface Line<Job> {
  running: number;
  queue: Job[];
  takePlace: TakePlace;
  /** Until the next attempt to have a slot for those that wait. */
  timer: unknown;
  /** This node had no room for one of them, so the slots of the key are not what they wait for. */
  isBusy: boolean;
}

export class JobLines<Job extends LinedJob> {
  readonly #clock: Clock;
  readonly #work: (job: Job) => Promise<boolean>;
  readonly #lines = new Map<string, Line<Job>>();
  #isClosed = false;

  /** @param work never rejects; false where this node had no room for the job, so that it waits again */
  constructor(clock: Clock, work: (job: Job) => Promise<boolean>) {
    this.#clock = clock;
    this.#work = work;
  }

  /**
   * A slot for one more job of the key; undefined where it has to wait for one. Rejects with the ApiError of `takePlace` where nothing of
   * the key is in progress here that could give its slot on.
   */
  async placeOf({ keyId }: Owner, takePlace: TakePlace): Promise<(() => void) | undefined> {
    // Those that wait come first.
    if ((this.#lines.get(keyId)?.queue.length ?? 0) > 0) return undefined;
    try {
      return await takePlace();
    } catch (refusal) {
      const isFull = refusal instanceof ApiError && refusal.code === 'too_many_sessions';
      if (!this.#lines.has(keyId) && !isFull) throw refusal;
      return undefined;
    }
  }

  /** As many jobs of the key wait as may. */
  isFull({ keyId }: Owner): boolean {
    return (this.#lines.get(keyId)?.queue.length ?? 0) >= JOBS_QUEUED_MAX;
  }

  /** The next that ends gives it its slot, or it has one that is free by then. */
  queue(job: Job, takePlace: TakePlace): void {
    this.#queue(job, this.#lineOf(job.owner, takePlace));
  }

  /** Works on a job, and then on the next of its key in the same slot. Never rejects. */
  run(job: Job, leavePlace: () => void, takePlace: TakePlace): Promise<void> {
    return this.#run(job, leavePlace, this.#lineOf(job.owner, takePlace));
  }

  /** False where it did not wait. */
  leave(job: Job): boolean {
    const queue = this.#lines.get(job.owner.keyId)?.queue ?? [];
    const at = queue.indexOf(job);
    if (at < 0) return false;
    queue.splice(at, 1);
    return true;
  }

  /** None that waits begins any more. */
  close(): void {
    this.#isClosed = true;
    for (const { timer } of this.#lines.values()) this.#clock.clearTimeout(timer);
  }

  #lineOf({ keyId }: Owner, takePlace: TakePlace): Line<Job> {
    const line = this.#lines.get(keyId) ?? { running: 0, queue: [], takePlace, timer: undefined, isBusy: false };
    line.takePlace = takePlace;
    this.#lines.set(keyId, line);
    return line;
  }

  #dropEmpty({ keyId }: Owner, line: Line<Job>): void {
    if (line.running === 0 && line.queue.length === 0 && this.#lines.get(keyId) === line) this.#lines.delete(keyId);
  }

  #queue(job: Job, line: Line<Job>): void {
    job.wasQueued = true;
    line.queue.push(job);
    this.#askLater(job.owner, line);
  }

  #askLater(owner: Owner, line: Line<Job>): void {
    if (line.timer !== undefined || line.queue.length === 0 || this.#isClosed) return;
    line.timer = this.#clock.setTimeout(async () => {
      await this.#ask(line);
      line.timer = undefined;
      this.#askLater(owner, line);
      this.#dropEmpty(owner, line);
    }, AGAIN_MS);
  }

  /** Begins those that wait, as far as there are slots. Where this node is full, one more is tried. */
  async #ask(line: Line<Job>): Promise<void> {
    do {
      const place = await Promise.resolve()
        .then(line.takePlace)
        .catch(() => undefined);
      const next = this.#isClosed ? undefined : place && line.queue.shift();
      if (next === undefined) return place?.();
      void this.#run(next, place as () => void, line);
    } while (line.queue.length > 0 && !line.isBusy);
  }

  async #run(first: Job, leavePlace: () => void, line: Line<Job>): Promise<void> {
    line.running++;
    let job: Job | undefined = first;
    while (job !== undefined) {
      if (!(await this.#work(job))) {
        line.isBusy = true;
        this.#queue(job, line);
        break;
      }
      job = line.queue.shift();
    }
    leavePlace();
    line.running--;
    this.#dropEmpty(first.owner, line);
  }
}
