// The routes of what clients of other vendors come back for: files, the jobs that transcribe them, and live sessions that have ended.
// The work of a job is that of `src/files/job.ts`, as for a client that waits, in a shape that all others can be made of.
import type { Authenticator } from '../../accounts/auth/authenticate.ts';
import type { KeyLimits } from '../../accounts/auth/limits.ts';
import {
  type Caller,
  isUnlimited,
  lastResortFor,
  requireModels,
  residencyRulesOf,
} from '../../accounts/auth/permissions.ts';
import { apiError } from '../../api/errors.ts';
import type { TranscriptionRequest } from '../../api/transcriptions.ts';
import { verboseTranscriptionOf } from '../../files/answers.ts';
import { FileJob, type JobDependencies } from '../../files/job.ts';
import { lengthOf } from '../../files/money/length.ts';
import { warningHeader } from '../../files/routes/answer.ts';
import { readToKeep, requestOf, type UploadDependencies } from '../../files/routes/read-upload.ts';
import type { EarlyAnswer, Upload } from '../../files/upload.ts';
import { readJson } from '../../http/json-body.ts';
import type { FormLimits } from '../../http/multipart/form.ts';
import type { Route, RouteContext } from '../../http/router.ts';
import type { Reply } from '../../http/server.ts';
import type { Degradation } from '../../live/failover/chain.ts';
import { limitedSignal } from '../../runtime/timeouts.ts';
import type { Answer, Dialect } from '../../vendors/compat/dialect.ts';
import {
  type JobEndpoint,
  type JobMeans,
  type JobRequest,
  newestFirst,
  type SessionEndpoint,
  type ShownFile,
  type ShownJob,
} from '../../vendors/compat/jobs.ts';
import { dialects } from '../../vendors/dialects.ts';
import { objectIn } from '../../vendors/kit/json.ts';
import { asForm } from '../as-form.ts';
import { ANSWER, captionsOf } from '../files.ts';
import { inOwnNames, parametersFor, unmetOf } from '../parameters.ts';
import { addressOf, dialectRoutes, type Keyed } from '../routes.ts';
import type { DetachedJobs, Work } from './detached-jobs.ts';
import type { JobsElsewhere, JobsHere } from './elsewhere.ts';
import { holderOf } from './file-ids.ts';
import type { KeptFile, KeptFiles } from './kept-files.ts';
import { bytesOf, SHOWN_BYTES_MAX, shownAgain } from './kept-jobs.ts';
import type { KeptSessions } from './kept-sessions.ts';
import type { Owner } from './owner.ts';

export interface JobRoutesDependencies extends JobDependencies, UploadDependencies {
  authenticator: Pick<Authenticator, 'holds'>;
  keptFiles: KeptFiles;
  detachedJobs: DetachedJobs;
  jobsElsewhere: Pick<JobsElsewhere, 'pass' | 'filesOf'>;
  /** Incarnation of this node. */
  node: string;
  limits: Pick<KeyLimits, 'takeFile'>;
  jsonBodyBytesMax: number;
  settings: JobDependencies['settings'] & UploadDependencies['settings'];
  wallNow(): Date;
}

export interface SessionRoutesDependencies {
  keptSessions: KeptSessions;
  wallNow(): Date;
}

export const jobRoutes = (dependencies: JobRoutesDependencies, keyed: Keyed): Route[] =>
  dialectRoutes(
    ({ jobs }) => jobs,
    (endpoint, dialect) => (context, caller) => new Asked(dialect, context, caller, dependencies).answer(endpoint),
    keyed,
  );

/** What this node does for others that were asked for files of its disk. */
export const jobsHere = (dependencies: JobRoutesDependencies): JobsHere => ({
  async answer(name, place, context, caller) {
    const dialect = dialects.find((each) => each.name === name);
    const endpoint = Object.hasOwn(dialect?.jobs ?? {}, place) ? dialect?.jobs?.[place] : undefined;
    if (dialect === undefined || endpoint === undefined) throw apiError('not_found', 'There is no such endpoint.');
    return new Asked(dialect, context, caller, dependencies).answer(endpoint);
  },
  filesOf: (owner) => dependencies.keptFiles.of(owner),
  end: (owner, id) => dependencies.detachedJobs.end(owner, id),
});

export const sessionRoutes = ({ keptSessions, wallNow }: SessionRoutesDependencies, keyed: Keyed): Route[] =>
  dialectRoutes(
    ({ sessions }) => sessions,
    (endpoint, dialect) => (context, caller) =>
      answerAbout(endpoint, context, ownerOf(dialect, caller), keptSessions, meansOf(dialect, context, wallNow())),
    keyed,
  );

const ownerOf = ({ name }: Dialect, { organisationId, keyId }: Caller): Owner => ({
  organisationId,
  keyId,
  dialect: name,
});

const meansOf = (dialect: Dialect, { request, requestId }: RouteContext, at: Date): JobMeans => ({
  query: new URLSearchParams(request.query),
  headers: request.headers,
  requestId,
  at,
  url: (path) => addressOf(dialect, path, request, 'http'),
  captions: captionsOf,
});

async function answerAbout(
  endpoint: SessionEndpoint,
  { params: { id = '' } }: RouteContext,
  owner: Owner,
  kept: KeptSessions,
  means: JobMeans,
): Promise<Reply> {
  if (endpoint.does === 'list') return endpoint.answer(kept.of(owner), means);
  const session = kept.find(owner, id);
  if (endpoint.does === 'remove') kept.remove(owner, id);
  return endpoint.answer(session, means);
}

interface Held {
  file: ReturnType<KeptFiles['find']>;
  leave(): void;
}

const NO_FIELDS: ReadonlyMap<string, string> = new Map();
const TOO_MUCH_BESIDE = `The fields beside the file have more than ${SHOWN_BYTES_MAX} bytes. Send less.`;

/** One request. */
class Asked {
  readonly #dialect: Dialect;
  readonly #context: RouteContext;
  readonly #caller: Caller;
  readonly #dependencies: JobRoutesDependencies;
  readonly #owner: Owner;
  readonly #means: JobMeans;
  /** What of the request is not done. */
  #unmet: readonly Degradation[] = [];

  constructor(dialect: Dialect, context: RouteContext, caller: Caller, dependencies: JobRoutesDependencies) {
    this.#dialect = dialect;
    this.#context = context;
    this.#caller = caller;
    this.#dependencies = dependencies;
    this.#owner = ownerOf(dialect, caller);
    this.#means = meansOf(dialect, context, dependencies.wallNow());
  }

  async answer(endpoint: JobEndpoint): Promise<Answer> {
    const answered = await this.#answer(endpoint);
    return { ...answered, headers: { ...warningHeader(this.#unmet), ...answered.headers } };
  }

  async #answer(endpoint: JobEndpoint): Promise<Answer> {
    const { keptFiles, detachedJobs, jobsElsewhere } = this.#dependencies;
    const means = this.#means;
    const owner = this.#owner;
    const { id = '' } = this.#context.params;
    switch (endpoint.does) {
      case 'keep':
        return endpoint.answer(await this.#keep(endpoint), means);
      case 'ask':
        return this.#ask(endpoint);
      case 'keepAndAsk':
        return endpoint.answer(await this.#keepAndAsk(endpoint), means);
      case 'show':
        return endpoint.answer(await detachedJobs.find(owner, id), means);
      case 'remove': {
        const job = await detachedJobs.find(owner, id);
        const otherwise = endpoint.unless?.(job, means);
        if (otherwise === undefined) await detachedJobs.remove(owner, id);
        return otherwise ?? endpoint.answer(job, means);
      }
      case 'list':
        return endpoint.answer(await detachedJobs.of(owner), means);
      case 'showFile':
        return this.#passedOn(endpoint, id) ?? endpoint.answer(keptFiles.find(owner, id), means);
      case 'removeFile':
        return this.#passedOn(endpoint, id) ?? endpoint.answer(keptFiles.remove(owner, id), means);
      case 'listFiles': {
        const files = [...keptFiles.of(owner), ...(await jobsElsewhere.filesOf(owner))];
        return endpoint.answer(files.sort(newestFirst), means);
      }
    }
  }

  async #keep({ takes, isMeasured = false }: Extract<JobEndpoint, { does: 'keep' }>): Promise<ShownFile> {
    const { keptFiles, lengths } = this.#dependencies;
    const { file, leave } = await this.#read(takes);
    try {
      if (bytesOf(Object.fromEntries(file.fields)) > SHOWN_BYTES_MAX)
        throw apiError('invalid_request', TOO_MUCH_BESIDE);
      if (isMeasured) file.audio = await lengthOf(file.form.file, true, lengths, this.#owner.organisationId);
      return file;
    } catch (error) {
      keptFiles.remove(this.#owner, file.id);
      throw error;
    } finally {
      leave();
    }
  }

  async #ask(endpoint: Extract<JobEndpoint, { does: 'ask' }>): Promise<Answer> {
    const { keptFiles, jsonBodyBytesMax } = this.#dependencies;
    const body = objectIn(await readJson(this.#context.request, jsonBodyBytesMax));
    const clientRequest = endpoint.open(body, this.#means);
    const passedOn = this.#passedOn(endpoint, clientRequest.fileId, body);
    if (passedOn !== undefined) return passedOn;
    const job = await this.#begin(keptFiles.hold(this.#owner, clientRequest.fileId), () => clientRequest);
    return endpoint.answer(job, this.#means);
  }

  /** The answer of the node that has the file; undefined where that is this one. */
  #passedOn(endpoint: JobEndpoint, fileId: string, body?: unknown): Promise<Answer> | undefined {
    const { jobsElsewhere, node } = this.#dependencies;
    const holder = holderOf(fileId);
    if (holder === undefined || holder === node) return undefined;
    const { name, jobs = {} } = this.#dialect;
    const [place] = Object.entries(jobs).find(([, each]) => each === endpoint) as [string, JobEndpoint];
    return jobsElsewhere.pass(holder, [name, place], this.#context, this.#caller, body);
  }

  /** The file is the job's alone. */
  async #keepAndAsk(endpoint: Extract<JobEndpoint, { does: 'keepAndAsk' }>): Promise<ShownJob> {
    const opened = (fields: ReadonlyMap<string, string>) => endpoint.open(fields, this.#means);
    const held = await this.#read({ part: endpoint.part }, (fields) => void opened(new Map(fields)));
    this.#dependencies.keptFiles.remove(this.#owner, held.file.id);
    return this.#begin(held, () => opened(held.file.fields));
  }

  #read(
    takes: Extract<JobEndpoint, { does: 'keep' }>['takes'],
    withoutFile?: FormLimits['withoutFile'],
  ): Promise<Held> {
    const { keptFiles, settings, http } = this.#dependencies;
    const { request } = this.#context;
    return keptFiles.keep(this.#owner, (budget) => {
      const limit = limitedSignal(http.clock, settings.timeoutMs, request.signal);
      const [form, part] = takes === 'body' ? [asForm(request, []), 'file'] : [request, takes.part];
      const expected = { part, ...(withoutFile && { withoutFile }) };
      return readToKeep(form, limit, this.#dependencies, this.#owner, budget, expected).finally(limit.release);
    });
  }

  /** What would be refused is refused here already, where the client can read it. */
  async #begin({ file, leave }: Held, open: () => JobRequest): Promise<ShownJob> {
    const { requestId, request } = this.#context;
    const dependencies = this.#dependencies;
    const caller = this.#caller;
    const by = { caller, requestId, traceparent: request.headers.get('traceparent') ?? undefined };
    const end = new AbortController();
    try {
      const clientRequest = open();
      const unmet = unmetOf(this.#dialect, clientRequest, caller.key);
      this.#unmet = unmet;
      const asked = this.#requestOf(clientRequest);
      await admit(asked, by, dependencies);
      const { id, filename, bytes, createdAt, audio } = file;
      const work = {
        // Not the file itself, which the job outlives, nor its fields, which may be large.
        file: { id, filename, bytes, createdAt, fields: NO_FIELDS, ...(audio === undefined ? {} : { audio }) },
        ...{ owner: this.#owner, asked: shownAgain(clientRequest.asked), end, ended: leave },
        run: () => transcribeKept(file, asked, by, end.signal, dependencies).then((heard) => warned(heard, unmet)),
      };
      return await dependencies.detachedJobs.begin(work, () => dependencies.limits.takeFile(caller.key));
    } catch (error) {
      leave();
      throw error;
    }
  }

  #requestOf(clientRequest: JobRequest) {
    const { key } = this.#caller;
    return requestOf([...parametersFor(this.#dialect, clientRequest, key), ...ANSWER], this.#dependencies, key);
  }
}

type Heard = Awaited<ReturnType<typeof transcribeKept>>;

/** With what of the client's own words is not done. */
function warned(heard: Heard, unmet: readonly Degradation[]): Heard {
  const warnings = [...unmet, ...inOwnNames(heard.transcription.warnings ?? [])];
  return warnings.length === 0 ? heard : { ...heard, transcription: { ...heard.transcription, warnings } };
}

const NOTHING_EARLY: EarlyAnswer = { heard: () => {}, isBegun: false };

/** The request that asked for the job. */
interface AskedBy {
  caller: Caller;
  requestId: string;
  traceparent: string | undefined;
}

/** Rejects with an ApiError where models, permissions or credit do not allow it. */
async function admit(request: TranscriptionRequest, by: AskedBy, dependencies: JobDependencies): Promise<void> {
  await fileJob(by, new AbortController().signal, dependencies).admit(request);
}

export async function transcribeKept(
  file: KeptFile,
  request: TranscriptionRequest,
  by: AskedBy,
  signal: AbortSignal,
  dependencies: Pick<JobRoutesDependencies, 'authenticator'> & JobDependencies,
): ReturnType<Work['run']> {
  const { requestId, traceparent, caller } = by;
  // It may have waited for its turn.
  if (!(await dependencies.authenticator.holds(caller, 'transcribe')))
    throw apiError('key_revoked', 'The API key of this job may not transcribe files any more.');
  const { organisationId } = caller;
  const observer = dependencies.observeFile?.({ requestId, organisationId, traceparent });
  const job = fileJob(by, signal, dependencies, observer);
  const { result } = await job.run(async () => uploadOf(file, request));
  return { transcription: verboseTranscriptionOf(result, requestId) };
}

const fileJob = (
  { caller, requestId }: AskedBy,
  client: AbortSignal,
  dependencies: JobDependencies,
  observer?: ConstructorParameters<typeof FileJob>[1]['observer'],
): FileJob =>
  new FileJob(dependencies, {
    requestId,
    organisationId: caller.organisationId,
    keyId: caller.keyId,
    isUnlimited: isUnlimited(caller),
    requireModels: (slugs) => requireModels(caller, slugs),
    lastResort: lastResortFor(caller, dependencies.lastResort),
    rulesOf: (asked) => residencyRulesOf(caller, asked),
    client,
    early: NOTHING_EARLY,
    chargeId: requestId,
    outlivesClient: false,
    observer,
  });

/** It is here whole; who keeps it releases it. */
function uploadOf({ form }: KeptFile, request: TranscriptionRequest): Upload {
  const upload: Upload = {
    request,
    file: form.file,
    whole: Promise.resolve().then(() => upload),
    leaveFile: () => {},
    dispose: () => {},
  };
  return upload;
}
