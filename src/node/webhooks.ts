// The webhooks of a node: where its parts report events, and, on the node that owns the accounts, what sends deliveries.
import { preparedCallback } from '../compat/jobs/callback-post.ts';
import { jobWebhook } from '../jobs/answers.ts';
import { CallbackSender } from '../jobs/callbacks/sender.ts';
import { OWN_DIALECT } from '../jobs/calls.ts';
import { JobRecords } from '../jobs/job-records.ts';
import { parseNetworks } from '../runtime/network-addresses.ts';
import { backgroundClock } from '../runtime/telemetry/clock.ts';
import { Deliverer, type DeliveryEvent } from '../webhooks/deliverer.ts';
import { EventQueue, type WebhookEvents } from '../webhooks/events.ts';
import { Facts, type FactsDependencies } from '../webhooks/facts.ts';
import { openPoster, type Poster } from '../webhooks/post.ts';
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
  /** There may be a callback to send. */
  onReported(): void;
}

const DROPPED = 'webhook_delivery';

/** @param own on the node that owns the accounts */
export function openWebhooks(assembly: Assembly, own: Ownership | undefined): NodeWebhooks {
  const { config, logger, metrics, store, defer } = assembly;
  const { webhookNetworks } = config.server;
  const networks = webhookNetworks === undefined ? undefined : parseNetworks(webhookNetworks);
  const seal = new WebhookSeal(secretsOf(assembly));
  const wallNow = () => new Date();
  const poster = openPoster({ networks });
  const deliverer = own && startDeliveries(assembly, own, { seal, wallNow }, poster);
  const callbacks = own && startCallbacks(assembly, own, poster);
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
  const routes = { store, seal, networks, onAdded };
  return { events, routes, transcripts, onReported: () => callbacks?.look() };
}

const recordsIn = (assembly: Assembly): JobRecords => {
  const { store, bus } = assembly;
  return new JobRecords({ store, ...secretsOf(assembly), node: bus.node, nodeName: jobNodeName(assembly) });
};

/** As clients of `/v1/jobs` are shown it. */
function findJobIn(assembly: Assembly): FactsDependencies['findJob'] {
  const records = recordsIn(assembly);
  return async (organisationId, keyId, id) => {
    const job = await records.find({ organisationId, keyId, dialect: OWN_DIALECT }, id);
    return job && { at: job.endedAt ?? new Date(), data: jobWebhook(job) };
  };
}

function startDeliveries(
  assembly: Assembly,
  own: Ownership,
  common: Pick<WebhookRoutesDependencies['webhooks'], 'seal'> & { wallNow(): Date },
  poster: Poster,
): Deliverer {
  const { metrics, store, defer } = assembly;
  const { seal, wallNow } = common;
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

/** What the addresses that clients named for the ends of their jobs are sent. */
function startCallbacks(assembly: Assembly, own: Ownership, poster: Poster): CallbackSender {
  const { logger, metrics, store, defer } = assembly;
  const sender = new CallbackSender({
    ...{ store, send: poster.send, clock: backgroundClock },
    prepare: preparedCallback(recordsIn(assembly)),
    onEvent: (event) => {
      if (event.type === 'attempt') metrics.webhookAttempt(event.outcome);
      else logger.error({ action: event.action, err: event.error }, 'callback fault');
    },
  });
  metrics.watchQueue('job_callbacks', () => sender.inProgress);
  const close = () => {
    sender.close();
    poster.close();
  };
  own.onLost(close);
  defer(close);
  return sender;
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
