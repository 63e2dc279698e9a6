// The work of a job: one file through `src/files/job.ts`, as for a client that waits, told in a shape that all others can be made of.

import type { Authenticator } from '../../accounts/auth/authenticate.ts';
import { type Caller, isUnlimited, requireModels, residencyRulesOf } from '../../accounts/auth/permissions.ts';
import { refuse } from '../../api/errors.ts';
import type { TranscriptionRequest } from '../../api/transcriptions.ts';
import { verboseTranscriptionOf } from '../../files/answers.ts';
import type { EarlyAnswer } from '../../files/early-answer.ts';
import { FileJob, type JobDependencies } from '../../files/job.ts';
import type { Upload } from '../../files/upload.ts';
import type { Work } from './detached-jobs.ts';
import type { KeptFile } from './kept-files.ts';

const NOTHING_EARLY: EarlyAnswer = { heard: () => {}, isBegun: false };

/** The request that asked for the job. */
export interface AskedBy {
  caller: Caller;
  requestId: string;
  traceparent: string | undefined;
}

interface Dependencies extends JobDependencies {
  authenticator: Pick<Authenticator, 'holds'>;
}

/** Rejects with a Refusal where models, permissions or credit do not allow it. */
export async function admit(request: TranscriptionRequest, by: AskedBy, dependencies: JobDependencies): Promise<void> {
  await fileJob(by, new AbortController().signal, dependencies).admit(request);
}

export async function transcribeKept(
  file: KeptFile,
  request: TranscriptionRequest,
  by: AskedBy,
  signal: AbortSignal,
  dependencies: Dependencies,
): ReturnType<Work['run']> {
  const { requestId, traceparent, caller } = by;
  // It may have waited for its turn.
  if (!(await dependencies.authenticator.holds(caller, 'transcribe')))
    throw refuse('key_revoked', 'The API key of this job may not transcribe files any more.');
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
    rulesOf: (asked) => residencyRulesOf(caller, asked),
    client,
    early: NOTHING_EARLY,
    chargeId: requestId,
    outlivesClient: false,
    observer,
  });

/** It is here whole; who keeps it lets go of it. */
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
