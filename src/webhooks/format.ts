// How an event is posted: as Standard Webhooks have it, which is how it is kept, or as CloudEvents 1.0 in structured mode
// (https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/http-protocol-binding.md), several in one batch.
import type { WebhookFormat, WebhookPayload } from '../api/webhooks.ts';

const SPEC_VERSION = '1.0';
const ONE = 'application/cloudevents+json; charset=utf-8';
const MANY = 'application/cloudevents-batch+json; charset=utf-8';

/** An event of a batch: the delivery has an id of its own. */
export interface BatchedPayload extends WebhookPayload {
  id: string;
}

export interface Posted {
  body: string;
  /** JSON when absent. */
  contentType?: string;
}

/**
 * @param id of the delivery, which is that of its one event
 * @param body as it is kept: a `WebhookPayload`, or a list of `BatchedPayload`
 */
export function postedAs(
  format: WebhookFormat | undefined,
  body: string,
  { id, organisationId }: { id: string; organisationId: string },
): Posted {
  if (format !== 'cloudevents') return { body };
  const payload = JSON.parse(body) as WebhookPayload | BatchedPayload[];
  return Array.isArray(payload)
    ? { contentType: MANY, body: JSON.stringify(payload.map((each) => cloudEvent(organisationId, each))) }
    : { contentType: ONE, body: JSON.stringify(cloudEvent(organisationId, { ...payload, id })) };
}

const cloudEvent = (organisationId: string, { id, type, timestamp, data }: BatchedPayload) => ({
  specversion: SPEC_VERSION,
  id,
  source: `urn:voxgate:${organisationId}`,
  type,
  subject: subjectOf(data) ?? organisationId,
  time: timestamp,
  datacontenttype: 'application/json',
  data,
});

/** Usage is metered for the customer whom the tags name. */
function subjectOf({ tags, id }: Readonly<Record<string, unknown>>): string | undefined {
  const customer = (tags as Readonly<Record<string, unknown>> | undefined)?.customer;
  if (typeof customer === 'string') return customer;
  return typeof id === 'string' && !/^(ses|req|job)_/.test(id) ? id : undefined;
}
