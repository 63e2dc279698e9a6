// `POST /v1/audio/transcriptions`: does the work of a form once for each idempotency key, and gives those who ask again the same
// answer. The work is src/files/job.ts; who waits for whom is decided by idempotency.ts.

import type { KeyLimits } from '../../accounts/auth/limits.ts';
import {
  allowsModel,
  type Caller,
  isUnlimited,
  lastResortFor,
  redactedFor,
  replacementsFor,
  requireLanguages,
  requireModels,
  residencyRulesOf,
  spendOf,
} from '../../accounts/auth/permissions.ts';
import { AUTO } from '../../api/choice.ts';
import { ApiError, type ErrorCode } from '../../api/errors.ts';
import type { TranscriptionRequest } from '../../api/transcriptions.ts';
import {
  type EarlierAnswer,
  FormFingerprint,
  type Idempotency,
  type IdempotentWork,
  readIdempotencyKey,
} from '../../http/idempotency.ts';
import { refuseContentEncoding } from '../../http/multipart/parts.ts';
import type { RouteContext } from '../../http/router.ts';
import type { Reply, WholeReply } from '../../http/server.ts';
import type { Degradation } from '../../live/failover/chain.ts';
import { limitedSignal } from '../../runtime/timeouts.ts';
import { chainOf, FileJob, type JobDependencies } from '../job.ts';
import { AnswerStream, answerOf } from './answer.ts';
import { readUpload, readWithoutFile, requestOf, type SentForm, type UploadDependencies } from './read-upload.ts';

export interface TranscriptionsDependencies extends JobDependencies, UploadDependencies {
  idempotency: Idempotency;
  /** How many files may be in progress. */
  limits: Pick<KeyLimits, 'takeFile'>;
  settings: JobDependencies['settings'] & UploadDependencies['settings'];
  /** Of the fields as their client calls them; known once they are read. */
  ownWarnings?(): readonly Degradation[];
}

/**
 * The handler. With `stream=true` the answer is server-sent events: `transcript.text.delta` for each utterance, with
 * `diarization` a `transcript.text.segment` behind it, and `transcript.text.done` when the money is settled. A model that is
 * heard live gives its deltas as it says them, once the form is whole and where no other model of the request is left to take
 * over; after the first of them nothing is tried again. All others give theirs together with the end. What fails before the
 * first delta is refused as ever; what fails behind it is an `error` event, and the connection is cut.
 */
export const postTranscriptions = (dependencies: TranscriptionsDependencies) => {
  return async (context: RouteContext, caller: Caller): Promise<Reply> => {
    const { request, requestId } = context;
    refuseContentEncoding(request.headers);
    const key = readIdempotencyKey(request.headers);
    const stream = new AnswerStream(requestId, dependencies.ownWarnings);
    if (key === undefined) {
      const job = jobOf(context, caller, { chargeId: requestId, outlivesClient: false }, stream, dependencies);
      return stream.answer(answered(job, context, caller, dependencies).then(({ reply }) => reply));
    }
    const begun = await dependencies.idempotency.begin(caller.organisationId, key, requestId, request.signal);
    if (begun.type === 'done') return answerAgain(context, caller, begun.before, dependencies);
    return stream.answer(workOnce(context, caller, begun.work, stream, dependencies));
  };
};

const jobOf = (
  { request, requestId }: RouteContext,
  caller: Caller,
  more: { chargeId: string; outlivesClient: boolean },
  early: AnswerStream,
  dependencies: JobDependencies,
): FileJob => {
  const { organisationId } = caller;
  const traceparent = request.headers.get('traceparent') ?? undefined;
  return new FileJob(dependencies, {
    requestId,
    organisationId,
    observer: dependencies.observeFile?.({ requestId, organisationId, traceparent }),
    keyId: caller.keyId,
    isUnlimited: isUnlimited(caller),
    hasCeilings: caller.key.hasCeilings,
    requireModels: (slugs) => requireModels(caller, slugs),
    allowsModel: (slug) => allowsModel(caller, slug),
    requireLanguages: (asked) => requireLanguages(caller, asked),
    limits: spendOf(caller),
    lastResort: lastResortFor(caller, dependencies.lastResort),
    rulesOf: (asked) => residencyRulesOf(caller, asked),
    redacted: redactedFor(caller),
    replacements: replacementsFor(caller),
    tagged: caller,
    client: request.signal,
    early,
    ...more,
  });
};

/** Does a job. Gives its answer and what the client sent, all of which is here then. */
async function answered(
  job: FileJob,
  { request, requestId }: RouteContext,
  caller: Caller,
  dependencies: TranscriptionsDependencies,
  onFile?: (chunk: Uint8Array) => void,
): Promise<{ reply: WholeReply; sent: SentForm; redacted: TranscriptionRequest['redacted'] }> {
  // Held until the work is over, whether the client is there or not.
  const release = await dependencies.limits.takeFile(caller.key);
  try {
    const { result, upload } = await job.run(readUpload(request, dependencies, caller.key, onFile, spendOf(caller)));
    const warnings = [...(dependencies.ownWarnings?.() ?? []), ...result.warnings];
    const redacted = redactedFor(caller, result.request.redacted);
    return { reply: answerOf({ ...result, warnings }, requestId), sent: upload.sent, redacted };
  } finally {
    release();
  }
}

/** The work under an idempotency key: its answer is kept. A failure frees the key, unless it may have been charged. */
async function workOnce(
  context: RouteContext,
  caller: Caller,
  work: IdempotentWork,
  stream: AnswerStream,
  dependencies: TranscriptionsDependencies,
): Promise<WholeReply> {
  const { method, path } = context.request;
  const print = new FormFingerprint(method, path);
  const job = jobOf(context, caller, { chargeId: work.chargeId, outlivesClient: true }, stream, dependencies);
  try {
    const { reply, sent, redacted } = await answered(job, context, caller, dependencies, (chunk) => print.file(chunk));
    await work.finish(print.digest(sent.fields, sent.contentType), reply, redacted);
    return reply;
  } catch (error) {
    if (job.isSettling) await work.abandon();
    else await work.release();
    throw error;
  }
}

/**
 * Reads the file for its fingerprint alone. A key that may not use the model there any more is not given the answer either, nor one
 * whose rule demands more redaction by now.
 */
async function answerAgain(
  { request }: RouteContext,
  caller: Caller,
  before: EarlierAnswer,
  dependencies: TranscriptionsDependencies,
): Promise<WholeReply> {
  const { http, settings } = dependencies;
  const print = new FormFingerprint(request.method, request.path);
  const limit = limitedSignal(http.clock, settings.timeoutMs, request.signal);
  const reading = readWithoutFile(request, limit, dependencies, caller.key, (chunk) => print.file(chunk));
  const sent = await reading.finally(limit.release);
  const fields = requestOf(sent.fields, dependencies, caller.key);
  const named = [fields.model, ...fields.fallbacks.map((fallback) => fallback.model)];
  requireModels(
    caller,
    named.filter((model) => model !== AUTO),
  );
  await requirePlaces(fields, caller, dependencies);
  return before.replyTo(print.digest(sent.fields, sent.contentType), redactedFor(caller));
}

/** What else a chain could be refused for now was decided when it was answered. */
async function requirePlaces(
  fields: TranscriptionRequest,
  caller: Caller,
  dependencies: JobDependencies,
): Promise<void> {
  try {
    const by = { organisationId: caller.organisationId, allowsModel: (slug: string) => allowsModel(caller, slug) };
    await chainOf(fields, by, dependencies, residencyRulesOf(caller, fields.rule));
  } catch (error) {
    const isOfPlace = error instanceof ApiError && PLACE_CODES.includes(error.code);
    if (isOfPlace || !(error instanceof ApiError)) throw error;
  }
}

const PLACE_CODES: readonly ErrorCode[] = ['region_not_allowed', 'retention_not_allowed'];
