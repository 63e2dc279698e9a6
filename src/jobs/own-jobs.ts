// The gateway's own jobs: a file is accepted, kept on this node's disk, transcribed in its turn and once, and fetched from any node. A
// restart of the node begins those again that were not over.
import type { Authenticator } from '../accounts/auth/authenticate.ts';
import type { KeyLimits } from '../accounts/auth/limits.ts';
import type { Caller } from '../accounts/auth/permissions.ts';
import { tagsFor } from '../accounts/auth/tags.ts';
import type { ApiKey, KeyCalls } from '../accounts/keys/calls.ts';
import type { AudioSource } from '../api/audio-source.ts';
import { apiError } from '../api/errors.ts';
import type { JobDependencies } from '../files/job.ts';
import { filenameOf } from '../files/remote/remote-audio.ts';
import { ADDRESS } from '../files/routes/form.ts';
import { requestOf } from '../files/routes/read-upload.ts';
import { noRoom } from '../http/multipart/errors.ts';
import type { Form } from '../http/multipart/form.ts';
import type { SpoolBudget } from '../http/multipart/spool-file.ts';
import type { LedgerStore } from '../money/store/calls.ts';
import type { Asynchronous } from '../store/operation.ts';
import type { ShownFile, ShownJob } from '../vendors/compat/jobs.ts';
import { OWN_DIALECT } from './calls.ts';
import type { DetachedJobs, Work } from './detached-jobs.ts';
import { type FetchDependencies, fetchKept } from './fetch-kept.ts';
import type { JobFiles } from './job-files.ts';
import type { JobRecords, ResumedJob } from './job-records.ts';
import type { KeptFile } from './kept-files.ts';
import { type AskedInForm, askedOf, keptRequest, type OwnRequest, wholeFields } from './own-request.ts';
import type { Owner } from './owner.ts';
import { admitJob, type JobRequester, requireKey, transcribeKept } from './transcribe-kept.ts';

/** A job that its node did not survive so often is not begun again: it may be what ends the node. */
export const ATTEMPTS_MAX = 3;
const ADOPTED_AT_ONCE = 100;

export interface OwnJobsDependencies extends Omit<JobDependencies, 'settings' | 'http'>, FetchDependencies {
  settings: JobDependencies['settings'] & FetchDependencies['settings'];
  http: JobDependencies['http'];
  authenticator: Pick<Authenticator, 'holds'>;
  detachedJobs: DetachedJobs;
  /** Undefined where the node has no name: its next start would not find them. */
  jobFiles: JobFiles | undefined;
  jobRecords: Pick<JobRecords, 'adopt' | 'finish'>;
  limits: Pick<KeyLimits, 'takeFile'>;
  store: Pick<Asynchronous<KeyCalls>, 'findKey'> & Pick<LedgerStore, 'findSession'>;
  onJobFault(error: unknown): void;
  newRequestId(): string;
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

  constructor(dependencies: OwnJobsDependencies) {
    this.#dependencies = dependencies;
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
    const { keptFiles, jobFiles } = this.#dependencies;
    const owner = ownerOf(caller);
    const audio = jobFiles?.newName() ?? '';
    let leave = () => {};
    try {
      const held = await keptFiles.keep(owner, (budget) => read(budget, jobFiles?.pathOf(audio)));
      leave = held.leave;
      // It is the job's alone.
      keptFiles.remove(owner, held.file.id);
      const { form } = held.file;
      const asked = { ...readRequest(form), audio, contentType: form.file.contentType, audioUrl: undefined };
      const request = await this.#admitted(asked, { ...by, caller });
      await jobFiles?.sync(audio).catch((error: unknown) => {
        throw noRoom(error);
      });
      return await this.#begin(this.#workOf(held.file, request, { ...by, caller }, leave), caller, by);
    } catch (error) {
      leave();
      await jobFiles?.remove(audio).catch(this.#dependencies.onJobFault);
      throw error;
    }
  }

  /** Accepts a job whose audio is fetched when it runs: until then nothing is held but its address. Rejects with an ApiError. */
  async acceptAt(source: AudioSource, asked: AskedInForm, caller: Caller, by: JobCreator): Promise<ShownJob> {
    const { remoteAudio, wallNow } = this.#dependencies;
    const filename = filenameOf(remoteAudio.check(source, caller.organisationId));
    const at = { ...asked, audio: '', contentType: undefined, audioUrl: source.url };
    const request = await this.#admitted(at, { ...by, caller });
    const file = { id: '', filename, bytes: 0, createdAt: wallNow(), fields: NO_FIELDS };
    return this.#begin(this.#workAt(source.url, file, request, { ...by, caller }, false), caller, by);
  }

  /** With its tags, which stay as they are now. Refuses what a file would be refused for. */
  async #admitted(asked: Omit<OwnRequest, 'tags'>, by: JobRequester): Promise<OwnRequest> {
    // As it was sent: the work asks for all that any format needs.
    requestOf(asked.fields, this.#dependencies, by.caller.key);
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
      for (let jobs: ResumedJob[] | undefined; jobs === undefined || jobs.length === ADOPTED_AT_ONCE; ) {
        jobs = await jobRecords.adopt(ADOPTED_AT_ONCE, isAlone);
        for (const job of jobs) {
          audio.add(askedOf(job.asked).audio);
          await this.#resume(job).catch(onJobFault);
        }
      }
      await jobFiles?.removeEarlier(audio);
    } catch (error) {
      onJobFault(error);
    }
    return audio.size;
  }

  async #resume(job: ResumedJob): Promise<void> {
    const { jobRecords, jobFiles, detachedJobs, limits } = this.#dependencies;
    const { id, owner, attempts, createdAt, file } = job;
    const request = askedOf(job.asked);
    const keptMs = request.retentionSeconds * 1_000;
    const fail = async (why: string) => {
      await jobRecords.finish(owner, id, { type: 'failed', refusal: apiError('internal_error', why) }, keptMs);
      await jobFiles?.remove(request.audio);
    };
    if (attempts > ATTEMPTS_MAX) return fail(TOO_OFTEN);
    const key = await this.#keyOf(owner);
    if (key === undefined) return fail(NO_KEY);
    const caller: Caller = { organisationId: owner.organisationId, keyId: owner.keyId, key, via: 'key' };
    const by = { caller, requestId: this.#dependencies.newRequestId(), traceparent: undefined };
    const takePlace = () => limits.takeFile(key);
    if (request.audioUrl !== undefined)
      return detachedJobs.resume({ id, createdAt }, this.#workAt(request.audioUrl, file, request, by, true), takePlace);
    const bytes = await jobFiles?.sizeOf(request.audio);
    if (bytes === undefined) return fail(GONE);
    detachedJobs.resume({ id, createdAt }, this.#workAgain(file, bytes, request, by), takePlace);
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
      run: (jobId, onProgress) => this.#transcribe(jobId, file, request, { ...by, onProgress }, false, end.signal),
      ended: (isOver) => {
        leave();
        if (isOver) jobFiles?.remove(request.audio).catch(onJobFault);
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
      run: async (jobId, onProgress) => {
        const form = await jobFiles?.open(request.audio, { ...file, contentType: request.contentType });
        if (form === undefined) throw apiError('internal_error', GONE);
        const work = this.#transcribe(jobId, { form }, request, { ...by, onProgress }, true, end.signal);
        return work.finally(form.dispose);
      },
      ended: (isOver) => {
        spoolQuota.giveBack(organisationId, bytes);
        if (isOver) jobFiles?.remove(request.audio).catch(onJobFault);
      },
    };
  }

  #workAt(url: string, file: ShownFile, request: OwnRequest, by: JobRequester, isResumed: boolean): Work {
    const end = new AbortController();
    let fetched: Awaited<ReturnType<typeof fetchKept>> | undefined;
    return {
      ...workFor(request, by, end),
      file,
      run: async (jobId, onProgress) => {
        await requireKey(by, this.#dependencies);
        // Once, however often this node has no room for the work on it.
        fetched ??= await fetchKept({ url, param: ADDRESS }, ownerOf(by.caller), end.signal, this.#dependencies);
        if (end.signal.aborted) fetched.leave();
        end.signal.throwIfAborted();
        return this.#transcribe(jobId, fetched.file, request, { ...by, onProgress }, isResumed, end.signal);
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
   * The charge of an earlier start may have been closed with nothing, and takes no more then. One that was made before its transcript could
   * be stored is that of the job.
   */
  async #chargeOf(jobId: string, { organisationId }: Caller): Promise<string> {
    const { store } = this.#dependencies;
    for (let start = 1; ; start++) {
      const id = chargeIdOf(jobId, start);
      const record = await store.findSession(organisationId, id);
      if (record === undefined || record.endedAt === null || record.lines.length > 0) return id;
    }
  }
}

const workFor = (request: OwnRequest, { caller }: JobRequester, end: AbortController) => ({
  ...{ owner: ownerOf(caller), asked: keptRequest(request), end },
  ...{ isDurable: true, keptMs: request.retentionSeconds * 1_000 },
});

const NO_FIELDS: ReadonlyMap<string, string> = new Map();

const chargeIdOf = (jobId: string, start: number): string => `job_${jobId}${start === 1 ? '' : `_${start}`}`;

const TOO_OFTEN = `The node stopped ${ATTEMPTS_MAX} times while it worked on this job. Send the file again, or another form of it.`;
const NO_KEY = 'The API key of this job is gone.';
const GONE = 'The audio of this job is not on the disk of its node any more. Send the file again.';
