// `/v1/webhooks`, and the same for the console: endpoints of the caller's organisation, and their deliveries.
import type { BlockList } from 'node:net';
import type { Caller } from '../accounts/auth/permissions.ts';
import {
  apiErrorOfStore,
  type ConsoleContext,
  type ConsoleRoute,
  readBody,
} from '../accounts/console-login/console-route.ts';
import { EmptyBody } from '../api/console/console.ts';
import { apiError } from '../api/errors.ts';
import {
  BALANCE_LOW_USD_DEFAULT,
  DELIVERIES_LIMIT,
  type NewWebhookAnswer,
  SECRET_OVERLAP_SECONDS,
  WEBHOOK_TEST,
  type WebhookAnswer,
  WebhookBody,
  WebhookChange,
  type WebhookDelivery,
  type WebhookDeliveryList,
  type WebhookList,
  WebhookSecretBody,
} from '../api/webhooks.ts';
import { microUsdOf, usdOf } from '../config/prices/price.ts';
import { knownQuery, textOf, wholeNumberOf } from '../http/query.ts';
import { json, type Route, type RouteContext, type RouteHandler } from '../http/router.ts';
import type { Reply } from '../http/server.ts';
import { newWebhookSecret } from '../runtime/outbound/signature.ts';
import { uuidv7 } from '../runtime/uuid.ts';
import type { Actor } from '../store/audit-log.ts';
import { StoreError } from '../store/store-error.ts';
import { bodyOf, newMessageId } from './events.ts';
import type { WebhookSeal } from './seal.ts';
import type { ListedDelivery, Webhook, WebhookStore } from './store/calls.ts';
import { checkedUrl } from './url.ts';

const BODY_BYTES_MAX = 16_384;

export interface WebhookRoutesDependencies {
  webhooks: {
    store: WebhookStore;
    seal: WebhookSeal;
    /** Private networks that may be reached. */
    networks: BlockList | undefined;
    /** There may be something to deliver. */
    onAdded(): void;
  };
  wallNow(): Date;
}

/** What an organisation requests, by a key of it or a member. */
interface Asked extends Pick<RouteContext, 'request' | 'params'> {
  organisationId: string;
  by: Actor;
}

type Handler = (asked: Asked) => Promise<Reply>;
type Keyed = (handler: (context: RouteContext, caller: Caller) => Promise<Reply>) => RouteHandler;

/** @param keyed for keys that may manage webhooks */
export function webhookRoutes(dependencies: WebhookRoutesDependencies, keyed: Keyed): Route[] {
  const handlers = handlersOf(dependencies);
  const route = (method: string, path: string, handler: Handler): Route => ({
    method,
    path: `/v1/webhooks${path}`,
    handle: keyed(({ request, params }, { organisationId, keyId }) =>
      answered(
        handler({ request, params, organisationId, by: { type: 'key', id: keyId, address: request.remoteAddress } }),
      ),
    ),
  });
  return [
    route('GET', '', handlers.list),
    route('POST', '', handlers.create),
    route('GET', '/:id', handlers.find),
    route('PATCH', '/:id', handlers.change),
    route('DELETE', '/:id', handlers.remove),
    route('POST', '/:id/secret', handlers.roll),
    route('POST', '/:id/test', handlers.test),
    route('GET', '/:id/deliveries', handlers.deliveries),
    route('POST', '/:id/deliveries/:delivery/resend', handlers.resend),
  ];
}

export const webhookConsoleRoutes =
  (dependencies: WebhookRoutesDependencies) =>
  (consoleRoute: ConsoleRoute): Route[] => {
    const handlers = handlersOf(dependencies);
    const of = (handler: Handler) => (context: ConsoleContext) => answered(handler(context));
    const verified = { verified: true };
    const confirmed = { verified: true, confirmed: true };
    return [
      consoleRoute('GET webhooks', of(handlers.list), verified),
      consoleRoute('POST webhooks', of(handlers.create), confirmed),
      consoleRoute('PATCH webhooks/:id', of(handlers.change), confirmed),
      // Without asking for the password: stopping deliveries is urgent.
      consoleRoute('DELETE webhooks/:id', of(handlers.remove), verified),
      consoleRoute('POST webhooks/:id/secret', of(handlers.roll), confirmed),
      consoleRoute('POST webhooks/:id/test', of(handlers.test), verified),
      consoleRoute('GET webhooks/:id/deliveries', of(handlers.deliveries), verified),
      consoleRoute('POST webhooks/:id/deliveries/:delivery/resend', of(handlers.resend), verified),
    ];
  };

async function answered(answer: Promise<Reply>): Promise<Reply> {
  try {
    return await answer;
  } catch (error) {
    throw error instanceof StoreError ? Object.assign(apiErrorOfStore(error), { cause: error }) : error;
  }
}

const handlersOf = (dependencies: WebhookRoutesDependencies) => ({
  ...endpointHandlers(dependencies),
  ...deliveryHandlers(dependencies),
});

function endpointHandlers({ webhooks: { store, seal, networks }, wallNow }: WebhookRoutesDependencies) {
  const create: Handler = async ({ request, organisationId, by }) => {
    const body = await readBody(request, WebhookBody, BODY_BYTES_MAX);
    const { events, description = '', transcripts = false, format = 'standard' } = body;
    const { balance_low_usd: balanceLow = BALANCE_LOW_USD_DEFAULT } = body;
    const id = `we_${uuidv7(wallNow().getTime())}`;
    const secret = newWebhookSecret();
    const settings = { url: checkedUrl(body.url, networks), events, description, transcripts };
    const webhook = await store.createWebhook(
      organisationId,
      {
        id,
        ...settings,
        ...(format !== 'standard' && { format }),
        balanceLowMicroUsd: microUsdOf(balanceLow),
        secret: seal.seal({ organisationId, id }, secret),
      },
      by,
    );
    return json(201, { ...shown(webhook), secret } satisfies NewWebhookAnswer);
  };

  const change: Handler = async ({ request, params, organisationId, by }) => {
    const body = await readBody(request, WebhookChange, BODY_BYTES_MAX);
    const { url, events, description, state, transcripts, balance_low_usd: balanceLow } = body;
    const settings = {
      ...(url !== undefined && { url: checkedUrl(url, networks) }),
      ...(events !== undefined && { events }),
      ...(description !== undefined && { description }),
      ...(balanceLow !== undefined && { balanceLowMicroUsd: microUsdOf(balanceLow) }),
      ...(transcripts !== undefined && { transcripts }),
      ...(state !== undefined && { state }),
    };
    return json(200, shown(found(await store.changeWebhook(organisationId, params.id ?? '', settings, by))));
  };

  const roll: Handler = async ({ request, params, organisationId, by }) => {
    const body = await readBody(request, WebhookSecretBody, BODY_BYTES_MAX);
    const { overlap_seconds: overlapSeconds = SECRET_OVERLAP_SECONDS.default } = body;
    const id = params.id ?? '';
    const secret = newWebhookSecret();
    const sealed = seal.seal({ organisationId, id }, secret);
    const webhook = found(await store.rollWebhookSecret(organisationId, id, sealed, overlapSeconds * 1000, by));
    return json(200, { ...shown(webhook), secret } satisfies NewWebhookAnswer);
  };

  const remove: Handler = async ({ request, params, organisationId, by }) => {
    await readBody(request, EmptyBody);
    const id = params.id ?? '';
    if (!(await store.removeWebhook(organisationId, id, by))) throw noWebhook();
    return json(200, { object: 'webhook', id, deleted: true });
  };

  const list: Handler = async ({ request, organisationId }) => {
    knownQuery(request.query, '/v1/webhooks', []);
    const answer: WebhookList = { object: 'list', data: (await store.listWebhooks(organisationId)).map(shown) };
    return json(200, answer);
  };

  const find: Handler = async ({ request, params, organisationId }) => {
    knownQuery(request.query, '/v1/webhooks/{id}', []);
    return json(200, shown(found(await store.findWebhook(organisationId, params.id ?? ''))));
  };

  return { create, change, roll, remove, list, find };
}

function deliveryHandlers({ webhooks: { store, seal, onAdded }, wallNow }: WebhookRoutesDependencies) {
  const test: Handler = async ({ request, params, organisationId }) => {
    await readBody(request, EmptyBody);
    const endpointId = params.id ?? '';
    const at = wallNow();
    const id = newMessageId(at.getTime());
    const payload = seal.seal({ organisationId, id }, bodyOf(WEBHOOK_TEST, at, { webhook_id: endpointId }));
    const delivery = await store.addWebhookTest({ organisationId, id, type: WEBHOOK_TEST, payload }, endpointId);
    if (delivery === undefined) throw noWebhook();
    onAdded();
    return json(202, shownDelivery(delivery));
  };

  const deliveries: Handler = async ({ request, params, organisationId }) => {
    const query = knownQuery(request.query, '/v1/webhooks/{id}/deliveries', ['limit', 'before']);
    const limit = wholeNumberOf(query, 'limit', DELIVERIES_LIMIT);
    const endpointId = params.id ?? '';
    found(await store.findWebhook(organisationId, endpointId));
    const before = textOf(query, 'before');
    const page = await store.listWebhookDeliveries(organisationId, endpointId, limit + 1, before).catch((error) => {
      throw before !== undefined && error instanceof StoreError && error.reason === 'not_found' ? noPlace() : error;
    });
    const data = page.slice(0, limit).map(shownDelivery);
    const hasMore = page.length > limit;
    const next = hasMore ? (data.at(-1)?.id ?? null) : null;
    return json(200, { object: 'list', data, has_more: hasMore, next } satisfies WebhookDeliveryList);
  };

  const resend: Handler = async ({ request, params, organisationId }) => {
    await readBody(request, EmptyBody);
    const { id = '', delivery = '' } = params;
    const resent = await store.resendWebhookDelivery(organisationId, id, delivery);
    if (resent === undefined)
      throw apiError('not_found', 'There is no such delivery. GET /v1/webhooks/{id}/deliveries lists them.');
    onAdded();
    return json(202, shownDelivery(resent));
  };

  return { test, deliveries, resend };
}

function found(webhook: Webhook | undefined): Webhook {
  if (webhook === undefined) throw noWebhook();
  return webhook;
}

const noWebhook = () =>
  apiError('not_found', 'There is no such webhook in this organisation. GET /v1/webhooks lists them.');

const noPlace = () =>
  apiError(
    'not_found',
    '`before` is the id of a delivery of this webhook that is still kept; there is no such delivery.',
    {
      param: 'before',
    },
  );

const timeOf = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

const shown = (webhook: Webhook): WebhookAnswer => ({
  object: 'webhook',
  id: webhook.id,
  url: webhook.url,
  events: [...webhook.events],
  // A node with the accounts of an earlier version does not say it.
  format: webhook.format ?? 'standard',
  description: webhook.description,
  balance_low_usd: usdOf(webhook.balanceLowMicroUsd),
  transcripts: webhook.transcripts,
  state: webhook.state,
  disabled_reason: webhook.reason,
  failing_since: timeOf(webhook.failingSinceMs),
  previous_secret_until: timeOf(webhook.previousUntilMs),
  dropped: webhook.dropped,
  created_at: new Date(webhook.createdAtMs).toISOString(),
});

const shownDelivery = (delivery: ListedDelivery): WebhookDelivery => ({
  object: 'webhook_delivery',
  id: delivery.id,
  event: delivery.type,
  state: delivery.state,
  attempts: delivery.attempts,
  latest_attempts: delivery.latest.map(({ atMs, status, error, durationMs }) => ({
    ...{ at: new Date(atMs).toISOString(), status, error },
    duration_ms: durationMs,
  })),
  next_attempt_at: timeOf(delivery.nextAtMs),
  created_at: new Date(delivery.createdAtMs).toISOString(),
  ended_at: timeOf(delivery.endedAtMs),
});
