// Events that other parts of a node report. They are kept in the database before they are delivered, so an event that was taken there
// survives any node.
import { createHash } from 'node:crypto';
import type { Clock } from '../../machines/clock.ts';
import type { WebhookEvent, WebhookPayload, WebhookType } from '../api/webhooks.ts';
import { uuidv7 } from '../runtime/uuid.ts';
import { StoreError } from '../store/store-error.ts';
import type { WebhookSeal } from './seal.ts';
import type { NewWebhookEvent, WebhookStore } from './store/calls.ts';

/** Events on their way to the database. */
const WAITING_MAX = 1_000;
/** While the database does not answer. */
const AGAIN_MS = [250, 1_000, 4_000, 15_000, 30_000, 60_000, 60_000, 60_000, 60_000];

export interface WebhookEvents {
  /**
   * Delivers an event to every endpoint of the organisation that subscribes to it. Never rejects. Resolves once the event is in the
   * database, or was dropped because too many wait.
   *
   * @param once what happened once, such as `job job_1`: an event of the type that was reported for it before is not sent again
   */
  emit(organisationId: string, type: WebhookEvent, data: object, once?: string): Promise<void>;
}

export interface EventQueueOptions {
  store: Pick<WebhookStore, 'addWebhookEvent'>;
  seal: WebhookSeal;
  clock: Clock;
  wallNow(): Date;
  /** An event was kept for delivery. */
  onAdded?(): void;
  /** So many deliveries, or an event before there was any, were dropped. */
  onDropped(count: number): void;
  onFault(error: unknown): void;
}

export class EventQueue implements WebhookEvents {
  readonly #options: EventQueueOptions;
  #waiting = 0;
  #isClosed = false;

  constructor(options: EventQueueOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#waiting;
  }

  /** What is still on its way is not tried again. */
  close(): void {
    this.#isClosed = true;
  }

  async emit(organisationId: string, type: WebhookEvent, data: object, once?: string): Promise<void> {
    const { onDropped, onFault } = this.#options;
    if (this.#waiting >= WAITING_MAX || this.#isClosed) return onDropped(1);
    this.#waiting++;
    try {
      await this.#keep(this.#eventOf(organisationId, type, data, once));
    } catch (error) {
      onDropped(1);
      onFault(error);
    } finally {
      this.#waiting--;
    }
  }

  #eventOf(organisationId: string, type: WebhookEvent, data: object, once: string | undefined): NewWebhookEvent {
    const { seal, wallNow } = this.#options;
    const at = wallNow();
    const id = once === undefined ? newMessageId(at.getTime()) : messageIdOf(organisationId, type, once);
    return { organisationId, id, type, payload: seal.seal({ organisationId, id }, bodyOf(type, at, data)) };
  }

  /** The same id each time, so that a call whose answer was lost adds nothing. */
  async #keep(event: NewWebhookEvent): Promise<void> {
    const { store, clock, onAdded, onDropped } = this.#options;
    for (const againMs of [...AGAIN_MS, undefined]) {
      try {
        const { added, dropped } = await store.addWebhookEvent(event);
        if (dropped > 0) onDropped(dropped);
        if (added > 0) onAdded?.();
        return;
      } catch (error) {
        if (againMs === undefined || this.#isClosed || !isPassing(error)) throw error;
        await new Promise<void>((resolve) => clock.setTimeout(resolve, againMs));
      }
    }
  }
}

const isPassing = (error: unknown): boolean =>
  error instanceof StoreError && !['not_found', 'invalid', 'conflict', 'closed'].includes(error.reason);

/** @param nowMs wall-clock milliseconds */
export const newMessageId = (nowMs: number): string => `msg_${uuidv7(nowMs)}`;

const ID_LENGTH = 32;

/** The same for the same fact. */
export const messageIdOf = (organisationId: string, type: WebhookType, once: string): string =>
  `msg_${createHash('sha256')
    .update(JSON.stringify([organisationId, type, once]))
    .digest('hex')
    .slice(0, ID_LENGTH)}`;

/** The body of a post. */
export const bodyOf = (type: WebhookType, at: Date, data: object): string =>
  JSON.stringify({ type, timestamp: at.toISOString(), data: { ...data } } satisfies WebhookPayload);
