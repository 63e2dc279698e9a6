// The work of a job: a file that is kept whole, transcribed as by `/v1/audio/transcriptions`, in a shape that all others can be made of.
import type { Authenticator } from '../accounts/auth/authenticate.ts';
import {
  allowsModel,
  type Caller,
  isUnlimited,
  lastResortFor,
  redactedFor,
  replacementsFor,
  requireModels,
  residencyRulesOf,
} from '../accounts/auth/permissions.ts';
import type { DecidedTags } from '../accounts/auth/tags.ts';
import { apiError } from '../api/errors.ts';
import type { TranscriptionRequest } from '../api/transcriptions.ts';
import { verboseTranscriptionOf } from '../files/answers.ts';
import { FileJob, type JobDependencies, type JobOptions } from '../files/job.ts';
import type { EarlyAnswer, Upload } from '../files/upload.ts';
import type { Form } from '../http/multipart/form.ts';
import type { Work } from './detached-jobs.ts';

const NOTHING_EARLY: EarlyAnswer = { heard: () => {}, isBegun: false };

/** The request that asked for the job. */
export interface JobRequester {
  caller: Caller;
  requestId: string;
  traceparent: string | undefined;
  /** Id of the charge; the request's own when absent. */
  chargeId?: string;
  /** Hears how many parts of a long file are done. */
  onProgress?: JobOptions['onProgress'];
  /** Decided when the job was accepted; those of the request and the key when absent. */
  tags?: DecidedTags;
  /** Rejects where the job is another node's by now. */
  beforeCharge?: () => Promise<void>;
}

/** Rejects with an ApiError where models, permissions or credit do not allow it. */
export async function admitJob(
  request: TranscriptionRequest,
  by: JobRequester,
  dependencies: JobDependencies,
): Promise<void> {
  await fileJob(by, new AbortController().signal, dependencies).admit(request);
}

export async function transcribeKept(
  { form }: { form: Pick<Form, 'file'> },
  request: TranscriptionRequest,
  by: JobRequester,
  signal: AbortSignal,
  dependencies: { authenticator: Pick<Authenticator, 'holds'> } & JobDependencies,
): ReturnType<Work['run']> {
  await requireKey(by, dependencies);
  const { requestId, traceparent, caller } = by;
  const { organisationId } = caller;
  const observer = dependencies.observeFile?.({ requestId, organisationId, traceparent });
  const job = fileJob(by, signal, dependencies, observer);
  const { result } = await job.run(async () => uploadOf(form, request));
  return { transcription: verboseTranscriptionOf(result, requestId) };
}

/** Throws an ApiError where the job waited for its turn, and its key may do less by now. */
export async function requireKey(
  { caller }: Pick<JobRequester, 'caller'>,
  { authenticator }: { authenticator: Pick<Authenticator, 'holds'> },
): Promise<void> {
  if (!(await authenticator.holds(caller, 'transcribe')))
    throw apiError('key_revoked', 'The API key of this job may no longer transcribe files.');
}

const fileJob = (
  { caller, requestId, chargeId = requestId, onProgress, tags, beforeCharge }: JobRequester,
  client: AbortSignal,
  dependencies: JobDependencies,
  observer?: ConstructorParameters<typeof FileJob>[1]['observer'],
): FileJob =>
  new FileJob(dependencies, {
    requestId,
    organisationId: caller.organisationId,
    keyId: caller.keyId,
    isUnlimited: isUnlimited(caller),
    hasCeilings: caller.key.hasCeilings,
    requireModels: (slugs) => requireModels(caller, slugs),
    allowsModel: (slug) => allowsModel(caller, slug),
    lastResort: lastResortFor(caller, dependencies.lastResort),
    rulesOf: (asked) => residencyRulesOf(caller, asked),
    redacted: redactedFor(caller),
    replacements: replacementsFor(caller),
    tagged: caller,
    decidedTags: tags,
    client,
    early: NOTHING_EARLY,
    chargeId,
    beforeCharge,
    outlivesClient: false,
    observer,
    ...(onProgress && { onProgress }),
  });

/** It is here whole; who keeps it releases it. */
function uploadOf({ file }: Pick<Form, 'file'>, request: TranscriptionRequest): Upload {
  const upload: Upload = {
    request,
    file,
    whole: Promise.resolve().then(() => upload),
    leaveFile: () => {},
    dispose: () => {},
  };
  return upload;
}
