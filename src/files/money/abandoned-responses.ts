// How often an organisation may upload a file and leave before its answer without being charged: connections break, and who makes
// use of that has a provider work for nothing.
import type { Clock } from '../../../machines/clock.ts';

const DAY_MS = 86_400_000;
/** Organisations that are remembered; beyond, the one that began longest ago is forgotten, and begins again. */
const ORGANISATIONS_MAX = 10_000;

/**
 * How often an organisation may upload a file and leave before its answer without being charged: connections break, and who makes
 * use of that has a provider work for nothing.
 */
export class AbandonedResponses {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #freeMax: number;
  /** In the order of their first one of the day. */
  readonly #taken = new Map<string, { count: number; sinceMs: number }>();

  /** @param freeMax a day, for each organisation */
  constructor(clock: Pick<Clock, 'now'>, freeMax: number) {
    this.#clock = clock;
    this.#freeMax = freeMax;
  }

  /** Counts one more. Whether it is free. */
  isFree(organisationId: string): boolean {
    const nowMs = this.#clock.now();
    const before = this.#taken.get(organisationId);
    const isToday = before !== undefined && nowMs - before.sinceMs < DAY_MS;
    const { count, sinceMs } = isToday ? before : { count: 0, sinceMs: nowMs };
    if (count >= this.#freeMax) return false;
    if (!isToday) this.#taken.delete(organisationId);
    this.#taken.set(organisationId, { count: count + 1, sinceMs });
    const [oldest] = this.#taken.keys();
    if (this.#taken.size > ORGANISATIONS_MAX && oldest !== undefined) this.#taken.delete(oldest);
    return true;
  }
}
