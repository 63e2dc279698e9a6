// The routes of what clients of other vendors come back for: files, the jobs that transcribe them, and live sessions that have ended.
// The work of a job is that of `src/files/job.ts`, as for a client that waits, in a shape that all others can be made of.
import type { BlockList } from 'node:net';
import type { Authenticator } from '../../accounts/auth/authenticate.ts';
import type { KeyLimits } from '../../accounts/auth/limits.ts';
import type { Caller } from '../../accounts/auth/permissions.ts';
import type { AudioSource } from '../../api/audio-source.ts';
import { apiError } from '../../api/errors.ts';
import { twoFiles } from '../../api/not-served.ts';
import type { TranscriptionRequest } from '../../api/transcriptions.ts';
import type { JobDependencies } from '../../files/job.ts';
import { lengthOf } from '../../files/money/length.ts';
import { AudioElsewhere } from '../../files/remote/audio-elsewhere.ts';
import { filenameOf } from '../../files/remote/remote-audio.ts';
import { warningHeader } from '../../files/routes/answer.ts';
import { readToKeep, requestOf, type UploadDependencies } from '../../files/routes/read-upload.ts';
import { readJson } from '../../http/json-body.ts';
import type { FormLimits } from '../../http/multipart/form.ts';
import type { Field } from '../../http/multipart/form-fields.ts';
import type { Route, RouteContext } from '../../http/router.ts';
import type { Reply, ServerRequest } from '../../http/server.ts';
import type { DetachedJobs, Work } from '../../jobs/detached-jobs.ts';
import { fetchKept } from '../../jobs/fetch-kept.ts';
import { holderOf, newFileId } from '../../jobs/file-ids.ts';
import type { KeptFiles } from '../../jobs/kept-files.ts';
import type { Owner } from '../../jobs/owner.ts';
import { bytesOf, SHOWN_BYTES_MAX, shownAgain } from '../../jobs/shown-again.ts';
import { admitJob, type JobRequester, requireKey, transcribeKept } from '../../jobs/transcribe-kept.ts';
import type { Degradation } from '../../live/failover/chain.ts';
import { limitedSignal } from '../../runtime/timeouts.ts';
import type { Answer, Dialect } from '../../vendors/compat/dialect.ts';
import {
  type JobCallback,
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
import { checkedCallbackUrl } from '../../webhooks/url.ts';
import { asForm } from '../as-form.ts';
import { ANSWER, captionsOf } from '../files.ts';
import { inOwnNames, parametersFor, unmetOf } from '../parameters.ts';
import type { ReportedUpload, UploadToReport } from '../reported-upload.ts';
import { addressOf, dialectRoutes, type Keyed } from '../routes.ts';
import type { JobsElsewhere, JobsHere } from './elsewhere.ts';
import type { KeptSessions } from './kept-sessions.ts';

export interface JobRoutesDependencies extends JobDependencies, UploadDependencies {
  authenticator: Pick<Authenticator, 'holds'>;
  keptFiles: KeptFiles;
  detachedJobs: DetachedJobs;
  jobsElsewhere: Pick<JobsElsewhere, 'pass' | 'filesOf'>;
  /** Incarnation of this node. */
  node: string;
  limits: Pick<KeyLimits, 'takeFile'>;
  jsonBodyBytesMax: number;
  /** Private ones that callbacks may be sent to. */
  callbackNetworks: BlockList | undefined;
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

/** Not with tokens: who holds one of a key would have its jobs reported to an address of their own. */
export const reportedUpload =
  (dependencies: JobRoutesDependencies): ReportedUpload =>
  async (dialect, context, caller, upload) => {
    if (caller.via === 'token')
      throw apiError(
        'token_not_allowed',
        'A client token makes no jobs. Use an API key, or leave the address of the callback out.',
      );
    return new Asked(dialect, context, caller, dependencies).report(upload);
  };

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
  cancel: (owner, id) => dependencies.detachedJobs.cancelHere(owner, id),
  progressOf: (owner, id) => dependencies.detachedJobs.progressHere(owner, id),
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
/** Of all callbacks of a job, as JSON: they are kept with its request. */
const CALLBACKS_BYTES_MAX = 8 * 1024;
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

  /** Accepts a file whose client does not wait. */
  async report(upload: UploadToReport): Promise<Answer> {
    const { source, file, answer, ...asked } = upload;
    // Before the file is read.
    this.#requireReachable(asked);
    const at = await source();
    const job = at === undefined ? await this.#beginWith(file(), 'file', () => asked) : await this.#beginAt(at, asked);
    const answered = answer(job, this.#means);
    return { ...answered, headers: { ...warningHeader(this.#unmet), ...answered.headers } };
  }

  /** The addresses as they are connected to. Throws an ApiError for one that nothing may be sent to. */
  #requireReachable({ callbacks = [] }: Pick<JobRequest, 'callbacks'>): readonly JobCallback[] {
    const { callbackNetworks: networks } = this.#dependencies;
    const [first] = callbacks;
    const bytes = first === undefined ? 0 : Buffer.byteLength(JSON.stringify(callbacks));
    if (first !== undefined && bytes > CALLBACKS_BYTES_MAX)
      throw apiError(
        'invalid_request',
        `The addresses of callbacks and their headers have ${bytes} bytes as JSON. Send at most ${CALLBACKS_BYTES_MAX}.`,
        { param: first.param },
      );
    return callbacks.map((each) => ({ ...each, url: checkedCallbackUrl(each.url, networks, each.param) }));
  }

  /** The file of a form, which is the job's alone. */
  async #beginWith(
    form: ServerRequest,
    part: string,
    open: (held: Held) => JobRequest,
    withoutFile?: FormLimits['withoutFile'],
  ): Promise<ShownJob> {
    const held = await this.#read(form, part, withoutFile);
    this.#dependencies.keptFiles.remove(this.#owner, held.file.id);
    return this.#begin(held, () => open(held));
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
    const { request } = this.#context;
    const { file, leave } = await (takes === 'body'
      ? this.#read(asForm(request, []), 'file')
      : this.#read(request, takes.part));
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
    if ('source' in clientRequest) {
      const job = await this.#beginAt(clientRequest.source, clientRequest);
      return endpoint.answer(job, this.#means);
    }
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
    const withoutFile = (fields: readonly Field[]) => {
      const { source } = opened(new Map(fields));
      if (source !== undefined) throw new AudioElsewhere(source, fields);
    };
    try {
      const { request } = this.#context;
      const open = ({ file }: Held) => alone(opened(file.fields));
      return await this.#beginWith(request, endpoint.part, open, withoutFile);
    } catch (error) {
      if (!(error instanceof AudioElsewhere)) throw error;
      return this.#beginAt(error.source, opened(new Map(error.fields)));
    }
  }

  #read(form: ServerRequest, part: string, withoutFile?: FormLimits['withoutFile']): Promise<Held> {
    const { keptFiles, settings, http } = this.#dependencies;
    return keptFiles.keep(this.#owner, (budget) => {
      const limit = limitedSignal(http.clock, settings.timeoutMs, form.signal);
      const expected = { part, ...(withoutFile && { withoutFile }) };
      return readToKeep(form, limit, this.#dependencies, this.#owner, budget, expected).finally(limit.release);
    });
  }

  async #begin({ file, leave }: Held, open: () => JobRequest): Promise<ShownJob> {
    try {
      const by = this.#askedBy();
      const dependencies = this.#dependencies;
      const { id, filename, bytes, createdAt, audio } = file;
      // Not the file itself, which the job outlives, nor its fields, which may be large.
      const shown = { id, filename, bytes, createdAt, fields: NO_FIELDS, ...(audio === undefined ? {} : { audio }) };
      const charged = chargesOf(by);
      return await this.#detach(shown, open(), leave, (asked, signal) =>
        transcribeKept(file, asked, charged(), signal, dependencies),
      );
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** The file is fetched when the job runs: until then nothing is held but its address. */
  #beginAt(source: AudioSource, clientRequest: JobRequest): Promise<ShownJob> {
    const by = this.#askedBy();
    const owner = this.#owner;
    const dependencies = this.#dependencies;
    const { remoteAudio, node, wallNow } = dependencies;
    const filename = filenameOf(remoteAudio.check(source, owner.organisationId));
    const shown = { id: newFileId(node), filename, bytes: 0, createdAt: wallNow(), fields: NO_FIELDS };
    const charged = chargesOf(by);
    let fetched: Awaited<ReturnType<typeof fetchKept>> | undefined;
    return this.#detach(
      shown,
      clientRequest,
      () => fetched?.leave(),
      async (asked, signal) => {
        await requireKey(by, dependencies);
        // Once, however often this node has no room for the work on it.
        fetched ??= await fetchKept(source, owner, signal, dependencies);
        if (signal.aborted) fetched.leave();
        signal.throwIfAborted();
        return transcribeKept(fetched.file, asked, charged(), signal, dependencies);
      },
    );
  }

  /** What would be refused is refused here already, where the client can read it. */
  async #detach(
    file: ShownFile,
    clientRequest: JobRequest,
    ended: () => void,
    transcribe: (asked: TranscriptionRequest, signal: AbortSignal) => ReturnType<Work['run']>,
  ): Promise<ShownJob> {
    const { key } = this.#caller;
    const callbacks = this.#requireReachable(clientRequest);
    const { detachedJobs, limits } = this.#dependencies;
    const unmet = unmetOf(this.#dialect, clientRequest, key);
    this.#unmet = unmet;
    const asked = this.#requestOf(clientRequest);
    await admitJob(asked, this.#askedBy(), this.#dependencies);
    const end = new AbortController();
    const work = {
      ...{ owner: this.#owner, file, asked: shownAgain(clientRequest.asked), callbacks, end, ended },
      run: () => transcribe(asked, end.signal).then((heard) => warned(heard, unmet)),
    };
    return detachedJobs.begin(work, () => limits.takeFile(key));
  }

  #askedBy(): JobRequester {
    const { requestId, request } = this.#context;
    return { caller: this.#caller, requestId, traceparent: request.headers.get('traceparent') ?? undefined };
  }

  #requestOf(clientRequest: JobRequest) {
    const { key } = this.#caller;
    return requestOf([...parametersFor(this.#dialect, clientRequest, key), ...ANSWER], this.#dependencies, key);
  }
}

/** The charge of the next attempt at a job: the first one may have been ended at nothing, where its node had no room for it. */
function chargesOf(by: JobRequester): () => JobRequester {
  let attempts = 0;
  return () => (attempts++ === 0 ? by : { ...by, chargeId: `${by.requestId}_2` });
}

/** The file is that of the form. Throws an ApiError where an address came as well. */
function alone({ source, ...clientRequest }: JobRequest & { source?: AudioSource }): JobRequest {
  if (source !== undefined) throw apiError('invalid_request', twoFiles(source.param), { param: source.param });
  return clientRequest;
}

type Heard = Awaited<ReturnType<typeof transcribeKept>>;

/** With what of the client's own words is not done. */
function warned(heard: Heard, unmet: readonly Degradation[]): Heard {
  const warnings = [...unmet, ...inOwnNames(heard.transcription.warnings ?? [])];
  return warnings.length === 0 ? heard : { ...heard, transcription: { ...heard.transcription, warnings } };
}
