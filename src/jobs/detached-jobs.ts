// Jobs that nobody waits for: each waits for its turn among those of its key, is worked on, and can be fetched from any node until its
// time is over. They run on the node that accepted them, or that adopted them when it was lost; the store knows them, and which node's they
// are. What the work is, and whether it may be done, is the caller's.
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../machines/clock.ts';
import { ApiError } from '../api/errors.ts';
import type { PartsProgress } from '../files/long/long-files.ts';
import { type Deferred, deferred } from '../http/deferred.ts';
import { fromLedger } from '../http/store-answer.ts';
import { StoreError } from '../store/store-error.ts';
import type { Heard, JobCallback, JobState, ShownFile, ShownJob } from '../vendors/compat/jobs.ts';
import type { JsonObject } from '../vendors/kit/json.ts';
import { OWN_DIALECT } from './calls.ts';
import { JobLines, type TakePlace } from './job-lines.ts';
import {
  type JobPage,
  type JobRecords,
  type KnownJob,
  RENEW_MS,
  TRANSCRIPT_CHARACTERS_MAX,
  type WantedJobs,
} from './job-records.ts';
import {
  CANCELLED,
  isBusy,
  NO_ROOM,
  NOT_STORED,
  nodeStops,
  noPlace,
  notHere,
  REMOVED,
  TOO_LARGE,
  tooManyWait,
} from './job-refusals.ts';
import { isSame, type Owner } from './owner.ts';

/** Between two attempts to store what came of a job, while the accounts are away; its key has no other job in its place meanwhile. */
const AGAIN_MS = 2_000;
/** The first and the last wait before a job is looked up again; together they are longer than a change of the owner. */
const FIRST_WAIT_MS = 500;
const LAST_WAIT_MS = 4_000;
/** How long a node that stops waits until transcripts are stored, and then for the store to fail the other jobs. */
const STORE_MS = 5_000;
const CLOSE_MS = 2_000;

/** `over`: nothing is left to do. `waits`: for the next start of the node, or for another one. `lost`: another node may have it now. */
export type WorkEnd = 'over' | 'waits' | 'lost';

export interface Work {
  /** Drawn when absent. */
  id?: string;
  owner: Owner;
  file: ShownFile;
  asked: JsonObject;
  /** Told of its end. */
  callbacks?: readonly JobCallback[];
  /** Aborts when the job is removed or cancelled, and when this node stops. */
  end: AbortController;
  /** Its audio outlives this process: it waits for the next start of the node. */
  isDurable?: boolean;
  /** Other nodes can have its audio, so they adopt it when this one is lost. */
  isShared?: boolean;
  /** How long it is kept when it is over; 24 hours when absent. */
  keptMs?: number;
  /**
   * Rejects with an ApiError, or with what was a fault. Called again where this node had no room for it.
   *
   * @param requireOwn rejects where another node has adopted the job: what is transcribed is not charged then
   */
  run(id: string, onProgress: (progress: PartsProgress) => void, requireOwn: () => Promise<void>): Promise<Heard>;
  /** It has ended here, or never began. */
  ended(end: WorkEnd): void;
}

type Ended = Extract<JobState, { type: 'done' | 'failed' }>;

/** One that is not over, on this node. */
interface Job {
  readonly id: string;
  readonly owner: Owner;
  readonly work: Work;
  /** Settles when the store knows it. */
  readonly known: Promise<unknown>;
  createdAt: Date | undefined;
  /** Of one whose work is done: settles when the store has what came of it. */
  stored: Promise<void> | undefined;
  wasQueued: boolean;
  isRemoved: boolean;
  isCancelled: boolean;
  /** Settles when this node has done with it. */
  readonly over: Deferred<void>;
  /** Of a file in parts, while it is transcribed. */
  progress: PartsProgress | undefined;
  /** What the store knows it as. */
  isShared: boolean;
  end: WorkEnd;
  hasEnded: boolean;
}

export interface DetachedJobsOptions {
  clock: Clock;
  records: JobRecords;
  /** Incarnation of this node. */
  node: string;
  /** Between two renewals of its lease; `RENEW_MS` when absent. */
  renewMs?: number;
  /** Ends the work on a job of another node. */
  endElsewhere(node: string, owner: Owner, id: string): void;
  /** Has another node cancel a job of its own. Resolves when it has, or does not answer. */
  cancelElsewhere(node: string, owner: Owner, id: string): Promise<void>;
  /** How far another node is with a job of its own. Undefined where it is not known. Never rejects. */
  progressElsewhere(node: string, owner: Owner, id: string): Promise<PartsProgress | undefined>;
  /** The store has what came of a job with callbacks. */
  onReported(): void;
  /** A job of another node, which may be lost, is removed or cancelled: no node needs the audio that was shared for it. */
  removeShared?(id: string): void;
  /** What a client may hear of a fault. */
  onFault(error: unknown): ApiError;
  /** The store did not do what it should, in passing or not. */
  onStoreFault(error: unknown): void;
  /** Jobs were removed before their time. */
  onForgotten(count: number): void;
}

export class DetachedJobs {
  readonly #options: DetachedJobsOptions;
  readonly #jobs = new Map<string, Job>();
  readonly #lines: JobLines<Job>;
  /** Ends waits for the store. */
  readonly #closing = new AbortController();
  #renewal: unknown;

  constructor(options: DetachedJobsOptions) {
    this.#options = options;
    this.#lines = new JobLines(options.clock, (job) => this.#work(job));
  }

  /** The node stops: nothing begins here any more. */
  get isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Those of this node that are not over. */
  get size(): number {
    return this.#jobs.size;
  }

  /**
   * Begins the work, or has it wait for a place. Rejects with an ApiError: of `takePlace` where nothing of the key is in progress here
   * and it is not full, `too_many_sessions` and `overloaded` where the node has no room, or `ledger_unavailable`.
   *
   * @param takePlace among the files that the key may have in progress
   */
  async begin(work: Work, takePlace: TakePlace): Promise<ShownJob> {
    const { owner, file, asked } = work;
    const place = await this.#lines.placeOf(owner, takePlace);
    if (this.isClosed || (place === undefined && this.#lines.isFull(owner))) {
      place?.();
      throw this.isClosed ? nodeStops() : tooManyWait();
    }
    const id = work.id ?? randomUUID();
    const stage = place === undefined ? 'queued' : 'processing';
    const created = this.#create(work, id, stage).then((each) => {
      job.isShared = each.isShared;
      return each.createdAtMs;
    });
    const job = newJob(id, work, created);
    this.#jobs.set(id, job);
    if (place === undefined) this.#lines.queue(job, takePlace);
    else void this.#lines.run(job, place, takePlace);
    try {
      const createdAt = new Date(await created);
      job.createdAt = createdAt;
      this.#keepRenewing();
      return { id, file, asked, createdAt, endedAt: undefined, state: { type: stage } };
    } catch (error) {
      this.#drop(job);
      throw error;
    }
  }

  /** A job of an earlier start of this node, or of one that was lost, in its place among those of its key. */
  resume({ id, createdAt }: Pick<ShownJob, 'id' | 'createdAt'>, work: Work, takePlace: TakePlace): void {
    const before = this.#jobs.get(id);
    // It was another node's meanwhile.
    if (before !== undefined) this.#lose(before);
    const job = newJob(id, work, Promise.resolve());
    job.createdAt = createdAt;
    job.isShared = work.isShared === true;
    this.#jobs.set(id, job);
    this.#lines.queue(job, takePlace);
    this.#keepRenewing();
  }

  /** Rejects with an ApiError: `not_found`, or `ledger_unavailable`. */
  async find(owner: Owner, id: string): Promise<KnownJob> {
    const job = await fromLedger(this.#found(owner, id));
    if (job === undefined) throw notHere(owner);
    return job;
  }

  /** Clients give up at the first error, so a change of the owner of the accounts is waited for. */
  async #found(owner: Owner, id: string): Promise<KnownJob | undefined> {
    const { clock, records } = this.#options;
    for (let waitMs = FIRST_WAIT_MS; ; waitMs *= 2) {
      try {
        return await records.find(owner, id);
      } catch (error) {
        if (!(error instanceof StoreError) || LASTING.includes(error.reason)) throw error;
        const own = this.#ownShown(owner, id);
        if (own !== undefined) return own;
        if (waitMs > LAST_WAIT_MS || this.#closing.signal.aborted) throw error;
        await new Promise<void>((resolve) => void clock.setTimeout(resolve, waitMs));
      }
    }
  }

  #ownShown(owner: Owner, id: string): KnownJob | undefined {
    const job = this.#jobs.get(id);
    if (job?.createdAt === undefined || !isSame(job.owner, owner)) return undefined;
    const { file, asked } = job.work;
    const shown = { id, file, asked, createdAt: job.createdAt, endedAt: undefined, keptUntil: undefined } as const;
    return { ...shown, state: { type: 'processing' }, attempts: 1, node: this.#options.node };
  }

  /** Newest first, without the words of transcripts. Rejects with the ApiError `ledger_unavailable`. */
  of(owner: Owner): Promise<ShownJob[]> {
    return fromLedger(this.#options.records.list(owner));
  }

  /** Some of them. Rejects with an ApiError: `not_found` for a place that is not there, or `ledger_unavailable`. */
  async page(owner: Owner, wanted: WantedJobs): Promise<JobPage> {
    const page = await fromLedger(this.#options.records.page(owner, wanted));
    if (page === undefined) throw noPlace();
    return page;
  }

  /** Removes it with its transcript, and ends the work on it. Rejects with an ApiError: `not_found`, or `ledger_unavailable`. */
  async remove(owner: Owner, id: string): Promise<void> {
    const { records, node, endElsewhere } = this.#options;
    const removed = await fromLedger(records.remove(owner, id));
    if (removed === undefined) throw notHere(owner);
    if (removed.runsOn === node) this.end(owner, id);
    else if (removed.runsOn !== undefined) {
      endElsewhere(removed.runsOn, owner, id);
      this.#removeShared(owner, id);
    }
  }

  #removeShared({ dialect }: Owner, id: string): void {
    if (dialect === OWN_DIALECT) this.#options.removeShared?.(id);
  }

  /**
   * Ends the work on a job, which has failed with `job_cancelled` then. One that is over stays as it is, and so does one whose transcript
   * is charged already. Rejects with an ApiError: `not_found`, or `ledger_unavailable`.
   */
  async cancel(owner: Owner, id: string): Promise<KnownJob> {
    const { node, cancelElsewhere } = this.#options;
    const job = await this.find(owner, id);
    if (job.endedAt !== undefined) return job;
    if (job.node === node) await this.cancelHere(owner, id);
    else await cancelElsewhere(job.node, owner, id);
    const cancelled = await this.find(owner, id);
    if (cancelled.endedAt !== undefined || !(await this.#cancelLost(owner, id))) return cancelled;
    return this.find(owner, id);
  }

  /** How far a job is that is being transcribed in parts; undefined where that is not known. Never rejects. */
  async progressOf(owner: Owner, { id, node, state }: KnownJob): Promise<PartsProgress | undefined> {
    if (state.type !== 'processing') return undefined;
    return node === this.#options.node
      ? this.progressHere(owner, id)
      : this.#options.progressElsewhere(node, owner, id);
  }

  /** `progressOf` a job of this node. */
  progressHere({ keyId }: Pick<Owner, 'keyId'>, id: string): PartsProgress | undefined {
    const job = this.#jobs.get(id);
    return job?.owner.keyId === keyId ? job.progress : undefined;
  }

  /** Cancels a job whose node is lost, so that no other one adopts it. False where it is not lost. Never rejects. */
  async #cancelLost(owner: Owner, id: string): Promise<boolean> {
    const { records, onStoreFault } = this.#options;
    if (owner.dialect !== OWN_DIALECT) return false;
    try {
      if (!(await records.adoptOne(owner, id))) return false;
      await records.finish(owner, id, CANCELLED, undefined, true);
      this.#removeShared(owner, id);
      return true;
    } catch (error) {
      onStoreFault(error);
      return false;
    }
  }

  /** `cancel` for a job of this node. Resolves when the store knows, or does not answer. */
  async cancelHere({ keyId }: Pick<Owner, 'keyId'>, id: string): Promise<void> {
    const job = this.#jobs.get(id);
    if (job?.owner.keyId !== keyId || job.isRemoved) return;
    job.isCancelled = true;
    job.work.end.abort(new DOMException('The job was cancelled.', 'AbortError'));
    if (this.#lines.leave(job)) {
      job.stored = this.#finish(job, CANCELLED).finally(() => {
        this.#forget(job);
        this.#ended(job);
      });
    }
    await this.#within(STORE_MS, job.over.promise);
  }

  /** Ends the work on a job of this node that was removed. */
  end({ keyId }: Pick<Owner, 'keyId'>, id: string): void {
    const job = this.#jobs.get(id);
    if (job?.owner.keyId === keyId) this.#drop(job);
  }

  /** Ends all work, but for transcripts that are being stored; the other jobs wait for the next start, or have failed. Never rejects. */
  async close(): Promise<void> {
    const { clock, records, onStoreFault } = this.#options;
    if (this.#closing.signal.aborted) return;
    const jobs = [...this.#jobs.values()];
    this.#closing.abort();
    clock.clearTimeout(this.#renewal);
    this.#lines.close();
    for (const job of jobs) if (job.stored === undefined) this.#stop(job);
    // They are transcribed, and charged.
    await this.#within(STORE_MS, Promise.all(jobs.map(({ stored }) => stored)));
    for (const job of [...this.#jobs.values()]) this.#stop(job);
    if (jobs.length > 0) await this.#within(CLOSE_MS, records.failOwn().catch(onStoreFault));
  }

  async #within(ms: number, work: Promise<unknown>): Promise<void> {
    const { clock } = this.#options;
    let timer: unknown;
    const late = new Promise<void>((resolve) => {
      timer = clock.setTimeout(resolve, ms);
    });
    await Promise.race([work, late]);
    clock.clearTimeout(timer);
  }

  async #create(
    { owner, file, asked, callbacks = [], isShared: mayBeShared = false }: Work,
    id: string,
    stage: 'queued' | 'processing',
  ): Promise<{ createdAtMs: number; isShared: boolean }> {
    const { records, onForgotten } = this.#options;
    const { made, isShared } = await fromLedger(
      records.create(owner, id, stage, { file, asked, callbacks }, mayBeShared),
    );
    if (made.state === 'full') throw NO_ROOM[made.of];
    if (made.removed > 0) onForgotten(made.removed);
    return { createdAtMs: made.createdAtMs, isShared };
  }

  /** False where this node had no room for it, so that it waits again. Never rejects. */
  async #work(job: Job): Promise<boolean> {
    try {
      await job.known;
      // Whether it was removed while it waited, or adopted.
      if (job.wasQueued && !job.isRemoved && !(await this.#started(job))) this.#lose(job);
      if (job.isRemoved) return this.#left(job);
      const outcome = await this.#outcome(job);
      if (outcome === 'busy') return job.isRemoved ? this.#left(job) : false;
      job.stored = this.#finish(job, outcome);
      await job.stored;
    } catch {
      // The store does not know it: whoever requested it was told.
    }
    return this.#left(job);
  }

  #left(job: Job): true {
    this.#forget(job);
    this.#ended(job);
    return true;
  }

  #forget(job: Job): void {
    if (this.#jobs.get(job.id) === job) this.#jobs.delete(job.id);
  }

  async #started({ owner, id, isShared }: Job): Promise<boolean> {
    const { records, onStoreFault } = this.#options;
    try {
      return await records.start(owner, id, isShared);
    } catch (error) {
      // It is shown as queued while it runs.
      onStoreFault(error);
      return true;
    }
  }

  async #outcome(job: Job): Promise<Ended | 'busy'> {
    const { id, work } = job;
    if (job.isCancelled) return CANCELLED;
    try {
      const heard = await work.run(
        id,
        (progress) => {
          job.progress = progress;
        },
        () => this.#requireOwn(job),
      );
      const characters = JSON.stringify(heard.transcription).length;
      return characters > TRANSCRIPT_CHARACTERS_MAX ? TOO_LARGE : { type: 'done', heard };
    } catch (error) {
      job.progress = undefined;
      if (work.end.signal.aborted) return job.isCancelled ? CANCELLED : REMOVED;
      if (isBusy(error)) return 'busy';
      return { type: 'failed', refusal: error instanceof ApiError ? error : this.#options.onFault(error) };
    }
  }

  /**
   * Resolves where the job is still this node's. It may not be after a pause of the process or of its network; whether it was paused just
   * now is known by asking alone. Rejects where it is another's, before anything is charged.
   */
  async #requireOwn(job: Job): Promise<void> {
    const { records, onStoreFault } = this.#options;
    if (!job.isShared) return;
    while (job.end !== 'lost' && !this.#closing.signal.aborted) {
      // Whoever removed it knows what that costs.
      if (job.isRemoved) return;
      try {
        if ((await records.notOwn([job.id])).length === 0) return;
        this.#lose(job);
      } catch (error) {
        onStoreFault(error);
        await this.#pause(job);
      }
    }
    throw new DOMException('The job no longer belongs to this node.', 'AbortError');
  }

  /** Stores what came of it, as soon as the store takes it. Never rejects. */
  async #finish(job: Job, outcome: Ended): Promise<void> {
    const { records, onForgotten, onReported, onStoreFault } = this.#options;
    for (let state = outcome; !job.isRemoved; ) {
      try {
        const forgotten = await records.finish(job.owner, job.id, state, job.work.keptMs, job.isShared);
        if (forgotten > 0) onForgotten(forgotten);
        if ((job.work.callbacks?.length ?? 0) > 0) onReported();
        // It was removed, or is another node's, which needs the audio.
        if (forgotten < 0) job.end = 'lost';
        return;
      } catch (error) {
        onStoreFault(error);
        const isPassing = error instanceof StoreError && !LASTING.includes(error.reason);
        if (!isPassing && state.type === 'failed') return;
        if (!isPassing) state = NOT_STORED;
        else await this.#pause(job);
      }
    }
  }

  /** Ends early when the node stops. */
  async #pause(job: Job): Promise<void> {
    const { clock } = this.#options;
    const { signal } = job.work.end;
    await new Promise<void>((resolve) => {
      const timer = clock.setTimeout(resolve, AGAIN_MS);
      signal.addEventListener('abort', () => {
        clock.clearTimeout(timer);
        resolve();
      });
    });
  }

  /** The node stops. */
  #stop(job: Job): void {
    job.end = job.work.isDurable === true ? 'waits' : 'over';
    this.#drop(job);
  }

  /** Another node has it, or it is gone. */
  #lose(job: Job): void {
    job.end = 'lost';
    this.#drop(job);
  }

  /** It is no job of this node any more. */
  #drop(job: Job): void {
    job.isRemoved = true;
    this.#forget(job);
    job.work.end.abort(new DOMException('The job was removed.', 'AbortError'));
    if (this.#lines.leave(job)) this.#ended(job);
  }

  #ended(job: Job): void {
    if (job.hasEnded) return;
    job.hasEnded = true;
    job.over.resolve();
    job.work.ended(job.end);
  }

  /** Says that this node is there, for as long as it has jobs. */
  #keepRenewing(): void {
    const { clock, records, onStoreFault, renewMs = RENEW_MS } = this.#options;
    if (this.#renewal !== undefined || this.#closing.signal.aborted) return;
    this.#renewal = clock.setTimeout(async () => {
      if (this.#jobs.size > 0) {
        await records.renew().catch(onStoreFault);
        await this.#loseOthers().catch(onStoreFault);
      }
      this.#renewal = undefined;
      if (this.#jobs.size > 0) this.#keepRenewing();
    }, renewMs);
  }

  /** Ends the work on jobs that another node has adopted while this one could not renew its lease. */
  async #loseOthers(): Promise<void> {
    // Those whose end is being stored are over in a moment.
    const shared = [...this.#jobs.values()].filter((job) => job.isShared && job.stored === undefined);
    if (shared.length === 0) return;
    const lost = new Set(await this.#options.records.notOwn(shared.map(({ id }) => id)));
    for (const job of shared)
      if (lost.has(job.id) && this.#jobs.has(job.id) && job.stored === undefined) this.#lose(job);
  }
}

const newJob = (id: string, work: Work, known: Promise<unknown>): Job => ({
  ...{ id, work, known, owner: work.owner, createdAt: undefined, stored: undefined, over: deferred<void>() },
  ...{ progress: undefined, wasQueued: false, isRemoved: false, isCancelled: false, isShared: false },
  ...{ end: 'over' as const, hasEnded: false },
});

/** Another attempt would be rejected as well. */
const LASTING: readonly StoreError['reason'][] = ['invalid', 'not_found', 'conflict'];
