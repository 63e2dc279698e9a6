// The gateway's own jobs: a file is accepted, kept on this node's disk and where other nodes can have it, transcribed in its turn and once,
// and fetched from any node. A restart of the node begins those again that were not over, or another node does when it is lost.
import { randomUUID } from 'node:crypto';
import type { BlockList } from 'node:net';
import type { Clock } from '../../machines/clock.ts';
import type { Authenticator } from '../accounts/auth/authenticate.ts';
import type { KeyLimits } from '../accounts/auth/limits.ts';
import type { Caller } from '../accounts/auth/permissions.ts';
import { tagsFor } from '../accounts/auth/tags.ts';
import type { ApiKey, KeyCalls } from '../accounts/keys/calls.ts';
import { type AudioSource, shownAddress } from '../api/audio-source.ts';
import { apiError } from '../api/errors.ts';
import { JOB_FIELDS } from '../api/jobs.ts';
import { SharedObjectGone } from '../cluster/bus/shared-objects.ts';
import type { JobDependencies } from '../files/job.ts';
import { filenameOf } from '../files/remote/remote-audio.ts';
import { ADDRESS } from '../files/routes/form.ts';
import { requestOf } from '../files/routes/read-upload.ts';
import { noRoom } from '../http/multipart/errors.ts';
import type { Form } from '../http/multipart/form.ts';
import type { SpoolBudget } from '../http/multipart/spool-file.ts';
import type { LedgerStore } from '../money/store/calls.ts';
import { lateId, NODE_LOST } from '../money/store/lost.ts';
import type { Asynchronous } from '../store/operation.ts';
import type { JobCallback, ShownFile, ShownJob } from '../vendors/compat/jobs.ts';
import { checkedCallbackUrl } from '../webhooks/url.ts';
import { JOB_LIMITS, OWN_DIALECT } from './calls.ts';
import type { DetachedJobs, Work, WorkEnd } from './detached-jobs.ts';
import { type FetchDependencies, fetchKept } from './fetch-kept.ts';
import type { JobFiles } from './job-files.ts';
import type { JobRecords, ResumedJob } from './job-records.ts';
import type { KeptFile } from './kept-files.ts';
import { type AskedInForm, askedOf, keptMsOf, keptRequest, type OwnRequest, wholeFields } from './own-request.ts';
import type { Owner } from './owner.ts';
import type { SharedAudio } from './shared-audio.ts';
import { admitJob, type JobRequester, requireKey, transcribeKept } from './transcribe-kept.ts';

/** A job that its node did not survive so often is not begun again: it may be what ends the node. */
export const ATTEMPTS_MAX = 3;
const RESUMED_AT_ONCE = 100;
/** Between two attempts to begin a job again while the accounts are away: twice as long each time, up to the last one. */
const RESUME_AGAIN_MS = { first: 2_000, last: 60_000 } as const;
/** After this the store has failed it for its age. */
const RESUMED_FOR_MS = JOB_LIMITS.unfinishedMs;

export interface OwnJobsDependencies extends Omit<JobDependencies, 'settings' | 'http'>, FetchDependencies {
  settings: JobDependencies['settings'] & FetchDependencies['settings'];
  http: JobDependencies['http'];
  authenticator: Pick<Authenticator, 'holds'>;
  detachedJobs: DetachedJobs;
  /** Private ones that the ends of jobs may be posted to. */
  callbackNetworks: BlockList | undefined;
  /** Undefined where the node has no name: its next start would not find them. */
  jobFiles: JobFiles | undefined;
  /** Undefined where no other node could have it. */
  sharedAudio: SharedAudio | undefined;
  /** Other nodes may adopt jobs of this one. */
  hasOthers: boolean;
  jobRecords: Pick<JobRecords, 'adopt' | 'adoptLost' | 'finish'>;
  limits: Pick<KeyLimits, 'takeFile'>;
  store: Pick<Asynchronous<KeyCalls>, 'findKey'> & Pick<LedgerStore, 'findSession'>;
  onJobFault(error: unknown): void;
  newRequestId(): string;
  /** Of waits that do not keep the process alive. */
  clock: Clock;
  wallNow(): Date;
}

/** The request that makes a job. */
export interface JobCreator extends Pick<JobRequester, 'requestId' | 'traceparent'> {
  /** A new one when absent. */
  jobId?: string;
}

export const ownerOf = ({ organisationId, keyId }: Pick<Caller, 'organisationId' | 'keyId'>): Owner => ({
  ...{ organisationId, keyId },
  dialect: OWN_DIALECT,
});

export class OwnJobs {
  readonly #dependencies: OwnJobsDependencies;
  /** Jobs of nodes that were lost, which are not over, by key. */
  readonly #adopted = new Map<string, number>();

  constructor(dependencies: OwnJobsDependencies) {
    this.#dependencies = dependencies;
  }

  get adopted(): ReadonlyMap<string, number> {
    return this.#adopted;
  }

  /**
   * Keeps the audio and accepts the job. Rejects with an ApiError.
   *
   * @param read puts the file at this path, where there is one, whatever comes of it
   */
  async accept(
    caller: Caller,
    by: JobCreator,
    read: (budget: SpoolBudget, keptAs: string | undefined) => Promise<Form>,
    readRequest: (form: Form) => AskedInForm,
  ): Promise<ShownJob> {
    const { keptFiles, jobFiles, sharedAudio } = this.#dependencies;
    const owner = ownerOf(caller);
    const audio = jobFiles?.newName() ?? '';
    const { jobId = randomUUID() } = by;
    let leave = () => {};
    let leaveShared = (_: WorkEnd) => {};
    try {
      const held = await keptFiles.keep(owner, (budget) => read(budget, jobFiles?.pathOf(audio)));
      leave = held.leave;
      // It is the job's alone.
      keptFiles.remove(owner, held.file.id);
      const { form, bytes } = held.file;
      const { webhook, ...asked } = readRequest(form);
      const callbacks = this.#callbacksOf(webhook);
      const request = await this.#admitted(
        { ...asked, ...shownWebhook(webhook), audio, contentType: form.file.contentType, audioUrl: undefined },
        { ...by, caller },
      );
      await jobFiles?.sync(audio).catch((error: unknown) => {
        throw noRoom(error);
      });
      const isShared = (await sharedAudio?.share(owner.organisationId, jobId, form.file)) === true;
      if (isShared) leaveShared = this.#leavingShared(owner, jobId, bytes);
      const work = this.#workOf(held.file, request, { ...by, caller }, leave);
      const ended = endings(work.ended, leaveShared);
      return await this.#begin({ ...work, callbacks, isShared, ended }, caller, { ...by, jobId });
    } catch (error) {
      leave();
      leaveShared('over');
      await jobFiles?.remove(audio).catch(this.#dependencies.onJobFault);
      throw error;
    }
  }

  /** Accepts a job whose audio is fetched when it runs: until then nothing is held but its address. Rejects with an ApiError. */
  async acceptAt(
    source: AudioSource,
    { webhook, ...asked }: AskedInForm,
    caller: Caller,
    by: JobCreator,
  ): Promise<ShownJob> {
    const { remoteAudio, wallNow, hasOthers } = this.#dependencies;
    const callbacks = this.#callbacksOf(webhook);
    const filename = filenameOf(remoteAudio.check(source, caller.organisationId));
    const at = { ...asked, ...shownWebhook(webhook), audio: '', contentType: undefined, audioUrl: source.url };
    const request = await this.#admitted(at, { ...by, caller });
    const file = { id: '', filename, bytes: 0, createdAt: wallNow(), fields: NO_FIELDS };
    const work = this.#workAt(source.url, file, request, { ...by, caller }, false);
    return this.#begin({ ...work, callbacks, isShared: hasOthers }, caller, by);
  }

  /** Throws an ApiError for an address that nothing may be posted to. */
  #callbacksOf(webhook: AskedInForm['webhook']): readonly JobCallback[] {
    if (webhook === undefined) return NO_CALLBACKS;
    const { url, secret } = webhook;
    const checked = checkedCallbackUrl(url, this.#dependencies.callbackNetworks, WEBHOOK_URL);
    const signed = secret === undefined ? {} : { secret };
    return [{ url: checked, param: WEBHOOK_URL, method: 'POST', headers: [], ...signed }];
  }

  /** With its tags, which stay as they are now. Refuses what a file would be refused for. */
  async #admitted(asked: Omit<OwnRequest, 'tags'>, by: JobRequester): Promise<OwnRequest> {
    // As it was sent: the work asks for all that any format needs.
    requestOf(asked.fields, { providers: this.#dependencies.providers, otherFields: JOB_FIELDS }, by.caller.key);
    const transcription = this.#transcriptionOf(asked, by.caller);
    const tags = tagsFor(by.caller, transcription.tags);
    await admitJob(transcription, { ...by, tags: { text: tags } }, this.#dependencies);
    return { ...asked, tags };
  }

  #begin(work: Work, { key }: Caller, { jobId }: JobCreator): Promise<ShownJob> {
    const { detachedJobs, limits } = this.#dependencies;
    return detachedJobs.begin(jobId === undefined ? work : { ...work, id: jobId }, () => limits.takeFile(key));
  }

  /**
   * Begins jobs of earlier starts again, and says how many. Never rejects.
   *
   * @param isAlone no other process works on the database
   */
  async resume(isAlone: boolean): Promise<number> {
    const { jobRecords, jobFiles, onJobFault } = this.#dependencies;
    const audio = new Set<string>();
    try {
      for (let jobs: ResumedJob[] | undefined; jobs === undefined || jobs.length === RESUMED_AT_ONCE; ) {
        jobs = await jobRecords.adopt(RESUMED_AT_ONCE, isAlone);
        for (const job of jobs) {
          audio.add(askedOf(job.asked).audio);
          await this.#resume(job).catch((error) => void this.#resumeLater(job, error));
        }
      }
      await jobFiles?.removeEarlier(audio);
    } catch (error) {
      onJobFault(error);
    }
    return audio.size;
  }

  /**
   * Begins jobs of nodes that were lost again, and says how many. Rejects with StoreError.
   *
   * @param exceptKeys none of these keys
   */
  async takeOver(max: number, exceptKeys: readonly string[]): Promise<number> {
    const jobs = await this.#dependencies.jobRecords.adoptLost(max, exceptKeys);
    for (const job of jobs) {
      const leave = this.#countAdopted(job.owner);
      void this.#resume(job, leave).catch((error) => this.#resumeLater(job, error, leave));
    }
    return jobs.length;
  }

  /** Returns what counts it no more. */
  #countAdopted({ keyId }: Owner): () => void {
    const count = (jobs: number) => {
      const all = (this.#adopted.get(keyId) ?? 0) + jobs;
      if (all > 0) this.#adopted.set(keyId, all);
      else this.#adopted.delete(keyId);
    };
    count(1);
    return once(() => count(-1));
  }

  /** It is this node's, so it is tried until the store fails it for its age; where the node stops, the next start has it. Never rejects. */
  async #resumeLater(job: ResumedJob, fault: unknown, leave?: () => void): Promise<void> {
    const { clock, detachedJobs, wallNow, onJobFault } = this.#dependencies;
    const untilMs = job.createdAt.getTime() + RESUMED_FOR_MS;
    let last = fault;
    onJobFault(fault);
    for (let waitMs: number = RESUME_AGAIN_MS.first; ; waitMs = Math.min(2 * waitMs, RESUME_AGAIN_MS.last)) {
      await new Promise<void>((resolve) => void clock.setTimeout(() => resolve(), waitMs));
      if (detachedJobs.isClosed || wallNow().getTime() >= untilMs) break;
      try {
        return await this.#resume(job, leave);
      } catch (error) {
        last = error;
      }
    }
    if (!detachedJobs.isClosed) onJobFault(new Error('A job was too old to start again.', { cause: last }));
    leave?.();
  }

  /** @param leave called when it is over, or not this node's any more */
  async #resume(job: ResumedJob, leave = () => {}): Promise<void> {
    const { jobRecords, jobFiles, detachedJobs, limits } = this.#dependencies;
    const { id, owner, attempts, createdAt, isShared } = job;
    const request = askedOf(job.asked);
    const leaveShared = once((end: WorkEnd) => {
      leave();
      if (end === 'over' && isShared && request.audioUrl === undefined) void this.#dependencies.sharedAudio?.remove(id);
    });
    const fail = async (why: string) => {
      const failed = { type: 'failed', refusal: apiError('internal_error', why) } as const;
      const kept = await jobRecords.finish(owner, id, failed, keptMsOf(request), isShared);
      await jobFiles?.remove(request.audio);
      leaveShared(kept < 0 ? 'lost' : 'over');
    };
    if (attempts > ATTEMPTS_MAX) return fail(TOO_OFTEN);
    const key = await this.#keyOf(owner);
    if (key === undefined) return fail(NO_KEY);
    const caller: Caller = { organisationId: owner.organisationId, keyId: owner.keyId, key, via: 'key' };
    const by = { caller, requestId: this.#dependencies.newRequestId(), traceparent: undefined };
    const work = await this.#workOn(job, request, by);
    if (work === undefined) return fail(GONE);
    const resumed = { ...work, isShared, ended: endings(work.ended, leaveShared) };
    detachedJobs.resume({ id, createdAt }, resumed, () => limits.takeFile(key));
  }

  /** The work of an earlier start, or of another node. Undefined where its audio is gone. */
  async #workOn(job: ResumedJob, request: OwnRequest, by: JobRequester): Promise<Work | undefined> {
    const { jobFiles, sharedAudio } = this.#dependencies;
    if (request.audioUrl !== undefined) return this.#workAt(request.audioUrl, job.file, request, by, true);
    const bytes = await jobFiles?.sizeOf(request.audio);
    if (bytes !== undefined) return this.#workAgain(job.file, bytes, request, by);
    return job.isShared && sharedAudio !== undefined ? this.#workShared(sharedAudio, job, request, by) : undefined;
  }

  #keyOf({ organisationId, keyId }: Owner): Promise<ApiKey | undefined> {
    return this.#dependencies.store.findKey(organisationId, keyId) as Promise<ApiKey | undefined>;
  }

  #transcriptionOf(request: Omit<OwnRequest, 'tags'>, { key }: Pick<Caller, 'key'>) {
    return requestOf(wholeFields(request), this.#dependencies, key);
  }

  #workOf(file: KeptFile, request: OwnRequest, by: JobRequester, leave: () => void): Work {
    const { jobFiles, onJobFault } = this.#dependencies;
    const { id, filename, bytes, createdAt } = file;
    const end = new AbortController();
    return {
      ...workFor(request, by, end),
      file: { id, filename, bytes, createdAt, fields: NO_FIELDS },
      run: (jobId, onProgress, beforeCharge) =>
        this.#transcribe(jobId, file, request, { ...by, onProgress, beforeCharge }, false, end.signal),
      ended: (how) => {
        leave();
        if (how !== 'waits') jobFiles?.remove(request.audio).catch(onJobFault);
      },
    };
  }

  /** The file is opened when the job runs: there may be more jobs than a key may have files open. */
  #workAgain(file: ShownFile, bytes: number, request: OwnRequest, by: JobRequester): Work {
    const { jobFiles, spoolQuota, onJobFault } = this.#dependencies;
    const { organisationId } = by.caller;
    const end = new AbortController();
    // It is on the disk already, whether there is room or not.
    spoolQuota.count(organisationId, bytes);
    return {
      ...workFor(request, by, end),
      file,
      run: async (jobId, onProgress, beforeCharge) => {
        const form = await jobFiles?.open(request.audio, { ...file, contentType: request.contentType });
        if (form === undefined) throw apiError('internal_error', GONE);
        const own = { ...by, onProgress, beforeCharge };
        return this.#transcribe(jobId, { form }, request, own, true, end.signal).finally(form.dispose);
      },
      ended: (how) => {
        spoolQuota.giveBack(organisationId, bytes);
        if (how !== 'waits') jobFiles?.remove(request.audio).catch(onJobFault);
      },
    };
  }

  /** The audio is fetched when the job runs, as one at an address is. */
  #workShared(sharedAudio: SharedAudio, { id, file }: ResumedJob, request: OwnRequest, by: JobRequester): Work {
    const end = new AbortController();
    const { organisationId } = by.caller;
    const { bytes, filename } = file;
    const { contentType } = request;
    const { remoteAudio } = this.#dependencies;
    const dependencies = {
      ...this.#dependencies,
      remoteAudio: {
        check: remoteAudio.check.bind(remoteAudio),
        open: async () => sharedAudio.open(id, bytes, { filename, contentType }),
      },
    };
    const fetch = () => fetchKept({ url: '', param: ADDRESS }, ownerOf(by.caller), end.signal, dependencies);
    let fetched: Awaited<ReturnType<typeof fetchKept>> | undefined;
    sharedAudio.count(organisationId, bytes);
    return {
      ...workFor(request, by, end),
      file,
      run: async (jobId, onProgress, beforeCharge) => {
        fetched ??= await sharedAudio.keep(fetch, end.signal).catch((error) => {
          throw error instanceof SharedObjectGone ? apiError('internal_error', GONE) : error;
        });
        if (end.signal.aborted) fetched.leave();
        end.signal.throwIfAborted();
        const own = { ...by, onProgress, beforeCharge };
        return this.#transcribe(jobId, fetched.file, request, own, true, end.signal);
      },
      ended: () => {
        fetched?.leave();
        sharedAudio.leave(organisationId, bytes);
      },
    };
  }

  /** What gives up the audio that other nodes can have, at the end of the job. */
  #leavingShared({ organisationId }: Owner, name: string, bytes: number): (end: WorkEnd) => void {
    const { sharedAudio } = this.#dependencies;
    return once((end: WorkEnd) => {
      sharedAudio?.leave(organisationId, bytes);
      if (end === 'over') void sharedAudio?.remove(name);
    });
  }

  #workAt(url: string, file: ShownFile, request: OwnRequest, by: JobRequester, isResumed: boolean): Work {
    const end = new AbortController();
    let fetched: Awaited<ReturnType<typeof fetchKept>> | undefined;
    return {
      ...workFor(request, by, end),
      file,
      run: async (jobId, onProgress, beforeCharge) => {
        await requireKey(by, this.#dependencies);
        // Once, however often this node has no room for the work on it.
        fetched ??= await fetchKept({ url, param: ADDRESS }, ownerOf(by.caller), end.signal, this.#dependencies);
        if (end.signal.aborted) fetched.leave();
        end.signal.throwIfAborted();
        const own = { ...by, onProgress, beforeCharge };
        return this.#transcribe(jobId, fetched.file, request, own, isResumed, end.signal);
      },
      ended: () => fetched?.leave(),
    };
  }

  async #transcribe(
    jobId: string,
    file: Pick<KeptFile, 'form'>,
    request: OwnRequest,
    by: JobRequester,
    isResumed: boolean,
    signal: AbortSignal,
  ): ReturnType<Work['run']> {
    const chargeId = isResumed ? await this.#chargeOf(jobId, by.caller) : chargeIdOf(jobId, 1);
    const transcription = this.#transcriptionOf(request, by.caller);
    const charged = { ...by, chargeId, tags: { text: request.tags } };
    return transcribeKept(file, transcription, charged, signal, this.#dependencies);
  }

  /**
   * One that was made before its transcript could be stored is that of the job. An earlier start, or another node, may have been given up
   * at nothing: what comes under that id then is billed once, whoever says it. Closed otherwise at nothing it takes no more.
   */
  async #chargeOf(jobId: string, { organisationId }: Caller): Promise<string> {
    const { store } = this.#dependencies;
    for (let start = 1; ; start++) {
      const id = chargeIdOf(jobId, start);
      const record = await store.findSession(organisationId, id);
      if (record === undefined || record.endedAt === null || record.lines.length > 0) return id;
      if (record.reason === NODE_LOST && !(await this.#isLost(organisationId, lateId(id)))) return id;
    }
  }

  /** It was closed with nothing, and takes no more. */
  async #isLost(organisationId: string, id: string): Promise<boolean> {
    const record = await this.#dependencies.store.findSession(organisationId, id);
    return record !== undefined && record.endedAt !== null && record.lines.length === 0;
  }
}

/** Both hear of the end. */
const endings =
  (first: (end: WorkEnd) => void, second: (end: WorkEnd) => void) =>
  (end: WorkEnd): void => {
    first(end);
    second(end);
  };

function once<Arguments extends unknown[]>(work: (...args: Arguments) => void): (...args: Arguments) => void {
  let isDone = false;
  return (...args) => {
    if (isDone) return;
    isDone = true;
    work(...args);
  };
}

const workFor = (request: OwnRequest, { caller }: JobRequester, end: AbortController) => ({
  ...{ owner: ownerOf(caller), asked: keptRequest(request), end },
  ...{ isDurable: true, keptMs: keptMsOf(request) },
});

const WEBHOOK_URL = 'webhook_url';
const NO_CALLBACKS: readonly JobCallback[] = [];
const shownWebhook = (webhook: AskedInForm['webhook']): Pick<OwnRequest, 'webhookUrl'> => ({
  webhookUrl: webhook && shownAddress(webhook.url),
});

const NO_FIELDS: ReadonlyMap<string, string> = new Map();

const chargeIdOf = (jobId: string, start: number): string => `job_${jobId}${start === 1 ? '' : `_${start}`}`;

const TOO_OFTEN = `The node stopped ${ATTEMPTS_MAX} times while it transcribed this job. Send the file again, or convert it to another format.`;
const NO_KEY = 'The API key of this job no longer exists.';
const GONE = 'The audio of this job no longer exists. Send the file again.';
