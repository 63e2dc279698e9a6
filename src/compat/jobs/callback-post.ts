// What is sent to an address that a client named for the end of a job: in the words of its dialect, made of the job as it is kept.
import type { CallbackToSend } from '../../jobs/callbacks/calls.ts';
import type { PreparedCallback } from '../../jobs/callbacks/sender.ts';
import { OWN_DIALECT } from '../../jobs/calls.ts';
import type { JobRecords } from '../../jobs/job-records.ts';
import { webhookPost } from '../../jobs/webhook-post.ts';
import { dialects } from '../../vendors/dialects.ts';
import { captionsOf } from '../files.ts';

/** Undefined where there is nothing to send any more. Rejects when the store does not answer. */
export const preparedCallback =
  (records: Pick<JobRecords, 'findReported'>, wallNow = () => new Date()) =>
  async ({ id, position, ...owner }: CallbackToSend): Promise<PreparedCallback | undefined> => {
    const dialect = dialects.find(({ name }) => name === owner.dialect);
    const found = await records.findReported(owner, id, position);
    if (found === undefined) return undefined;
    const { job, callback } = found;
    if (owner.dialect === OWN_DIALECT)
      return { request: webhookPost(job, callback, owner.organisationId, wallNow()), isForgotten: false };
    if (dialect?.callbackPost === undefined) return undefined;
    const means = { captions: captionsOf, keyId: owner.keyId };
    const isShown = Object.values(dialect.jobs ?? {}).some(({ does }) => does === 'show');
    return { request: dialect.callbackPost(job, callback, means), isForgotten: !isShown };
  };
