// A deliverer over a database in memory, a clock that stands until it is moved, and receivers that answer what they are told to.
import { afterEach } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { WebhookEvent, WebhookFormat } from '../../src/api/webhooks.ts';
import { Deliverer, type DelivererOptions, type DeliveryEvent } from '../../src/webhooks/deliverer.ts';
import { EventQueue } from '../../src/webhooks/events.ts';
import { Facts, type FactsDependencies } from '../../src/webhooks/facts.ts';
import type { PostOutcome } from '../../src/webhooks/post.ts';
import { WebhookSeal } from '../../src/webhooks/seal.ts';
import { directStore } from '../fakes/store/direct-store.ts';
import { OPERATOR } from '../fakes/store/ledger.ts';

export const SECRET = new TextEncoder().encode('a secret of the gateway');
export const SIGNING = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
export const EVENTS: readonly WebhookEvent[] = ['job.completed', 'session.ended', 'key.revoked', 'balance.low'];

const opened: { close(): void }[] = [];
afterEach(() => {
  for (const each of opened.splice(0)) each.close();
});

export interface Sent {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: { type: string; timestamp: string; data: Record<string, unknown>; [member: string]: unknown };
  text: string;
}

/** Enough turns of the event loop for every call in progress to be answered. */
export async function idle(): Promise<void> {
  for (let turn = 0; turn < 60; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
}

export function webhookRig(
  options: Partial<DelivererOptions> = {},
  findJob: FactsDependencies['findJob'] = async () => undefined,
  direct = directStore(),
) {
  const { clock: wall, ledger, store } = direct;
  const clock = new SimulatedClock();
  const seal = options.seal ?? new WebhookSeal({ secret: SECRET });
  const wallNow = () => new Date(wall.nowMs);
  const sent: Sent[] = [];
  const events: DeliveryEvent[] = [];
  /** By URL; 204 where nothing is said. */
  const answers = new Map<string, (sent: Sent) => PostOutcome | Promise<PostOutcome>>();
  const post: DelivererOptions['post'] = async (url, headers, text) => {
    const each = { url, headers, body: JSON.parse(text), text };
    sent.push(each);
    return (await answers.get(url)?.(each)) ?? { status: 204 };
  };
  const start = (more: Partial<DelivererOptions> = {}) => {
    const facts = new Facts({
      ...{ store, seal, wallNow, findJob },
      onFault: (error) => events.push({ type: 'fault', action: 'fact', error }),
    });
    const deliverer = new Deliverer({
      ...{ store, seal, post, clock, wallNow, random: () => 0.5, deliveriesOf: (each) => facts.deliveriesOf(each) },
      onEvent: (event) => events.push(event),
      ...options,
      ...more,
    });
    opened.push(deliverer);
    return deliverer;
  };
  const dropped = { count: 0 };
  const queue = new EventQueue({
    ...{ store, seal, clock, wallNow },
    onDropped: (count) => {
      dropped.count += count;
    },
    onFault: (error) => events.push({ type: 'fault', action: 'emit', error }),
  });
  let made = 0;
  const create = (
    organisationId: string,
    url = 'https://a.example/',
    subscribed = EVENTS,
    transcripts = false,
    format?: WebhookFormat,
  ): string => {
    const id = `we_${++made}`;
    const secret = seal.seal({ organisationId, id }, SIGNING);
    const settings = { url, events: subscribed, description: '', balanceLowMicroUsd: 5_000_000n, transcripts };
    ledger.createWebhook(organisationId, { id, ...settings, secret, ...(format && { format }) }, OPERATOR);
    return id;
  };
  const pass = async (ms: number) => {
    wall.nowMs += ms;
    clock.increment(ms);
    await idle();
  };
  return { ...direct, wall, simulated: clock, seal, sent, events, answers, start, queue, dropped, create, pass };
}
