// `spend.reached`: once for each key and day (UTC), and once for each part of a ceiling, by whichever node notices first. Nodes that notice
// later report the same event.
import type { SpendPercent, SpendPeriod } from '../api/spend-ceilings.ts';
import { usdOf } from '../config/prices/price.ts';
import type { WebhookEvents } from './events.ts';

/** Events that are remembered, so that not every refused request asks the database. */
const REPORTED_MAX = 10_000;
const DAY_LENGTH = 10;

/** A part of a ceiling on spend, as the ledger reports it. */
export interface CeilingReport {
  /** `gateway`, or the id of an organisation or key. */
  scope: string;
  /** Who is told; null for nobody. */
  organisationId: string | null;
  /** Empty for all together. */
  provider: string;
  period: SpendPeriod;
  /** The hour, day or month. */
  span: string;
  percent: SpendPercent;
  limitMicroUsd: bigint;
  usedMicroUsd: bigint;
}

export const kindOfScope = (scope: string): 'key' | 'organisation' | 'gateway' =>
  scope.startsWith('key_') ? 'key' : scope.startsWith('org_') ? 'organisation' : 'gateway';

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
    const date = this.#today();
    if (!this.#isFirst(`${keyId} ${date}`)) return;
    const data = { key_id: keyId, date, scope: 'key', period: 'day', percent: 100 };
    void this.#events.emit(organisationId, 'spend.reached', data, `${keyId} ${date}`);
  }

  /** False where it was reported before. */
  ceiling({ scope, organisationId, provider, period, span, percent, ...amounts }: CeilingReport): boolean {
    const date = this.#today();
    const once = `${scope} ${provider} ${period} ${span} ${amounts.limitMicroUsd} ${percent}`;
    if (!this.#isFirst(once)) return false;
    if (organisationId === null) return true;
    const kind = kindOfScope(scope);
    const data = {
      ...{ key_id: kind === 'key' ? scope : null, date, scope: kind, provider: provider === '' ? null : provider },
      ...{ period, period_start: startOf(span), percent },
      ...{ limit_usd: usdOf(amounts.limitMicroUsd), used_usd: usdOf(amounts.usedMicroUsd) },
    };
    void this.#events.emit(organisationId, 'spend.reached', data, once);
    return true;
  }

  #today(): string {
    const date = this.#wallNow().toISOString().slice(0, DAY_LENGTH);
    if (date !== this.#date || this.#reported.size >= REPORTED_MAX) this.#reported.clear();
    this.#date = date;
    return date;
  }

  #isFirst(name: string): boolean {
    if (this.#reported.has(name)) return false;
    this.#reported.add(name);
    return true;
  }
}

/** The first moment of an hour, day or month. */
const startOf = (span: string): string => `${span}${'0000-01-01T00:00:00.000Z'.slice(span.length)}`;
