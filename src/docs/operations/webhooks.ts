// The operations by which an organisation manages where its events are posted.

import { EmptyBody } from '../../api/console/console.ts';
import {
  NewWebhookAnswer,
  WebhookAnswer,
  WebhookBody,
  WebhookChange,
  WebhookDeleted,
  WebhookDeliveriesQuery,
  WebhookDelivery,
  WebhookDeliveryList,
  WebhookList,
  WebhookSecretBody,
} from '../../api/webhooks.ts';
import * as examples from '../schemas/examples.ts';
import { KEY_CODES, type Operation, QUERY_CODES } from './operation.ts';

const errors: Operation['errors'] = [...KEY_CODES, ...QUERY_CODES, 'scope_not_allowed'];
const bodyErrors: Operation['errors'] = [...errors, 'request_timeout', 'file_too_large', 'unsupported_media_type'];

const { id: WEBHOOK_ID } = examples.webhook;
const { id: DELIVERY_ID } = examples.webhookDelivery;
const AUTHORIZATION = '-H "Authorization: Bearer $VOXGATE_KEY"';
const JSON_TYPE = "-H 'Content-Type: application/json'";

const webhookId = { id: { type: 'string', description: '`we_…`.', example: WEBHOOK_ID } };

const listWebhooks: Operation = {
  id: 'listWebhooks',
  method: 'get',
  path: '/v1/webhooks',
  tag: 'Webhooks',
  summary: 'List webhooks',
  description: 'The endpoints of your organisation, oldest first. The key needs the scope `webhooks`.',
  security: 'key',
  answers: {
    200: {
      description: 'The webhooks.',
      forms: {
        'application/json': { schema: WebhookList, example: { object: 'list', data: [examples.webhook] } },
      },
    },
  },
  errors,
  curl: `curl {base}/v1/webhooks ${AUTHORIZATION}`,
};

const createWebhook: Operation = {
  id: 'createWebhook',
  method: 'post',
  path: '/v1/webhooks',
  tag: 'Webhooks',
  summary: 'Create a webhook',
  description:
    'Events are posted to `url` from now on, in the format of Standard Webhooks: `webhook-id`, `webhook-timestamp` and `webhook-signature`, and `{"type", "timestamp", "data"}` as the body. With `format` `cloudevents`, posts are CloudEvents 1.0 in structured mode instead, with the same headers. The secret is shown once. An organisation has up to 10 webhooks.',
  security: 'key',
  body: {
    required: true,
    type: 'application/json',
    schema: WebhookBody,
    example: { url: 'https://example.com/voxgate', events: ['session.ended'] },
  },
  answers: {
    201: {
      description: 'The webhook, with its secret.',
      forms: { 'application/json': { schema: NewWebhookAnswer, example: examples.newWebhook } },
    },
  },
  errors: bodyErrors,
  curl: `curl {base}/v1/webhooks ${AUTHORIZATION} ${JSON_TYPE} -d '{"url":"https://example.com/voxgate","events":["session.ended"]}'`,
};

const getWebhook: Operation = {
  id: 'getWebhook',
  method: 'get',
  path: '/v1/webhooks/{id}',
  tag: 'Webhooks',
  summary: 'Get a webhook',
  description: 'One endpoint, without its secret.',
  security: 'key',
  segments: webhookId,
  answers: {
    200: {
      description: 'The webhook.',
      forms: { 'application/json': { schema: WebhookAnswer, example: examples.webhook } },
    },
  },
  errors: [...errors, 'not_found'],
  curl: `curl {base}/v1/webhooks/${WEBHOOK_ID} ${AUTHORIZATION}`,
};

const changeWebhook: Operation = {
  id: 'changeWebhook',
  method: 'patch',
  path: '/v1/webhooks/{id}',
  tag: 'Webhooks',
  summary: 'Change a webhook',
  description: 'Members that are absent stay as they are. `state` disables the endpoint, or enables it again.',
  security: 'key',
  segments: webhookId,
  body: { required: true, type: 'application/json', schema: WebhookChange, example: { state: 'enabled' } },
  answers: {
    200: {
      description: 'The webhook as it is now.',
      forms: { 'application/json': { schema: WebhookAnswer, example: examples.webhook } },
    },
  },
  errors: [...bodyErrors, 'not_found'],
  curl: `curl -X PATCH {base}/v1/webhooks/${WEBHOOK_ID} ${AUTHORIZATION} ${JSON_TYPE} -d '{"state":"enabled"}'`,
};

const deleteWebhook: Operation = {
  id: 'deleteWebhook',
  method: 'delete',
  path: '/v1/webhooks/{id}',
  tag: 'Webhooks',
  summary: 'Delete a webhook',
  description: 'Its deliveries are deleted as well, and those that wait are not sent.',
  security: 'key',
  segments: webhookId,
  answers: {
    200: {
      description: 'It is deleted.',
      forms: {
        'application/json': { schema: WebhookDeleted, example: { object: 'webhook', id: WEBHOOK_ID, deleted: true } },
      },
    },
  },
  errors: [...bodyErrors, 'not_found'],
  curl: `curl -X DELETE {base}/v1/webhooks/${WEBHOOK_ID} ${AUTHORIZATION}`,
};

const rollWebhookSecret: Operation = {
  id: 'rollWebhookSecret',
  method: 'post',
  path: '/v1/webhooks/{id}/secret',
  tag: 'Webhooks',
  summary: 'Replace the secret',
  description:
    'A new secret, shown once. For `overlap_seconds`, 24 hours when absent, posts carry a signature with each of the two secrets, so that your receivers can change over. 0 ends the previous one at once. The body may be left out.',
  security: 'key',
  segments: webhookId,
  body: {
    required: false,
    type: 'application/json',
    schema: WebhookSecretBody,
    example: { overlap_seconds: 86_400 },
  },
  answers: {
    200: {
      description: 'The webhook, with its new secret.',
      forms: { 'application/json': { schema: NewWebhookAnswer, example: examples.newWebhook } },
    },
  },
  errors: [...bodyErrors, 'not_found'],
  curl: `curl -X POST {base}/v1/webhooks/${WEBHOOK_ID}/secret ${AUTHORIZATION}`,
};

const testWebhook: Operation = {
  id: 'testWebhook',
  method: 'post',
  path: '/v1/webhooks/{id}/test',
  tag: 'Webhooks',
  summary: 'Send a test event',
  description: 'Posts an event of the type `webhook.test`. How it went is in the deliveries.',
  security: 'key',
  segments: webhookId,
  body: { required: false, type: 'application/json', schema: EmptyBody, example: {} },
  answers: {
    202: {
      description: 'The delivery, which is about to be sent.',
      forms: { 'application/json': { schema: WebhookDelivery, example: examples.webhookDelivery } },
    },
  },
  errors: [...bodyErrors, 'not_found'],
  curl: `curl -X POST {base}/v1/webhooks/${WEBHOOK_ID}/test ${AUTHORIZATION}`,
};

const listWebhookDeliveries: Operation = {
  id: 'listWebhookDeliveries',
  method: 'get',
  path: '/v1/webhooks/{id}/deliveries',
  tag: 'Webhooks',
  summary: 'List deliveries',
  description:
    'Deliveries to the endpoint, newest first, with their latest attempts. They are kept for seven days from their end on, up to 1,000 of an organisation. A page ends with `next`, which `before` takes.',
  security: 'key',
  segments: webhookId,
  query: WebhookDeliveriesQuery,
  answers: {
    200: {
      description: 'The deliveries.',
      forms: {
        'application/json': {
          schema: WebhookDeliveryList,
          example: { object: 'list', data: [examples.webhookDelivery], has_more: false, next: null },
        },
      },
    },
  },
  errors: [...errors, 'not_found'],
  curl: `curl "{base}/v1/webhooks/${WEBHOOK_ID}/deliveries?limit=5" ${AUTHORIZATION}`,
};

const resendWebhookDelivery: Operation = {
  id: 'resendWebhookDelivery',
  method: 'post',
  path: '/v1/webhooks/{id}/deliveries/{delivery}/resend',
  tag: 'Webhooks',
  summary: 'Send a delivery again',
  description: 'Also if it was delivered: the same body with the same `webhook-id`, with three days of retries.',
  security: 'key',
  segments: {
    ...webhookId,
    delivery: { type: 'string', description: '`msg_…`.', example: DELIVERY_ID },
  },
  body: { required: false, type: 'application/json', schema: EmptyBody, example: {} },
  answers: {
    202: {
      description: 'The delivery, which is about to be sent.',
      forms: { 'application/json': { schema: WebhookDelivery, example: examples.webhookDelivery } },
    },
  },
  errors: [...bodyErrors, 'not_found'],
  curl: `curl -X POST {base}/v1/webhooks/${WEBHOOK_ID}/deliveries/${DELIVERY_ID}/resend ${AUTHORIZATION}`,
};

export const webhookOperations: readonly Operation[] = [
  listWebhooks,
  createWebhook,
  getWebhook,
  changeWebhook,
  deleteWebhook,
  rollWebhookSecret,
  testWebhook,
  listWebhookDeliveries,
  resendWebhookDelivery,
];
