// The routes of files that are transcribed while nobody waits, for all dialects that have them.

import type { Authenticator } from '../../accounts/auth/authenticate.ts';
import type { KeyLimits } from '../../accounts/auth/limits.ts';
import type { Caller } from '../../accounts/auth/permissions.ts';
import { refuse } from '../../api/errors.ts';
import type { JobDependencies } from '../../files/job.ts';
import { lengthOf } from '../../files/money/length.ts';
import { readToKeep, requestOf, type UploadDependencies } from '../../files/routes/read-upload.ts';
import { warningHeader } from '../../files/routes/warnings.ts';
import type { DoorRequest, Reply } from '../../http/door.ts';
import { readJson } from '../../http/http/json-body.ts';
import type { FormLimits } from '../../http/multipart/form.ts';
import type { Route, RouteContext } from '../../http/router.ts';
import type { Degradation } from '../../live/failover/chain.ts';
import { limitedSignal } from '../../runtime/limited-signal.ts';
import type { Answer, Dialect } from '../../vendors/compat/dialect.ts';
import { dialects } from '../../vendors/compat/index.ts';
import type { JobEndpoint, JobMeans, JobRequest, ShownFile, ShownJob } from '../../vendors/compat/jobs.ts';
import { objectIn } from '../../vendors/kit/json.ts';
import { asForm } from '../as-form.ts';
import { captionsOf } from '../captions.ts';
import { ANSWER } from '../files.ts';
import { headerCredentialOf } from '../header-credential.ts';
import { inOwnNames, parametersFor, unmetOf } from '../live.ts';
import { addressOf, pathOf } from '../routes.ts';
import type { DetachedJobs } from './detached-jobs.ts';
import type { KeptFiles } from './kept-files.ts';
import type { Owner } from './owner.ts';
import { bytesOf, SHOWN_BYTES_MAX, shownAgain } from './shown-again.ts';
import { admit, transcribeKept } from './work.ts';

export interface JobRoutesDependencies extends JobDependencies, UploadDependencies {
  authenticator: Pick<Authenticator, 'holds'>;
  keptFiles: KeptFiles;
  detachedJobs: DetachedJobs;
  limits: Pick<KeyLimits, 'takeFile'>;
  jsonBodyBytesMax: number;
  settings: JobDependencies['settings'] & UploadDependencies['settings'];
  wallNow(): Date;
}

type Handler = (context: RouteContext, caller: Caller) => Promise<Reply>;
type Keyed = (handler: Handler, credentialOf: (request: DoorRequest) => string | undefined) => Route['handle'];

export const jobRoutes = (dependencies: JobRoutesDependencies, keyed: Keyed): Route[] =>
  dialects.flatMap((dialect) =>
    Object.entries(dialect.jobs ?? {}).map(([place, door]) => {
      const [method, path] = place.split(' ') as [string, string];
      return {
        method,
        path: pathOf(dialect, path),
        handle: keyed(
          (context, caller) => new Asked(dialect, context, caller, dependencies).answer(door),
          headerCredentialOf(dialect),
        ),
        refusal: dialect.refusal,
      };
    }),
  );

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
    const { request, requestId } = context;
    this.#dialect = dialect;
    this.#context = context;
    this.#caller = caller;
    this.#dependencies = dependencies;
    this.#owner = { organisationId: caller.organisationId, keyId: caller.keyId, dialect: dialect.name };
    this.#means = {
      query: new URLSearchParams(request.query),
      headers: request.headers,
      requestId,
      at: dependencies.wallNow(),
      url: (path) => addressOf(dialect, path, request, 'http'),
      captions: captionsOf,
    };
  }

  async answer(door: JobEndpoint): Promise<Answer> {
    const answered = await this.#answer(door);
    return { ...answered, headers: { ...warningHeader(this.#unmet), ...answered.headers } };
  }

  async #answer(door: JobEndpoint): Promise<Answer> {
    const { keptFiles, detachedJobs } = this.#dependencies;
    const means = this.#means;
    const owner = this.#owner;
    const { id = '' } = this.#context.params;
    switch (door.does) {
      case 'keep':
        return door.answer(await this.#keep(door), means);
      case 'ask':
        return door.answer(await this.#ask(door), means);
      case 'keepAndAsk':
        return door.answer(await this.#keepAndAsk(door), means);
      case 'show':
        return door.answer(detachedJobs.find(owner, id), means);
      case 'remove': {
        const job = detachedJobs.find(owner, id);
        const otherwise = door.unless?.(job, means);
        if (otherwise === undefined) detachedJobs.remove(owner, id);
        return otherwise ?? door.answer(job, means);
      }
      case 'list':
        return door.answer(detachedJobs.of(owner), means);
      case 'showFile':
        return door.answer(keptFiles.find(owner, id), means);
      case 'removeFile':
        return door.answer(keptFiles.remove(owner, id), means);
      case 'listFiles':
        return door.answer(keptFiles.of(owner), means);
    }
  }

  async #keep({ takes, isMeasured = false }: Extract<JobEndpoint, { does: 'keep' }>): Promise<ShownFile> {
    const { keptFiles, lengths } = this.#dependencies;
    const { file, leave } = await this.#read(takes);
    try {
      if (bytesOf(Object.fromEntries(file.fields)) > SHOWN_BYTES_MAX) throw refuse('invalid_request', TOO_MUCH_BESIDE);
      if (isMeasured) file.audio = await lengthOf(file.form.file, true, lengths, this.#owner.organisationId);
      return file;
    } catch (error) {
      keptFiles.remove(this.#owner, file.id);
      throw error;
    } finally {
      leave();
    }
  }

  async #ask(door: Extract<JobEndpoint, { does: 'ask' }>): Promise<ShownJob> {
    const body = objectIn(await readJson(this.#context.request, this.#dependencies.jsonBodyBytesMax));
    const clientRequest = door.open(body, this.#means);
    return this.#begin(this.#dependencies.keptFiles.hold(this.#owner, clientRequest.fileId), () => clientRequest);
  }

  /** The file is the job's alone. */
  async #keepAndAsk(door: Extract<JobEndpoint, { does: 'keepAndAsk' }>): Promise<ShownJob> {
    const opened = (fields: ReadonlyMap<string, string>) => door.open(fields, this.#means);
    const held = await this.#read({ part: door.part }, (fields) => void opened(new Map(fields)));
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
