// The webhooks of a node: where its parts report events, and, on the node that owns the accounts, what sends deliveries.
import { jobWebhook } from '../jobs/answers.ts';
import { OWN_DIALECT } from '../jobs/calls.ts';
import { JobRecords } from '../jobs/job-records.ts';
import { parseNetworks } from '../runtime/network-addresses.ts';
import { backgroundClock } from '../runtime/telemetry/clock.ts';
import { Deliverer, type DeliveryEvent } from '../webhooks/deliverer.ts';
import { EventQueue, type WebhookEvents } from '../webhooks/events.ts';
import { Facts, type FactsDependencies } from '../webhooks/facts.ts';
import { openPoster } from '../webhooks/post.ts';
import type { WebhookRoutesDependencies } from '../webhooks/routes.ts';
import { WebhookSeal } from '../webhooks/seal.ts';
import { Transcripts } from '../webhooks/transcripts.ts';
import { type Assembly, jobNodeName, secretsOf } from './context.ts';
import { NodeTrouble } from './observing/node-trouble.ts';

/** Of the accounts. */
interface Ownership {
  /** Another node is the owner. */
  onLost(listener: () => void): void;
}

export interface NodeWebhooks {
  events: WebhookEvents;
  routes: WebhookRoutesDependencies['webhooks'];
  transcripts: Transcripts;
}

const DROPPED = 'webhook_delivery';

/** @param own on the node that owns the accounts */
export function openWebhooks(assembly: Assembly, own: Ownership | undefined): NodeWebhooks {
  const { config, logger, metrics, store, defer } = assembly;
  const { webhookNetworks } = config.server;
  const networks = webhookNetworks === undefined ? undefined : parseNetworks(webhookNetworks);
  const seal = new WebhookSeal(secretsOf(assembly));
  const wallNow = () => new Date();
  const deliverer = own && startDeliveries(assembly, own, { networks, seal, wallNow });
  const onAdded = () => deliverer?.look();
  const events = new EventQueue({
    ...{ store, seal, wallNow, onAdded },
    clock: backgroundClock,
    onDropped: (count) => {
      for (let each = 0; each < count; each++) metrics.dropped(DROPPED);
    },
    onFault: (error) => logger.error({ action: 'emit', err: error }, 'webhook fault'),
  });
  metrics.watchQueue('webhook_events', () => events.size);
  defer(() => events.close());
  const unknown = new NodeTrouble(logger, 'it is not known whether transcripts are wanted');
  const transcripts = new Transcripts({
    ...{ store, seal },
    clock: backgroundClock,
    // Once in a while, however many sessions begin while the accounts are away.
    onFault: (error) => unknown.add({ reason: error instanceof Error ? error.message : String(error) }),
  });
  return { events, routes: { store, seal, networks, onAdded }, transcripts };
}

/** As clients of `/v1/jobs` are shown it. */
function findJobIn(assembly: Assembly): FactsDependencies['findJob'] {
  const { store, bus } = assembly;
  const records = new JobRecords({ store, ...secretsOf(assembly), node: bus.node, nodeName: jobNodeName(assembly) });
  return async (organisationId, keyId, id) => {
    const job = await records.find({ organisationId, keyId, dialect: OWN_DIALECT }, id);
    return job && { at: job.endedAt ?? new Date(), data: jobWebhook(job) };
  };
}

function startDeliveries(
  assembly: Assembly,
  own: Ownership,
  common: Pick<WebhookRoutesDependencies['webhooks'], 'networks' | 'seal'> & { wallNow(): Date },
): Deliverer {
  const { metrics, store, defer } = assembly;
  const { networks, seal, wallNow } = common;
  const poster = openPoster({ networks });
  const facts = new Facts({
    ...{ store, seal, wallNow, findJob: findJobIn(assembly) },
    onFault: (error) => report(assembly, { type: 'fault', action: 'fact', error }),
  });
  const deliverer = new Deliverer({
    ...{ store, seal, wallNow, post: poster.post },
    deliveriesOf: (each) => facts.deliveriesOf(each),
    clock: backgroundClock,
    onEvent: (event) => report(assembly, event),
  });
  metrics.watchQueue('webhook_deliveries', () => deliverer.inProgress);
  const close = () => {
    deliverer.close();
    poster.close();
  };
  own.onLost(close);
  defer(close);
  return deliverer;
}

/** Logs neither a URL nor a payload. */
function report({ logger, metrics }: Assembly, event: DeliveryEvent): void {
  switch (event.type) {
    case 'attempt':
      metrics.webhookAttempt(event.outcome);
      break;
    case 'disabled':
      logger.warn({ webhook: event.endpointId, reason: event.reason }, 'webhook disabled');
      break;
    case 'dropped':
      for (let each = 0; each < event.count; each++) metrics.dropped(DROPPED);
      break;
    case 'fault':
      logger.error({ action: event.action, err: event.error }, 'webhook fault');
  }
}
