// Jobs as the store keeps them: sealed with a key of the gateway, so that the database and its log contain no transcript, and
// compressed. What is shown in lists is apart from the transcript, which is fetched only with its job.
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { ERROR_CATALOGUE, type ErrorCode } from '../api/error-catalogue.ts';
import { ApiError, type ApiErrorExtras, apiError } from '../api/errors.ts';
import type { VerboseTranscription } from '../api/transcriptions.ts';
import type { Shortage } from '../runtime/limits/quota.ts';
import { isRecord } from '../runtime/plain-data.ts';
import { keyFor, openBytes, sealBytes } from '../runtime/sealing.ts';
import { findContent, PIECE_BYTES_MAX, type PieceStore, putPieces } from '../store/pieces.ts';
import { StoreError } from '../store/store-error.ts';
import type { EndedJob, Heard, JobCallback, JobState, ShownJob } from '../vendors/compat/jobs.ts';
import {
  type AdoptedJob,
  ANY_NODE,
  type CreatedJob,
  type FoundJob,
  type JobEnd,
  type JobStage,
  type JobStore,
  jobContent,
  type ListedJob,
  sharedJobContent,
} from './calls.ts';
import type { Owner } from './owner.ts';

const zip = promisify(gzip);
const unzip = promisify(gunzip);

const PURPOSE = 'voxgate jobs v1';
/** Of the JSON of one transcript. */
export const TRANSCRIPT_CHARACTERS_MAX = 32 * 1024 * 1024;
/** A character has up to three bytes as UTF-8. */
const UNZIPPED_BYTES_MAX = 3 * TRANSCRIPT_CHARACTERS_MAX;
/** A node that runs jobs renews its lease three times within it. Once it is over, its jobs have failed, or another node adopts them. */
export const JOB_LEASE_MS = 60_000;
export const RENEW_MS = JOB_LEASE_MS / 3;
const LIST_PAGE = 200;
/** Of a page, where few of them are left to find. */
const OPENED_AT_ONCE = 20;
/** Jobs that are asked for at once, whether they are still this node's. */
const ASKED_AT_ONCE = 200;

type Store = JobStore & PieceStore;

export interface JobRecordsOptions {
  store: Store;
  secret: Uint8Array;
  previousSecret?: Uint8Array | undefined;
  /** Incarnation of this node. */
  node: string;
  nodeName: string;
  /** `JOB_LEASE_MS` when absent. */
  leaseMs?: number;
}

/** What of a transcript is shown in lists. */
type Summary = { transcription: VerboseTranscription } | { code: ErrorCode; message: string; extras: ApiErrorExtras };

type Ended = Extract<JobState, { type: 'done' | 'failed' }>;

/** A job with what is known of it beside what vendors' clients are shown. */
export interface KnownJob extends ShownJob {
  /** How often it was begun. */
  readonly attempts: number;
  readonly keptUntil: Date | undefined;
  /** Incarnation of the node that it runs on, or ran on. */
  readonly node: string;
}

/** A job of an earlier start of this node, or of one that was lost, which it runs now. */
export interface ResumedJob extends Pick<ShownJob, 'id' | 'file' | 'asked' | 'createdAt'> {
  readonly owner: Owner;
  readonly attempts: number;
  /** Other nodes can have its audio. */
  readonly isShared: boolean;
}

/** Which jobs a page has. */
export interface WantedJobs {
  limit: number;
  /** Id of a job: those that are older than it. */
  before: string | undefined;
  /** Created then or later, and before. */
  fromMs: number;
  toMs: number;
  /** Any when absent. */
  stages: readonly JobStage[] | undefined;
  /** What is known of a job only once it was opened; asked of as few as possible. */
  isWanted: ((job: ShownJob) => boolean) | undefined;
}

export interface JobPage {
  /** Newest first, without the words of transcripts. */
  jobs: (ShownJob & Pick<KnownJob, 'attempts' | 'keptUntil'>)[];
  /** Others follow. */
  hasMore: boolean;
}

export interface MadeJob {
  made: CreatedJob;
  /** As requested, unless the accounts do not know of such jobs yet. */
  isShared: boolean;
}

export class JobRecords {
  readonly #options: JobRecordsOptions;
  readonly #leaseMs: number;
  readonly #keys: readonly Uint8Array[];

  constructor(options: JobRecordsOptions) {
    this.#options = options;
    this.#leaseMs = options.leaseMs ?? JOB_LEASE_MS;
    const { secret, previousSecret } = options;
    this.#keys = [secret, ...(previousSecret === undefined ? [] : [previousSecret])].map((each) =>
      keyFor(PURPOSE, each),
    );
  }

  /** @param isShared other nodes can have its audio */
  async create(
    owner: Owner,
    id: string,
    stage: 'queued' | 'processing',
    about: About,
    isShared = false,
  ): Promise<MadeJob> {
    const { store, node, nodeName } = this.#options;
    const { organisationId, keyId, dialect } = owner;
    const shortage = await this.#shortage(organisationId);
    if (shortage !== undefined)
      return { made: { state: 'full', of: shortage === 'share' ? 'share' : 'store' }, isShared: false };
    const request = await this.#seal(owner, id, 'request', requestOf(about));
    const job = { organisationId, keyId, dialect, id, stage, node, nodeName, request };
    const callbacks = about.callbacks?.length ?? 0;
    if (isShared) {
      try {
        const made = await (callbacks === 0
          ? store.createSharedJob(job, this.#leaseMs)
          : store.createSharedReportedJob({ ...job, callbacks }, this.#leaseMs));
        return { made, isShared };
      } catch (error) {
        if (!isUnknown(error)) throw error;
      }
    }
    const made =
      callbacks === 0
        ? await store.createJob(job, this.#leaseMs)
        : await store.createReportedJob({ ...job, callbacks }, this.#leaseMs).catch((error) => {
            throw isUnknown(error) ? noCallbacks() : error;
          });
    return { made, isShared: false };
  }

  async #shortage(organisationId: string): Promise<Shortage | undefined> {
    try {
      return await this.#options.store.findJobShortage(organisationId);
    } catch (error) {
      // The node that keeps the accounts is of a version that does not know this.
      if (error instanceof StoreError && error.reason === 'invalid') return undefined;
      throw error;
    }
  }

  /** False when it was removed, or is another node's. */
  start({ organisationId }: Owner, id: string, isShared = false): Promise<boolean> {
    const { store, node } = this.#options;
    return isShared ? store.startSharedJob({ organisationId, id }, node) : store.startJob({ organisationId, id });
  }

  /**
   * Returns how many others made room, or -1 when it was removed, or is another node's.
   *
   * @param keptMs from now on; 24 hours when absent
   */
  async finish(owner: Owner, id: string, state: Ended, keptMs?: number, isShared = false): Promise<number> {
    const { store, node } = this.#options;
    const { organisationId } = owner;
    const name = { organisationId, id };
    const finish = (end: JobEnd) => (isShared ? store.finishSharedJob(name, node, end) : store.finishJob(name, end));
    const summary = await this.#seal(owner, id, 'summary', summaryOf(state));
    const kept = keptMs === undefined ? {} : { keptMs };
    const end = { stage: state.type, summary, transcript: null, pieces: 0, ...kept } as const;
    if (state.type === 'failed') return finish(end);
    const transcript = await this.#seal(owner, id, 'transcript', state.heard.transcription);
    if (transcript.length <= PIECE_BYTES_MAX) return finish({ ...end, transcript });
    const content = isShared ? sharedJobContent(id, node) : jobContent(id);
    const pieces = await putPieces(store, organisationId, content, transcript);
    return finish({ ...end, pieces });
  }

  /** With the transcript. Undefined when it is not there. */
  async find(owner: Owner, id: string): Promise<KnownJob | undefined> {
    const found = await this.#options.store.findJob(nameless(owner), id);
    if (found === undefined) return undefined;
    const { attempts, keptUntilMs, node, callbackStatus = null } = found;
    const keptUntil = dateOf(keptUntilMs);
    const job = { ...(await this.#shown(owner, found)), attempts, keptUntil, node, callbackStatus };
    if (job.state.type !== 'done') return job;
    const transcription = await this.#transcription(owner, found);
    if (transcription === undefined)
      return { ...job, state: { type: 'failed', refusal: apiError('internal_error', UNREADABLE) } };
    return { ...job, state: { type: 'done', heard: { transcription } } };
  }

  /** A job that is over, with one of the addresses that are told of it. Undefined where there is nothing to tell any more. */
  async findReported(
    owner: Owner,
    id: string,
    position: number,
  ): Promise<{ job: EndedJob & KnownJob; callback: JobCallback } | undefined> {
    const found = await this.#options.store.findJob(nameless(owner), id);
    const request = found && (await this.#open(owner, id, 'request', found.request));
    const callback = (request as Partial<About> | undefined)?.callbacks?.[position];
    const job = callback && (await this.find(owner, id));
    if (callback === undefined || job === undefined || !isEnded(job)) return undefined;
    return { job, callback };
  }

  /** Newest first, without the words of transcripts. */
  async list(owner: Owner): Promise<(ShownJob & Pick<KnownJob, 'attempts' | 'keptUntil'>)[]> {
    const { store } = this.#options;
    const jobs: ListedJob[] = [];
    for (let page: ListedJob[] | undefined; page === undefined || page.length === LIST_PAGE; jobs.push(...page))
      page = await store.listJobs(nameless(owner), jobs.at(-1), LIST_PAGE);
    return Promise.all(jobs.map((job) => this.#listed(owner, job)));
  }

  async #listed(owner: Owner, job: ListedJob): Promise<JobPage['jobs'][number]> {
    const { attempts = 1, keptUntilMs = null } = job;
    return { ...(await this.#shown(owner, job)), attempts, keptUntil: dateOf(keptUntilMs) };
  }

  /** Opens no more jobs than it takes to fill the page. Undefined where the place that it begins after is not there. */
  async page(
    owner: Owner,
    { limit, before, fromMs, toMs, stages, isWanted }: WantedJobs,
  ): Promise<JobPage | undefined> {
    const { store } = this.#options;
    const last = before === undefined ? undefined : await store.findJob(nameless(owner), before);
    if (before !== undefined && last === undefined) return undefined;
    let after: Pick<ListedJob, 'id' | 'createdAtMs'> | undefined = last;
    if (toMs <= (last?.createdAtMs ?? Number.MAX_SAFE_INTEGER)) after = { id: '', createdAtMs: toMs };
    // One more says that others follow.
    const max = limit + 1;
    const isNarrowed = stages !== undefined || isWanted !== undefined;
    const rowsMax = isNarrowed ? LIST_PAGE : max;
    const jobs: JobPage['jobs'] = [];
    for (let isLast = false; !isLast && jobs.length < max; ) {
      const rows: ListedJob[] = await store.listJobs(nameless(owner), after, rowsMax);
      const possible = rows.filter(
        ({ createdAtMs, stage }) => createdAtMs >= fromMs && (stages === undefined || stages.includes(stage)),
      );
      jobs.push(...(await this.#opened(owner, possible, max - jobs.length, isWanted)));
      after = rows.at(-1);
      isLast = rows.length < rowsMax || (after?.createdAtMs ?? 0) < fromMs;
    }
    return { jobs: jobs.slice(0, limit), hasMore: jobs.length > limit };
  }

  /** The first of them that are wanted, and a few more. */
  async #opened(
    owner: Owner,
    rows: readonly ListedJob[],
    max: number,
    isWanted: WantedJobs['isWanted'],
  ): Promise<JobPage['jobs']> {
    const open = (some: readonly ListedJob[]) => Promise.all(some.map((row) => this.#listed(owner, row)));
    if (isWanted === undefined) return open(rows.slice(0, max));
    const jobs: JobPage['jobs'] = [];
    for (let at = 0; at < rows.length && jobs.length < max; ) {
      const next = rows.slice(at, at + Math.max(max - jobs.length, OPENED_AT_ONCE));
      at += next.length;
      jobs.push(...(await open(next)).filter(isWanted));
    }
    return jobs;
  }

  /** Undefined when it is not there; else the node that runs it, if any does. */
  async remove(owner: Owner, id: string): Promise<{ runsOn: string | undefined } | undefined> {
    const removed = await this.#options.store.removeJob(nameless(owner), id);
    return removed && { runsOn: isOver(removed.stage) ? undefined : removed.node };
  }

  /**
   * Jobs of earlier starts of this node whose audio outlived them; the oldest of them.
   *
   * @param isAlone no other process works on the database
   */
  async adopt(max: number, isAlone: boolean): Promise<ResumedJob[]> {
    const { store, node, nodeName } = this.#options;
    const from = isAlone ? ANY_NODE : nodeName;
    return this.#resumed(await store.adoptJobs(from, node, this.#leaseMs, max));
  }

  /** Whether there are jobs of nodes that were lost, for this node to adopt. */
  async hasLost(exceptKeys: readonly string[]): Promise<boolean> {
    const { store, node } = this.#options;
    return store.hasLostSharedJobs(node, exceptKeys).catch((error) => {
      if (isUnknown(error)) return false;
      throw error;
    });
  }

  /** Those jobs: up to so many, and none of these keys. */
  async adoptLost(max: number, exceptKeys: readonly string[]): Promise<ResumedJob[]> {
    const { store, node, nodeName } = this.#options;
    return this.#resumed(await store.adoptLostJobs(node, nodeName, this.#leaseMs, max, exceptKeys));
  }

  /** One of them. False when its node is not lost. */
  adoptOne({ organisationId }: Owner, id: string): Promise<boolean> {
    const { store, node, nodeName } = this.#options;
    return store.adoptLostJob({ organisationId, id }, node, nodeName, this.#leaseMs);
  }

  /** Those of these jobs that are not this node's any more. */
  async notOwn(ids: readonly string[]): Promise<string[]> {
    const { store, node } = this.#options;
    const others: string[] = [];
    for (let at = 0; at < ids.length; at += ASKED_AT_ONCE)
      others.push(...(await store.jobsNotOn(node, ids.slice(at, at + ASKED_AT_ONCE))));
    return others;
  }

  #resumed(adopted: readonly AdoptedJob[]): Promise<ResumedJob[]> {
    return Promise.all(
      adopted.map(async ({ id, attempts, createdAtMs, request, isShared, ...row }) => {
        const owner = nameless(row);
        const about = requestIn(await this.#open(owner, id, 'request', request));
        return { id, owner, attempts, createdAt: new Date(createdAtMs), isShared: isShared === 1, ...about };
      }),
    );
  }

  renew(): Promise<void> {
    return this.#options.store.renewJobs(this.#options.node, this.#leaseMs);
  }

  /** This node stops. Returns how many jobs failed. */
  failOwn(): Promise<number> {
    return this.#options.store.failJobsOf(this.#options.node);
  }

  async #shown(owner: Owner, { id, stage, createdAtMs, endedAtMs, request, summary }: ListedJob): Promise<ShownJob> {
    const about = requestIn(await this.#open(owner, id, 'request', request));
    const createdAt = new Date(createdAtMs);
    const endedAt = dateOf(endedAtMs);
    const ended = summary === null ? undefined : await this.#open(owner, id, 'summary', summary);
    return { id, ...about, createdAt, endedAt, state: stateOf(stage, summary === null, ended) };
  }

  async #transcription(owner: Owner, found: FoundJob): Promise<VerboseTranscription | undefined> {
    const { store } = this.#options;
    const { id, node, isShared, transcript, pieces } = found;
    const content = isShared === 1 ? sharedJobContent(id, node) : jobContent(id);
    const sealed = transcript ?? (await findContent(store, owner.organisationId, content, pieces));
    return sealed && ((await this.#open(owner, id, 'transcript', sealed)) as VerboseTranscription | undefined);
  }

  async #seal(owner: Owner, id: string, part: string, content: object): Promise<Uint8Array> {
    const zipped = await zip(JSON.stringify(content));
    return new Uint8Array(sealBytes(this.#keys[0] as Uint8Array, boundTo(owner, id, part), zipped));
  }

  /** Undefined for what was sealed with another secret, or as something else. */
  async #open(owner: Owner, id: string, part: string, sealed: Uint8Array): Promise<unknown> {
    for (const key of this.#keys) {
      const zipped = openBytes(key, boundTo(owner, id, part), sealed);
      if (zipped === undefined) continue;
      return JSON.parse((await unzip(zipped, { maxOutputLength: UNZIPPED_BYTES_MAX })).toString());
    }
    return undefined;
  }
}

/** The accounts, or a replica of them, are of a version before such jobs. */
const isUnknown = (error: unknown): boolean =>
  error instanceof StoreError && (error.reason === 'invalid' || error.reason === 'conflict');

const boundTo = ({ organisationId, keyId, dialect }: Owner, id: string, part: string): string =>
  JSON.stringify([PURPOSE, organisationId, keyId, dialect, id, part]);

const dateOf = (ms: number | null): Date | undefined => (ms === null ? undefined : new Date(ms));

const nameless = ({ organisationId, keyId, dialect }: Owner): Owner => ({ organisationId, keyId, dialect });

const isOver = (stage: JobStage): boolean => stage === 'done' || stage === 'failed';

const isEnded = <Job extends ShownJob>(job: Job): job is Job & EndedJob =>
  job.state.type === 'done' || job.state.type === 'failed';

/** What is kept of the request for a job. */
interface About extends Pick<ShownJob, 'file' | 'asked'> {
  /** Told of its end. */
  callbacks?: readonly JobCallback[];
}

const requestOf = ({ file: { id, filename, bytes, createdAt, audio }, asked, callbacks = [] }: About) => ({
  file: { id, filename, bytes, createdAtMs: createdAt.getTime(), audio },
  asked,
  ...(callbacks.length === 0 ? {} : { callbacks }),
});

const NO_FIELDS: ReadonlyMap<string, string> = new Map();

/** Of a request that cannot be read any more there is nothing to show. */
function requestIn(content: unknown): Pick<ShownJob, 'file' | 'asked'> {
  const { file, asked } = (content ?? {
    file: { id: '', filename: '', bytes: 0, createdAtMs: 0 },
    asked: {},
  }) as ReturnType<typeof requestOf>;
  const { id, filename, bytes, createdAtMs, audio } = file;
  const shown = { id, filename, bytes, createdAt: new Date(createdAtMs), fields: NO_FIELDS };
  return { file: audio === undefined ? shown : { ...shown, audio }, asked };
}

function summaryOf(state: Ended): Summary {
  if (state.type === 'failed') {
    const { code, message, extras } = state.refusal;
    return { code, message, extras };
  }
  const { segments: _, words: __, logprobs: ___, ...rest } = state.heard.transcription;
  return { transcription: { ...rest, text: '' } };
}

function stateOf(stage: JobStage, isLost: boolean, ended: unknown): JobState {
  if (stage === 'queued' || stage === 'processing') return { type: stage };
  if (isLost) return { type: 'failed', refusal: apiError('internal_error', LOST) };
  if (stage === 'done' && isRecord(ended) && isRecord(ended.transcription)) {
    return { type: 'done', heard: { transcription: ended.transcription } as unknown as Heard };
  }
  return { type: 'failed', refusal: refusalIn(ended) };
}

function refusalIn(ended: unknown): ApiError {
  const { code, message, extras } = isRecord(ended) ? ended : {};
  if (typeof code !== 'string' || !Object.hasOwn(ERROR_CATALOGUE, code)) return apiError('internal_error', UNREADABLE);
  return new ApiError(code as ErrorCode, String(message), (extras ?? {}) as ApiErrorExtras);
}

const noCallbacks = () =>
  apiError(
    'overloaded',
    'The nodes with the accounts cannot keep the address of a callback before all of them are updated. Leave it out, or try again later.',
    { retryAfterSeconds: 30 },
  );

const LOST = 'The node stopped before this job was completed. Send the job again.';
const UNREADABLE =
  'The transcript of this job cannot be read any more: the secret of the gateway was changed. Send the job again.';
