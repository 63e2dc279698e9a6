// `spend.reached`: once for each key and day (UTC), by whichever node notices first. Nodes that notice later report the same event.
import type { WebhookEvents } from './events.ts';

/** Keys that are remembered, so that not every refused request asks the database. */
const REPORTED_MAX = 10_000;
const DAY_LENGTH = 10;

export class SpendReports {
  readonly #events: WebhookEvents;
  readonly #wallNow: () => Date;
  readonly #reported = new Set<string>();
  #date = '';

  constructor(events: WebhookEvents, wallNow: () => Date) {
    this.#events = events;
    this.#wallNow = wallNow;
  }

  /** The key has spent, or holds, what it may spend today. */
  reached({ organisationId, keyId }: { organisationId: string; keyId: string }): void {
    const date = this.#wallNow().toISOString().slice(0, DAY_LENGTH);
    if (date !== this.#date || this.#reported.size >= REPORTED_MAX) this.#reported.clear();
    this.#date = date;
    if (this.#reported.has(keyId)) return;
    this.#reported.add(keyId);
    void this.#events.emit(organisationId, 'spend.reached', { key_id: keyId, date }, `${keyId} ${date}`);
  }
}
