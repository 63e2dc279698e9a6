// The tables of webhooks: calls.ts says what each operation does.
import type { TableContext } from '../../store/table-context.ts';
import { WEBHOOK_LIMITS, type WebhookCalls, type WebhookLimits } from './calls.ts';
import { createDeliveryTables } from './delivery-tables.ts';
import { createEndpointTables } from './endpoint-tables.ts';
import { createTranscriptTables } from './transcript-tables.ts';
import { createWorkTables } from './work-tables.ts';

export function createWebhookTables(context: TableContext, limits: WebhookLimits = WEBHOOK_LIMITS): WebhookCalls {
  const endpoints = createEndpointTables(context, limits);
  const transcripts = createTranscriptTables(context, limits);
  const deliveries = createDeliveryTables(context, limits);
  const { expireWebhookDeliveries, ...calls } = deliveries;
  return {
    ...endpoints.calls,
    ...transcripts.calls,
    ...calls,
    expireWebhookDeliveries: context.database.transaction(
      (max: number) => expireWebhookDeliveries(max) + transcripts.expire(max),
    ),
    ...createWorkTables(context, { ...endpoints, hasExpired: transcripts.hasExpired }, limits),
  };
}
