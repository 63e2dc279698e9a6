// A file whose client does not wait for its transcript: it becomes a job, which is reported to the address that the client names.
import type { Caller } from '../accounts/auth/permissions.ts';
import type { AudioSource } from '../api/audio-source.ts';
import type { RouteContext } from '../http/router.ts';
import type { Reply, ServerRequest } from '../http/server.ts';
import type { ClientRequest, Dialect } from '../vendors/compat/dialect.ts';
import type { ReportedFile } from '../vendors/compat/jobs.ts';

export interface UploadToReport extends ReportedFile, ClientRequest {
  /** The address of the file; undefined where the body is the file. Rejects with an ApiError. */
  source(): Promise<AudioSource | undefined>;
  /** The body, as the `file` of a form. */
  file(): ServerRequest;
}

export type ReportedUpload = (
  dialect: Dialect,
  context: RouteContext,
  caller: Caller,
  upload: UploadToReport,
) => Promise<Reply>;
