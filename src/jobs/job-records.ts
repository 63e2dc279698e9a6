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
  type JobStage,
  type JobStore,
  jobContent,
  type ListedJob,
} from './calls.ts';
import type { Owner } from './owner.ts';

const zip = promisify(gzip);
const unzip = promisify(gunzip);

const PURPOSE = 'voxgate jobs v1';
/** Of the JSON of one transcript. */
export const TRANSCRIPT_CHARACTERS_MAX = 32 * 1024 * 1024;
/** A character has up to three bytes as UTF-8. */
const UNZIPPED_BYTES_MAX = 3 * TRANSCRIPT_CHARACTERS_MAX;
/** A node that runs jobs says so this often, and its jobs have failed once it has not for the time of the lease. */
export const RENEW_MS = 20_000;
export const JOB_LEASE_MS = 60_000;
const LIST_PAGE = 200;

type Store = JobStore & PieceStore;

export interface JobRecordsOptions {
  store: Store;
  secret: Uint8Array;
  previousSecret?: Uint8Array | undefined;
  /** Incarnation of this node. */
  node: string;
  nodeName: string;
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

/** A job of an earlier start of this node, which it runs now. */
export interface ResumedJob extends Pick<ShownJob, 'id' | 'file' | 'asked' | 'createdAt'> {
  readonly owner: Owner;
  readonly attempts: number;
}

export class JobRecords {
  readonly #options: JobRecordsOptions;
  readonly #keys: readonly Uint8Array[];

  constructor(options: JobRecordsOptions) {
    this.#options = options;
    const { secret, previousSecret } = options;
    this.#keys = [secret, ...(previousSecret === undefined ? [] : [previousSecret])].map((each) =>
      keyFor(PURPOSE, each),
    );
  }

  async create(owner: Owner, id: string, stage: 'queued' | 'processing', about: About): Promise<CreatedJob> {
    const { store, node, nodeName } = this.#options;
    const { organisationId, keyId, dialect } = owner;
    const shortage = await this.#shortage(organisationId);
    if (shortage !== undefined) return { state: 'full', of: shortage === 'share' ? 'share' : 'store' };
    const request = await this.#seal(owner, id, 'request', requestOf(about));
    const job = { organisationId, keyId, dialect, id, stage, node, nodeName, request };
    const callbacks = about.callbacks?.length ?? 0;
    if (callbacks === 0) return store.createJob(job, JOB_LEASE_MS);
    return store.createReportedJob({ ...job, callbacks }, JOB_LEASE_MS);
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

  /** False when it was removed. */
  start({ organisationId }: Owner, id: string): Promise<boolean> {
    return this.#options.store.startJob({ organisationId, id });
  }

  /**
   * Returns how many others made room, or -1 when it was removed.
   *
   * @param keptMs from now on; 24 hours when absent
   */
  async finish(owner: Owner, id: string, state: Ended, keptMs?: number): Promise<number> {
    const { store } = this.#options;
    const { organisationId } = owner;
    const name = { organisationId, id };
    const summary = await this.#seal(owner, id, 'summary', summaryOf(state));
    const kept = keptMs === undefined ? {} : { keptMs };
    const end = { stage: state.type, summary, transcript: null, pieces: 0, ...kept } as const;
    if (state.type === 'failed') return store.finishJob(name, end);
    const transcript = await this.#seal(owner, id, 'transcript', state.heard.transcription);
    if (transcript.length <= PIECE_BYTES_MAX) return store.finishJob(name, { ...end, transcript });
    const pieces = await putPieces(store, organisationId, jobContent(id), transcript);
    return store.finishJob(name, { ...end, pieces });
  }

  /** With the transcript. Undefined when it is not there. */
  async find(owner: Owner, id: string): Promise<KnownJob | undefined> {
    const found = await this.#options.store.findJob(nameless(owner), id);
    if (found === undefined) return undefined;
    const { attempts, keptUntilMs, node, callbackStatus = null } = found;
    const keptUntil = keptUntilMs === null ? undefined : new Date(keptUntilMs);
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
  ): Promise<{ job: EndedJob; callback: JobCallback } | undefined> {
    const found = await this.#options.store.findJob(nameless(owner), id);
    const request = found && (await this.#open(owner, id, 'request', found.request));
    const callback = (request as Partial<About> | undefined)?.callbacks?.[position];
    const job = callback && (await this.find(owner, id));
    if (callback === undefined || job === undefined || !isEnded(job)) return undefined;
    return { job, callback };
  }

  /** Newest first, without the words of transcripts. */
  async list(owner: Owner): Promise<ShownJob[]> {
    const { store } = this.#options;
    const jobs: ListedJob[] = [];
    for (let page: ListedJob[] | undefined; page === undefined || page.length === LIST_PAGE; jobs.push(...page))
      page = await store.listJobs(nameless(owner), jobs.at(-1), LIST_PAGE);
    return Promise.all(jobs.map((job) => this.#shown(owner, job)));
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
    const adopted: readonly AdoptedJob[] = await store.adoptJobs(from, node, JOB_LEASE_MS, max);
    return Promise.all(
      adopted.map(async ({ id, attempts, createdAtMs, request, ...row }) => {
        const owner = nameless(row);
        const about = requestIn(await this.#open(owner, id, 'request', request));
        return { id, owner, attempts, createdAt: new Date(createdAtMs), ...about };
      }),
    );
  }

  renew(): Promise<void> {
    return this.#options.store.renewJobs(this.#options.node, JOB_LEASE_MS);
  }

  /** This node stops. Returns how many jobs failed. */
  failOwn(): Promise<number> {
    return this.#options.store.failJobsOf(this.#options.node);
  }

  async #shown(owner: Owner, { id, stage, createdAtMs, endedAtMs, request, summary }: ListedJob): Promise<ShownJob> {
    const about = requestIn(await this.#open(owner, id, 'request', request));
    const createdAt = new Date(createdAtMs);
    const endedAt = endedAtMs === null ? undefined : new Date(endedAtMs);
    const ended = summary === null ? undefined : await this.#open(owner, id, 'summary', summary);
    return { id, ...about, createdAt, endedAt, state: stateOf(stage, summary === null, ended) };
  }

  async #transcription(owner: Owner, { id, transcript, pieces }: FoundJob): Promise<VerboseTranscription | undefined> {
    const { store } = this.#options;
    const sealed = transcript ?? (await findContent(store, owner.organisationId, jobContent(id), pieces));
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

const boundTo = ({ organisationId, keyId, dialect }: Owner, id: string, part: string): string =>
  JSON.stringify([PURPOSE, organisationId, keyId, dialect, id, part]);

const nameless = ({ organisationId, keyId, dialect }: Owner): Owner => ({ organisationId, keyId, dialect });

const isOver = (stage: JobStage): boolean => stage === 'done' || stage === 'failed';

const isEnded = (job: ShownJob): job is EndedJob => job.state.type === 'done' || job.state.type === 'failed';

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

const LOST = 'The node that worked on this job stopped before it was done. Send the job again.';
const UNREADABLE =
  'The transcript of this job cannot be read any more: the secret of the gateway was changed. Send the job again.';
