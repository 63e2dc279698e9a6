// Jobs in the database: whose they are, how far they are, on which node they run, and what came of them. Requests, summaries and
// transcripts are sealed before they come here; a large transcript is put in pieces first. A node that runs jobs has a lease. When it is
// over, its jobs have failed, but for those of the gateway itself: another node adopts them where it can have their audio, and the others
// wait. Nothing here is done by the clock alone: leases end and jobs expire by an operation of the owner.
import type { Shortage } from '../runtime/limits/quota.ts';
import {
  type Asynchronous,
  first,
  member,
  none,
  notes,
  type Operation,
  type Operations,
  reads,
  writes,
} from '../store/operation.ts';
import { CALLBACK_OPERATIONS, type CallbackCalls } from './callbacks/calls.ts';
import type { Owner } from './owner.ts';

export interface JobName {
  organisationId: string;
  id: string;
}

export type JobStage = 'queued' | 'processing' | 'done' | 'failed';

export interface NewJob extends Owner, JobName {
  stage: 'queued' | 'processing';
  /** Incarnation of the node that it runs on, and how its operator calls the node. */
  node: string;
  nodeName: string;
  /** Sealed. */
  request: Uint8Array;
}

/** One whose client named addresses for its end. */
export interface NewReportedJob extends NewJob {
  /** How many, in its request. */
  callbacks: number;
}

/** `full`: all other jobs of the organisation, or of the store, are not over; `share`: the organisation has its share of the store. */
export type CreatedJob =
  | { state: 'created'; createdAtMs: number; removed: number }
  | { state: 'full'; of: 'organisation' | 'share' | 'store' };

export interface JobEnd {
  stage: 'done' | 'failed';
  /** Sealed: what is shown of it in lists, or why it failed. */
  summary: Uint8Array;
  /** Sealed; null of a failed job, and where it is in pieces. */
  transcript: Uint8Array | null;
  /** Of `jobContent(id)`, or `sharedJobContent`. */
  pieces: number;
  /** How long it is kept from now on; 24 hours when absent. */
  keptMs?: number;
}

/** A job of an earlier start of the node, or of a node that was lost, which runs on now. */
export interface AdoptedJob extends Owner, Pick<ListedJob, 'id' | 'createdAtMs' | 'request'> {
  /** With this one: it counts only how often a node was killed while it worked on the job. */
  attempts: number;
  /** Other nodes can have its audio. Absent in answers of older versions. */
  isShared?: 0 | 1;
}

export interface ListedJob {
  id: string;
  stage: JobStage;
  node: string;
  /** Absent in what a node of an earlier version lists. */
  attempts?: number;
  createdAtMs: number;
  endedAtMs: number | null;
  /** Absent in what a node of an earlier version lists. */
  keptUntilMs?: number | null;
  request: Uint8Array;
  /** Null while it is not over, and where its node was lost. */
  summary: Uint8Array | null;
}

export interface FoundJob extends ListedJob, Pick<JobEnd, 'transcript' | 'pieces'> {
  attempts: number;
  keptUntilMs: number | null;
  /** The status that the first address answered the last attempt with. */
  callbackStatus?: number | null;
  /** Absent in answers of older versions. */
  isShared?: 0 | 1;
}

/**
 * In whose words the gateway's own jobs are requested. Their audio outlives the process, so they wait for their node to come back,
 * unless its operator has given it no name.
 */
export const OWN_DIALECT = 'voxgate';
export const ANY_NODE = '*';

export interface JobCalls extends CallbackCalls {
  /** The same again is the same job. Makes room: failed jobs go first, then the oldest. Throws `not_found` for the organisation. */
  createJob(job: NewJob, leaseMs: number): CreatedJob;
  /**
   * Why another job of the organisation would be refused; undefined if it would be accepted. Of the jobs that are not over, one organisation may
   * have as many as it leaves free.
   */
  findJobShortage(organisationId: string): Shortage | undefined;
  /** The same. The addresses are due when the job is over. */
  createReportedJob(job: NewReportedJob, leaseMs: number): CreatedJob;
  /** A queued job runs now. False when it is not there any more. */
  startJob(name: JobName): boolean;
  /** The node is there, for so long, where jobs of it are not over. */
  renewJobs(node: string, leaseMs: number): void;
  /**
   * Keeps what came of it for its time; also of a job whose node was lost for a while. Returns how many others made room, or -1 when
   * it is not there any more.
   */
  finishJob(name: JobName, end: JobEnd): number;
  /** With its transcript; returns what it was. Undefined when it is not there. */
  removeJob(owner: Owner, id: string): Pick<ListedJob, 'node' | 'stage'> | undefined;
  findJob(owner: Owner, id: string): FoundJob | undefined;
  /** Newest first, without transcripts. @param before the last one of the page before */
  listJobs(owner: Owner, before: Pick<ListedJob, 'id' | 'createdAtMs'> | undefined, limit: number): ListedJob[];
  /** The node stops: jobs of it have failed whose audio is gone with it, and the others wait. Returns how many have failed. */
  failJobsOf(node: string): number;
  /** The same for jobs of earlier starts of the node. */
  failEarlierJobs(nodeName: string, node: string): number;
  /**
   * The gateway's own jobs of earlier starts of the node run on it again. Returns the oldest of them, as many as `max`.
   *
   * @param nodeName or `ANY_NODE`, where no other process works on the database
   */
  adoptJobs(nodeName: string, node: string, leaseMs: number, max: number): AdoptedJob[];
  /** Jobs have failed whose node's lease is over and whose audio is gone with it, and all jobs that were not over within a day. */
  failLostJobs(): number;
  /** The same as `createJob` for a job of the gateway itself whose audio other nodes can have: they adopt it when its node is lost. */
  createSharedJob(job: NewJob, leaseMs: number): CreatedJob;
  /** The same for one with callbacks. */
  createSharedReportedJob(job: NewReportedJob, leaseMs: number): CreatedJob;
  /** A queued job of that kind runs now. False when it is not there any more, is over, or is another node's. */
  startSharedJob(name: JobName, node: string): boolean;
  /** The same as `finishJob`, by the node that it is on. Returns -1 when it is not there any more, or is another node's. */
  finishSharedJob(name: JobName, node: string, end: JobEnd): number;
  /**
   * Jobs of that kind whose node's lease is over run on this node from now on. Returns up to `max` of them: of each key the oldest
   * first, and none of these keys.
   */
  adoptLostJobs(
    node: string,
    nodeName: string,
    leaseMs: number,
    max: number,
    exceptKeys: readonly string[],
  ): AdoptedJob[];
  /** The same for one of them. False when it is not lost. */
  adoptLostJob(name: JobName, node: string, nodeName: string, leaseMs: number): boolean;
  /** Whether `adoptLostJobs` would return some to this node. */
  hasLostSharedJobs(node: string, exceptKeys: readonly string[]): boolean;
  /** Those of these jobs that the node does not run: another one does, or they are over or gone. */
  jobsNotOn(node: string, ids: readonly string[]): string[];
  /** Removes some jobs, and some pieces of contents, whose time is over. Returns how many. */
  expireJobs(max: number): number;
  /** Whether one of these two would do something. */
  hasStaleJobs(): boolean;
}

export type JobStore = Asynchronous<JobCalls>;

const since9 = <Each extends Operation>(operation: Each) => ({ ...operation, since: 9 });

export const JOB_OPERATIONS = {
  ...CALLBACK_OPERATIONS,
  createJob: writes(member('object', 'number')),
  findJobShortage: reads(first('text')),
  createReportedJob: { ...writes(member('object', 'number')), since: 6 },
  startJob: notes(member('object')),
  renewJobs: notes(none('text', 'number')),
  finishJob: writes(member('object', 'object')),
  removeJob: writes(member('object', 'text')),
  findJob: reads(member('object', 'text')),
  listJobs: reads(member('object', 'object?', 'number')),
  failJobsOf: writes(none('text')),
  failEarlierJobs: writes(none('text', 'text')),
  adoptJobs: writes(none('text', 'text', 'number', 'number')),
  createSharedJob: since9(writes(member('object', 'number'))),
  createSharedReportedJob: { ...writes(member('object', 'number')), since: 10 },
  startSharedJob: since9(notes(member('object', 'text'))),
  finishSharedJob: since9(writes(member('object', 'text', 'object'))),
  adoptLostJobs: since9(writes(none('text', 'text', 'number', 'number', 'list'))),
  adoptLostJob: since9(writes(member('object', 'text', 'text', 'number'))),
  hasLostSharedJobs: reads(none('text', 'list')),
  jobsNotOn: reads(none('text', 'list')),
  failLostJobs: writes(),
  expireJobs: writes(),
  hasStaleJobs: reads(),
} as const satisfies Operations<JobCalls>;

/** The content that a transcript in pieces is. */
export const jobContent = (id: string): string => `job ${id}`;

/** The same of a job whose audio other nodes can have: one that has lost it must not put its pieces among those of another. */
export const sharedJobContent = (id: string, node: string): string => `${jobContent(id)} ${node}`;

interface Bound {
  jobs: number;
  bytes: number;
}

export interface JobLimits {
  keptMs: number;
  /** Of a job that says how long it is kept: so long at least, to be told of it. */
  keptMsMin: number;
  keptMsMax: number;
  /** After this a job that is not over has failed. */
  unfinishedMs: number;
  requestBytesMax: number;
  summaryBytesMax: number;
  key: Bound;
  organisation: Bound;
  store: Bound;
  /** Expired jobs that go with each that comes. */
  sweptMax: number;
}

const HOUR_MS = 3_600_000;
const MIB = 1024 * 1024;

export const JOB_LIMITS: JobLimits = {
  keptMs: 24 * HOUR_MS,
  keptMsMin: 60_000,
  keptMsMax: 30 * 24 * HOUR_MS,
  unfinishedMs: 24 * HOUR_MS,
  requestBytesMax: 16 * 1024,
  summaryBytesMax: 16 * 1024,
  key: { jobs: 1_000, bytes: 32 * MIB },
  organisation: { jobs: 2_500, bytes: 64 * MIB },
  store: { jobs: 20_000, bytes: 512 * MIB },
  sweptMax: 20,
};
