// At the node that owns the accounts: sends deliveries when they are due, and turns facts into deliveries. Bounded in all, for each
// organisation and for each endpoint, so that a slow receiver delays only its own deliveries. What was sent and not recorded, because
// the node was killed, is sent again with the same id.

import type { Clock } from '../../machines/clock.ts';
import { webhookHeaders } from '../runtime/outbound/signature.ts';
import type { DeliveriesOfFacts } from './facts.ts';
import { postedAs } from './format.ts';
import { LookLoop } from './look-loop.ts';
import type { Post, PostOutcome } from './post.ts';
import { afterAttempt } from './schedule.ts';
import type { WebhookSeal } from './seal.ts';
import {
  type DeliveryToSend,
  type DueDelivery,
  FACTS_MAX,
  type FactDelivery,
  type WebhookFact,
  type WebhookStore,
} from './store/calls.ts';

const LOOK_MS = 1_000;
/** While nobody has an endpoint, and after a failure of the store. */
const IDLE_LOOK_MS = 5_000;
const EXPIRED_AT_ONCE = 100;
/** Longer than an attempt: no other process sends what is on its way. What is not recorded by then is sent again. */
const LEASE_MS = 30_000;
/** Payloads that are added with one call. */
const ENTRY_BYTES_MAX = 320 * 1024;
/** Deliveries of one look. */
const DUE_MAX = 2_000;

export interface DeliveryBounds {
  /** Attempts at the same time. */
  max: number;
  /** Beyond it, one for each endpoint. */
  perOrganisationMax: number;
  perEndpointMax: number;
  /** To an endpoint where the last attempt failed. */
  perFailingMax: number;
}

const BOUNDS: DeliveryBounds = { max: 128, perOrganisationMax: 8, perEndpointMax: 4, perFailingMax: 1 };

type Store = Pick<
  WebhookStore,
  | 'readWebhookWork'
  | 'takeWebhookDelivery'
  | 'recordWebhookAttempt'
  | 'addWebhookDeliveries'
  | 'addWebhookBatches'
  | 'expireWebhookDeliveries'
  | 'listWebhookSecrets'
  | 'resealWebhookSecrets'
>;

export type DeliveryEvent =
  | {
      type: 'attempt';
      outcome: 'delivered' | 'retry' | 'failed' | 'gone';
      error: string | undefined;
      durationMs: number;
    }
  | { type: 'disabled'; endpointId: string; reason: string }
  | { type: 'dropped'; count: number }
  | { type: 'fault'; action: string; error: unknown };

export interface DelivererOptions {
  store: Store;
  seal: WebhookSeal;
  post: Post;
  /** The deliveries of facts, without those that it is too early for. */
  deliveriesOf(facts: readonly WebhookFact[]): Promise<DeliveriesOfFacts>;
  clock: Clock;
  wallNow(): Date;
  /** From 0 up to 1. */
  random?(): number;
  bounds?: Partial<DeliveryBounds>;
  onEvent(event: DeliveryEvent): void;
}

export class Deliverer {
  readonly #options: DelivererOptions;
  readonly #bounds: DeliveryBounds;
  readonly #random: () => number;
  /** By the number of the delivery. */
  readonly #inProgress = new Set<number>();
  readonly #byOrganisation = new Map<string, number>();
  readonly #byEndpoint = new Map<number, number>();
  /** Where the next look begins, so that every endpoint has its turn when more is due than may be in progress. */
  #after = 0;
  #factsAfter = 0;
  readonly #loop: LookLoop;

  constructor(options: DelivererOptions) {
    this.#options = options;
    this.#bounds = { ...BOUNDS, ...options.bounds };
    this.#random = options.random ?? Math.random;
    this.#loop = new LookLoop(options.clock, () => this.#lookOnce());
    void this.#reseal().finally(() => this.look());
  }

  get inProgress(): number {
    return this.#inProgress.size;
  }

  /** There may be something to send. */
  look(): void {
    this.#loop.look();
  }

  /** Attempts in progress are not recorded any more: the next owner sends them again. */
  close(): void {
    this.#loop.close();
  }

  /** Returns when to look again. */
  async #lookOnce(): Promise<number> {
    const { store, onEvent } = this.#options;
    try {
      // Twice as many as may be in progress, which are among them.
      const { perEndpointMax } = this.#bounds;
      const work = await store.readWebhookWork(this.#after, 2 * perEndpointMax, DUE_MAX, this.#factsAfter);
      const taken = work.facts.length === 0 ? 0 : await this.#take(work.facts);
      // Facts that it is too early for do not keep those after them waiting.
      const isFull = work.facts.length >= FACTS_MAX;
      this.#factsAfter = isFull ? (work.facts.at(-1)?.number ?? 0) : 0;
      if (taken > 0 || isFull) this.#loop.look();
      if (work.hasExpired) await store.expireWebhookDeliveries(EXPIRED_AT_ONCE);
      this.#begin(work.due);
      return work.isUsed ? LOOK_MS : IDLE_LOOK_MS;
    } catch (error) {
      if (!this.#loop.isClosed) onEvent({ type: 'fault', action: 'look', error });
      return IDLE_LOOK_MS;
    }
  }

  /** Returns how many became deliveries. */
  async #take(facts: readonly WebhookFact[]): Promise<number> {
    const { store, deliveriesOf, onEvent } = this.#options;
    const { deliveries, batches } = await deliveriesOf(facts);
    let count = 0;
    for (const together of entriesOf(deliveries)) count += await store.addWebhookDeliveries(together);
    for (const together of entriesOf(batches)) count += await store.addWebhookBatches(together);
    if (count > 0) onEvent({ type: 'dropped', count });
    return deliveries.length + batches.length;
  }

  #begin(due: readonly DueDelivery[]): void {
    this.#after = due.length < DUE_MAX ? 0 : (due.at(-1)?.endpoint ?? 0);
    for (const delivery of due) {
      if (this.#loop.isClosed) return;
      if (!this.#hasRoom(delivery)) continue;
      this.#inProgress.add(delivery.number);
      this.#count(delivery, 1);
      if (this.#inProgress.size >= this.#bounds.max) this.#after = delivery.endpoint;
      void this.#send(delivery.number).then((isAnswered) => {
        this.#inProgress.delete(delivery.number);
        this.#count(delivery, -1);
        // A store that does not answer is looked at again when it is time.
        if (isAnswered) this.look();
      });
    }
  }

  #hasRoom({ number, organisationId, endpoint, isFailing }: DueDelivery): boolean {
    const { max, perOrganisationMax, perEndpointMax, perFailingMax } = this.#bounds;
    const toEndpoint = this.#byEndpoint.get(endpoint) ?? 0;
    return (
      !this.#inProgress.has(number) &&
      this.#inProgress.size < max &&
      toEndpoint < (isFailing ? perFailingMax : perEndpointMax) &&
      // Other endpoints of the organisation that hang delay none that nothing is sent to.
      (toEndpoint === 0 || (this.#byOrganisation.get(organisationId) ?? 0) < perOrganisationMax)
    );
  }

  #count({ organisationId, endpoint }: DueDelivery, by: 1 | -1): void {
    add(this.#byOrganisation, organisationId, by);
    add(this.#byEndpoint, endpoint, by);
  }

  /** Never rejects. False where the store did not answer. */
  async #send(number: number): Promise<boolean> {
    const { store, clock, wallNow, onEvent } = this.#options;
    try {
      const delivery = await store.takeWebhookDelivery(number, LEASE_MS);
      if (delivery === undefined || this.#loop.isClosed) return true;
      const at = wallNow();
      const beganMs = clock.now();
      const { status, error } = await this.#post(delivery, at);
      if (this.#loop.isClosed) return true;
      const durationMs = Math.round(clock.now() - beganMs);
      const { outcome, retryAfterMs } = afterAttempt(status, delivery.retries, this.#random());
      onEvent({ type: 'attempt', outcome, error, durationMs });
      const attempt = { atMs: at.getTime(), status: status ?? null, error: error ?? null, durationMs };
      const recorded = await store.recordWebhookAttempt({ number, attempt, outcome, retryAfterMs });
      const reason = recorded?.disabled ?? null;
      if (reason !== null) onEvent({ type: 'disabled', endpointId: delivery.endpointId, reason });
      return true;
    } catch (error) {
      if (!this.#loop.isClosed) onEvent({ type: 'fault', action: 'send', error });
      return false;
    }
  }

  #post(delivery: DeliveryToSend, at: Date): Promise<PostOutcome> {
    const { seal, post } = this.#options;
    const { organisationId, id, endpointId, url, format, payload, secret, previousSecret } = delivery;
    const kept = seal.open({ organisationId, id }, payload);
    const secrets = [secret, previousSecret].map((each) => each && seal.open({ organisationId, id: endpointId }, each));
    const usable = secrets.filter((each) => typeof each === 'string');
    // Sealed with a secret of the gateway that is not configured any more.
    if (kept === undefined || typeof secrets[0] !== 'string') return Promise.resolve({ error: 'unreadable' });
    const { body, contentType } = postedAs(format, kept, delivery);
    const headers = webhookHeaders(usable, id, at, body);
    return post(url, contentType === undefined ? headers : { ...headers, 'Content-Type': contentType }, body);
  }

  /** Secrets of endpoints that were sealed with the former secret of the gateway. Never rejects. */
  async #reseal(): Promise<void> {
    const { store, seal, onEvent } = this.#options;
    try {
      const resealed = (await store.listWebhookSecrets()).flatMap(({ organisationId, id, secret, previousSecret }) =>
        [secret, previousSecret].flatMap((from) => {
          const to = from === null ? undefined : seal.resealed({ organisationId, id }, from);
          return from === null || to === undefined ? [] : [{ id, from, to }];
        }),
      );
      if (resealed.length > 0) await store.resealWebhookSecrets(resealed);
    } catch (error) {
      onEvent({ type: 'fault', action: 'reseal', error });
    }
  }
}

/** As many together as fit into one entry of the log. */
function entriesOf<Each extends Pick<FactDelivery, 'payload'>>(deliveries: readonly Each[]): Each[][] {
  const entries: Each[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const delivery of deliveries) {
    bytes += delivery.payload?.length ?? 0;
    if (bytes > ENTRY_BYTES_MAX) {
      entries.push([]);
      bytes = delivery.payload?.length ?? 0;
    }
    entries.at(-1)?.push(delivery);
  }
  return entries;
}

function add<Key>(counts: Map<Key, number>, key: Key, by: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
