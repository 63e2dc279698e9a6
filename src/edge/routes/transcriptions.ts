// `POST /v1/audio/transcriptions`: does the work of a form once for each idempotency key, and gives those who ask again the same
// answer. What the work is stands beside this file; who waits for whom is decided by idempotency.ts.
import type { Caller } from '../../auth/permissions.ts';
import { LengthMeter } from '../audio-length.ts';
import type { Reply } from '../door.ts';
import type { EarlierAnswer, Idempotency, IdempotentWork } from '../idempotency.ts';
import { FormFingerprint, readIdempotencyKey } from '../idempotency-request.ts';
import { refuseContentEncoding } from '../multipart-parts.ts';
import type { RouteContext } from '../router.ts';
import { FileJob, formOf, type JobDependencies } from './transcriptions-job.ts';

export interface TranscriptionsDependencies extends Omit<JobDependencies, 'lengths'> {
  idempotency: Idempotency;
}

export const postTranscriptions = ({ idempotency, ...rest }: TranscriptionsDependencies) => {
  const dependencies: JobDependencies = { ...rest, lengths: new LengthMeter(rest.http.clock) };
  return async (context: RouteContext, caller: Caller): Promise<Reply> => {
    const { request, requestId } = context;
    refuseContentEncoding(request.headers);
    const key = readIdempotencyKey(request.headers);
    if (key === undefined) {
      const job = { request, requestId, caller, chargeId: requestId, outlivesClient: false };
      return (await new FileJob(dependencies, job).run()).reply;
    }
    const begun = await idempotency.begin(caller.organisationId, key, requestId, request.signal);
    return begun.type === 'work'
      ? workOnce(context, caller, begun.work, dependencies)
      : answerAgain(context, begun.before, dependencies);
  };
};

/** The work of a key: its answer is kept. A failure leaves the key free, unless it may have been charged. */
async function workOnce(
  { request, requestId }: RouteContext,
  caller: Caller,
  work: IdempotentWork,
  dependencies: JobDependencies,
): Promise<Reply> {
  const print = new FormFingerprint(request.method, request.path);
  const job = new FileJob(dependencies, {
    request,
    requestId,
    caller,
    chargeId: work.chargeId,
    onFile: (chunk) => print.file(chunk),
    outlivesClient: true,
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

/** The file is read for its fingerprint alone. */
async function answerAgain(
  { request }: RouteContext,
  before: EarlierAnswer,
  dependencies: JobDependencies,
): Promise<Reply> {
  const print = new FormFingerprint(request.method, request.path);
  const onFile = (chunk: Uint8Array) => print.file(chunk);
  const form = await formOf(request, dependencies, { onFile, isFileDropped: true });
  form.dispose();
  return before.replyTo(print.digest(form.fields, form.file.contentType));
}
