// `POST /v1/audio/transcriptions`: does the work of a form once for each idempotency key, and gives those who ask again the same
// answer. What the work is stands beside this file; who waits for whom is decided by idempotency.ts.
import { type Caller, requireModels } from '../../../auth/permissions.ts';
import { limitedSignal } from '../../../runtime/limited-signal.ts';
import type { Reply, WholeReply } from '../../door.ts';
import type { EarlierAnswer, Idempotency, IdempotentWork } from '../../idempotency/idempotency.ts';
import { FormFingerprint, readIdempotencyKey } from '../../idempotency/request.ts';
import { refuseContentEncoding } from '../../multipart/parts.ts';
import type { RouteContext } from '../../router.ts';
import { readFields } from './form.ts';
import { FileJob, type JobDependencies } from './job.ts';
import { joinedFields } from './members.ts';
import { AnswerStream } from './stream.ts';
import { formOf } from './upload.ts';

export interface TranscriptionsDependencies extends JobDependencies {
  idempotency: Idempotency;
}

/**
 * The handler. With `stream=true` the answer is server-sent events: `transcript.text.delta` for each utterance, with
 * `diarization` a `transcript.text.segment` behind it, and `transcript.text.done` when the money is settled. A model that is
 * heard live gives its deltas as it says them, once the form is whole and where no other model of the request is left to take
 * over; after the first of them nothing is tried again. All others give theirs together with the end. What fails before the
 * first delta is refused as ever; what fails behind it is an `error` event, and the connection is cut.
 */
export const postTranscriptions = ({ idempotency, ...dependencies }: TranscriptionsDependencies) => {
  return async (context: RouteContext, caller: Caller): Promise<Reply> => {
    const { request, requestId } = context;
    refuseContentEncoding(request.headers);
    const key = readIdempotencyKey(request.headers);
    if (key === undefined) {
      const stream = new AnswerStream(requestId);
      const job = { request, requestId, caller, chargeId: requestId, outlivesClient: false, stream };
      return stream.answer(new FileJob(dependencies, job).run().then(({ reply }) => reply));
    }
    const begun = await idempotency.begin(caller.organisationId, key, requestId, request.signal);
    if (begun.type === 'done') return answerAgain(context, caller, begun.before, dependencies);
    const stream = new AnswerStream(requestId);
    return stream.answer(workOnce(context, caller, begun.work, stream, dependencies));
  };
};

/** The work of a key: its answer is kept. A failure leaves the key free, unless it may have been charged. */
async function workOnce(
  { request, requestId }: RouteContext,
  caller: Caller,
  work: IdempotentWork,
  stream: AnswerStream,
  dependencies: JobDependencies,
): Promise<WholeReply> {
  const print = new FormFingerprint(request.method, request.path);
  const job = new FileJob(dependencies, {
    request,
    requestId,
    caller,
    chargeId: work.chargeId,
    onFile: (chunk) => print.file(chunk),
    outlivesClient: true,
    stream,
  });
  try {
    const { reply, fields, contentType } = await job.run();
    await work.finish(print.digest(fields, contentType), reply);
    return reply;
  } catch (error) {
    if (job.isSettling) await work.abandon();
    else await work.release();
    throw error;
  }
}

/** The file is read for its fingerprint alone. What the key may not use now, it is not given the answer of either. */
async function answerAgain(
  { request }: RouteContext,
  caller: Caller,
  before: EarlierAnswer,
  dependencies: JobDependencies,
): Promise<WholeReply> {
  const print = new FormFingerprint(request.method, request.path);
  const onFile = (chunk: Uint8Array) => print.file(chunk);
  const { http, settings } = dependencies;
  const limit = limitedSignal(http.clock, settings.timeoutMs, request.signal);
  const form = await formOf(request, dependencies, { onFile, isFileDropped: true }, limit).finally(limit.release);
  form.dispose();
  const { model, fallbacks } = readFields(joinedFields(form.fields, dependencies.providers));
  requireModels(caller, [model, ...fallbacks.map((fallback) => fallback.model)]);
  return before.replyTo(print.digest(form.fields, form.file.contentType));
}
