// `/v1/jobs`: accepts a file for transcription in the background, and shows the job on any node.
import { createHash } from 'node:crypto';
import type { Caller } from '../accounts/auth/permissions.ts';
import { readBody } from '../accounts/console-login/console-route.ts';
import { readBooleanIn } from '../api/boolean.ts';
import { EmptyBody } from '../api/console/console.ts';
import { ApiError, apiError } from '../api/errors.ts';
import { JOB_STATUSES, JOBS_LIMIT, type JobList, type JobStatus } from '../api/jobs.ts';
import { hasTag, readTag } from '../api/tags.ts';
import { ResponseFormat } from '../api/transcriptions.ts';
import { AudioElsewhere } from '../files/remote/audio-elsewhere.ts';
import type { TranscriptionsDependencies } from '../files/routes/index.ts';
import { printOf, readSentToKeep, readWithoutFile } from '../files/routes/read-upload.ts';
import { FormFingerprint, type IdempotentWork, readIdempotencyKey } from '../http/idempotency.ts';
import { refuseContentEncoding } from '../http/multipart/parts.ts';
import { choiceOf, knownQuery, timeOf, wholeNumberOf } from '../http/query.ts';
import { json, type RouteContext } from '../http/router.ts';
import type { Reply, ServerRequest, WholeReply } from '../http/server.ts';
import { limitedSignal } from '../runtime/timeouts.ts';
import type { ShownJob } from '../vendors/compat/jobs.ts';
import { jobAnswer, resultIn, statusOf } from './answers.ts';
import type { JobStage } from './calls.ts';
import type { DetachedJobs } from './detached-jobs.ts';
import type { WantedJobs } from './job-records.ts';
import { type OwnJobs, ownerOf } from './own-jobs.ts';
import { askedOf, readOwnRequest } from './own-request.ts';

const JOBS = '/v1/jobs';

export interface OwnJobRoutesDependencies extends TranscriptionsDependencies {
  ownJobs: Pick<OwnJobs, 'accept' | 'acceptAt'>;
  detachedJobs: DetachedJobs;
}

/** The same for both endpoints that make jobs. */
const newPrint = () => new FormFingerprint('POST', JOBS);

type Handler = (context: RouteContext, caller: Caller) => Promise<Reply>;

/** By `GET /path`. */
export const ownJobHandlers = (dependencies: OwnJobRoutesDependencies): Readonly<Record<string, Handler>> => ({
  'POST /v1/jobs': (context, caller) => {
    knownQuery(context.request.query, JOBS, []);
    return postJob(dependencies)(context, caller);
  },
  'GET /v1/jobs': getJobs(dependencies),
  'GET /v1/jobs/:id': getJob(dependencies),
  'GET /v1/jobs/:id/result': getResult(dependencies),
  'POST /v1/jobs/:id/cancel': cancelJob(dependencies),
  'DELETE /v1/jobs/:id': deleteJob(dependencies),
});

/** Of files: with `async=true` in the query, one becomes a job. Not with tokens: who holds one of a key would see all of its transcripts. */
export const unlessAsync = (transcribe: Handler, dependencies: OwnJobRoutesDependencies): Handler => {
  const post = postJob(dependencies);
  return async (context, caller) => {
    const asked = new URLSearchParams(context.request.query).get('async');
    if (asked === null || !readBooleanIn('async', asked)) return transcribe(context, caller);
    if (caller.via === 'token')
      throw apiError('token_not_allowed', 'A client token cannot create jobs. Use an API key, or leave `async` out.');
    return post(context, caller);
  };
};

/** 202 with the job. Under an idempotency key one request makes one job. */
const postJob =
  (dependencies: OwnJobRoutesDependencies): Handler =>
  async (context, caller) => {
    const { request, requestId } = context;
    refuseContentEncoding(request.headers);
    const key = readIdempotencyKey(request.headers);
    if (key === undefined) return (await accepted(context, caller, dependencies)).reply;
    const begun = await dependencies.idempotency.begin(caller.organisationId, key, requestId, request.signal);
    if (begun.type === 'work') return acceptedOnce(context, caller, begun.work, dependencies);
    return begun.before.replyTo(await digestOf(request, caller, dependencies));
  };

async function accepted(
  { request, requestId }: RouteContext,
  caller: Caller,
  dependencies: OwnJobRoutesDependencies,
  print?: FormFingerprint,
  jobId?: string,
): Promise<{ reply: WholeReply; digest: Uint8Array | undefined }> {
  const { ownJobs, settings, http } = dependencies;
  const by = { requestId, traceparent: request.headers.get('traceparent'), ...(jobId === undefined ? {} : { jobId }) };
  let digest: Uint8Array | undefined;
  const read: Parameters<OwnJobs['accept']>[2] = (budget, keptAs) => {
    const limit = limitedSignal(http.clock, settings.timeoutMs, request.signal);
    const onFile = print && ((chunk: Uint8Array) => print.file(chunk));
    const more = { ...(keptAs === undefined ? {} : { keptAs }), ...(onFile && { onFile }) };
    return readSentToKeep(request, limit, dependencies, caller, budget, more).finally(limit.release);
  };
  const accept = async () => {
    try {
      return await ownJobs.accept(caller, by, read, ({ fields, file: { contentType } }) => {
        digest = print?.digest(fields, contentType);
        return readOwnRequest(fields);
      });
    } catch (error) {
      if (!(error instanceof AudioElsewhere)) throw error;
      const { source, fields } = error;
      print?.file(printOf(source));
      digest = print?.digest(fields, undefined);
      return ownJobs.acceptAt(source, readOwnRequest(fields, source.url), caller, by);
    }
  };
  return { reply: accepting(await accept(), requestId), digest };
}

const accepting = (job: ShownJob, requestId: string): WholeReply =>
  json(202, jobAnswer(job, requestId, false), { Location: `/v1/jobs/${job.id}` });

async function acceptedOnce(
  context: RouteContext,
  caller: Caller,
  work: IdempotentWork,
  dependencies: OwnJobRoutesDependencies,
): Promise<WholeReply> {
  const print = newPrint();
  const jobId = jobIdOf(work.chargeId);
  try {
    const made = await madeBefore(context, caller, work, jobId, dependencies);
    const { reply, digest } = made ?? (await accepted(context, caller, dependencies, print, jobId));
    await work.finish(digest as Uint8Array, reply);
    return reply;
  } catch (error) {
    await work.release();
    throw error;
  }
}

/** The same for all attempts under an idempotency key. */
function jobIdOf(chargeId: string): string {
  const hash = createHash('sha256').update(`job ${chargeId}`).digest('hex');
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(12, 15)}`,
    `a${hash.slice(15, 18)}`,
    hash.slice(18, 30),
  ].join('-');
}

/** The job of an earlier attempt whose process was killed before it could say so; undefined where there is none. */
async function madeBefore(
  { request, requestId }: RouteContext,
  caller: Caller,
  { chargeId }: IdempotentWork,
  jobId: string,
  dependencies: OwnJobRoutesDependencies,
): Promise<{ reply: WholeReply; digest: Uint8Array } | undefined> {
  if (chargeId === requestId) return undefined;
  const job = await dependencies.detachedJobs.find(ownerOf(caller), jobId).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'not_found') return undefined;
    throw error;
  });
  if (job === undefined) return undefined;
  return { reply: accepting(job, requestId), digest: await digestOf(request, caller, dependencies) };
}

/** Of a request whose file is not kept. */
async function digestOf(
  request: ServerRequest,
  caller: Caller,
  dependencies: OwnJobRoutesDependencies,
): Promise<Uint8Array> {
  const print = newPrint();
  const limit = limitedSignal(dependencies.http.clock, dependencies.settings.timeoutMs, request.signal);
  const reading = readWithoutFile(request, limit, dependencies, caller.key, (chunk) => print.file(chunk));
  const sent = await reading.finally(limit.release);
  return print.digest(sent.fields, sent.contentType);
}

const getJobs =
  ({ detachedJobs }: OwnJobRoutesDependencies): Handler =>
  async ({ request, requestId }, caller) => {
    const query = knownQuery(request.query, '/v1/jobs', ['limit', 'before', 'status', 'from', 'to', 'tag']);
    const limit = wholeNumberOf(query, 'limit', JOBS_LIMIT);
    const wanted = { limit, before: query.get('before'), ...wantedIn(query) };
    const { jobs, hasMore } = await detachedJobs.page(ownerOf(caller), wanted);
    const answer: JobList = {
      object: 'list',
      data: jobs.map((job) => jobAnswer(job, requestId, false)),
      has_more: hasMore,
      next: hasMore ? (jobs.at(-1)?.id ?? null) : null,
    };
    return json(200, answer);
  };

/** What a job is in the store while it is shown with a status. */
const STAGES: Readonly<Record<JobStatus, readonly JobStage[]>> = {
  queued: ['queued'],
  processing: ['processing'],
  completed: ['done'],
  failed: ['failed'],
  cancelled: ['failed'],
};

/** The jobs that a query asks for. A completed one whose transcript cannot be read any more is shown as failed, and found without a status. */
export function wantedIn(
  query: ReadonlyMap<string, string>,
): Pick<WantedJobs, 'fromMs' | 'toMs' | 'stages' | 'isWanted'> {
  const status = JOB_STATUSES.find((each) => each === query.get('status'));
  if (query.has('status') && status === undefined)
    throw apiError(
      'invalid_request',
      `\`status\` is one of ${JOB_STATUSES.join(', ')}. Without it, all jobs are listed.`,
      {
        param: 'status',
      },
    );
  const [fromMs = Number.NEGATIVE_INFINITY, toMs = Number.POSITIVE_INFINITY] = ['from', 'to'].map((name) =>
    timeOf(query, name),
  );
  if (fromMs >= toMs)
    throw apiError('invalid_request', '`from` is not before `to`. Swap them, or leave one out.', { param: 'from' });
  const tag = query.has('tag') ? readTag(query.get('tag') ?? '') : undefined;
  const isWanted = (job: ShownJob): boolean =>
    (status === undefined || statusOf(job) === status) && (tag === undefined || hasTag(askedOf(job.asked).tags, tag));
  const isNarrowed = status !== undefined || tag !== undefined;
  return { fromMs, toMs, stages: status && STAGES[status], isWanted: isNarrowed ? isWanted : undefined };
}

const getJob =
  ({ detachedJobs }: OwnJobRoutesDependencies): Handler =>
  async ({ request, requestId, params: { id = '' } }, caller) => {
    knownQuery(request.query, '/v1/jobs/{id}', []);
    const owner = ownerOf(caller);
    const job = await detachedJobs.find(owner, id);
    return json(200, jobAnswer(job, requestId, true, await detachedJobs.progressOf(owner, job)));
  };

/** What `/v1/audio/transcriptions` would have answered. */
const getResult =
  ({ detachedJobs }: OwnJobRoutesDependencies): Handler =>
  async ({ request, params: { id = '' } }, caller) => {
    const query = knownQuery(request.query, '/v1/jobs/{id}/result', ['format']);
    const job = await detachedJobs.find(ownerOf(caller), id);
    const usual = askedOf(job.asked).responseFormat;
    const formats = ResponseFormat.anyOf.map((each) => each.const).filter((each) => each !== usual);
    const format = choiceOf(query, 'format', [usual, ...formats]);
    if (job.state.type === 'failed') throw job.state.refusal;
    if (job.state.type === 'done') return resultIn(format, job.state.heard.transcription);
    throw apiError('job_not_over', `The job is ${statusOf(job)}, so it has no result yet. Try again later.`, {
      retryAfterSeconds: 2,
    });
  };

const cancelJob =
  ({ detachedJobs }: OwnJobRoutesDependencies): Handler =>
  async ({ request, requestId, params: { id = '' } }, caller) => {
    knownQuery(request.query, '/v1/jobs/{id}/cancel', []);
    await readBody(request, EmptyBody);
    return json(200, jobAnswer(await detachedJobs.cancel(ownerOf(caller), id), requestId, false));
  };

const deleteJob =
  ({ detachedJobs }: OwnJobRoutesDependencies): Handler =>
  async ({ request, params: { id = '' } }, caller) => {
    knownQuery(request.query, '/v1/jobs/{id}', []);
    await readBody(request, EmptyBody);
    await detachedJobs.remove(ownerOf(caller), id);
    return { status: 204 };
  };
