// What is posted to the `webhook_url` of one of the gateway's own jobs: the event that webhooks of its organisation get.
import { webhookHeaders } from '../runtime/outbound/signature.ts';
import type { CallbackPost, EndedJob, JobCallback } from '../vendors/compat/jobs.ts';
import { bodyOf, messageIdOf } from '../webhooks/events.ts';
import { jobWebhook } from './answers.ts';
import type { KnownJob } from './job-records.ts';

/** The same id and body for each attempt. */
export function webhookPost(
  job: EndedJob & KnownJob,
  { url, secret }: JobCallback,
  organisationId: string,
  at: Date,
): CallbackPost {
  const type = job.state.type === 'done' ? 'job.completed' : 'job.failed';
  const id = messageIdOf(organisationId, type, `webhook_url of ${job.id}`);
  const body = bodyOf(type, job.endedAt ?? at, jobWebhook(job));
  const signed = webhookHeaders(secret === undefined ? [] : [secret], id, at, body);
  return { method: 'POST', url, headers: { ...signed, 'Content-Type': 'application/json' }, body };
}
