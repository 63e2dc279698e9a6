// `spend.reached`: once for each key and day (UTC), and once for each part of a ceiling. The accounts keep it with the hold that reached it.
// Accounts of older versions do not: then the node that notices first reports it, and nodes that notice later report the same event.
import type { SpendPercent, SpendPeriod } from '../api/spend-ceilings.ts';
import { usdOf } from '../config/prices/price.ts';
import { dayName, reachedName } from '../money/store/ceiling-words.ts';
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
  /** The accounts keep it until it is delivered. */
  isKept?: boolean;
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
  reached({ organisationId, keyId }: { organisationId: string; keyId: string }, isKept = false): void {
    const date = this.#today();
    const once = dayName(keyId, date);
    if (isKept || !this.#isFirst(once)) return;
    void this.#events.emit(organisationId, 'spend.reached', dataOfDay(keyId, date), once);
  }

  /** False where it was reported before. */
  ceiling(report: CeilingReport): boolean {
    const { organisationId, limitMicroUsd, usedMicroUsd, isKept = false } = report;
    const date = this.#today();
    const once = reachedName(report);
    if (!this.#isFirst(once)) return false;
    if (organisationId === null || isKept) return true;
    const amounts = { limit_usd: usdOf(limitMicroUsd), used_usd: usdOf(usedMicroUsd) };
    void this.#events.emit(organisationId, 'spend.reached', dataOfCeiling(report, date, amounts), once);
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

const dataOfDay = (keyId: string, date: string) => ({ key_id: keyId, date, scope: 'key', period: 'day', percent: 100 });

function dataOfCeiling(
  { scope, provider, period, span, percent }: Pick<CeilingReport, 'scope' | 'provider' | 'period' | 'span' | 'percent'>,
  date: string,
  { limit_usd, used_usd }: { limit_usd: string; used_usd: string },
) {
  const kind = kindOfScope(scope);
  return {
    ...{ key_id: kind === 'key' ? scope : null, date, scope: kind, provider: provider === '' ? null : provider },
    ...{ period, period_start: startOf(span), percent, limit_usd, used_usd },
  };
}

/** What the accounts have kept, as its event says it. */
export function toldOfSpend(detail: string): { at: Date; data: object } {
  const { at, ...kept } = JSON.parse(detail) as KeptReport;
  const date = at.slice(0, DAY_LENGTH);
  return { at: new Date(at), data: 'keyId' in kept ? dataOfDay(kept.keyId, date) : dataOfCeiling(kept, date, kept) };
}

type KeptReport = { at: string } & (
  | { keyId: string }
  | (Pick<CeilingReport, 'scope' | 'provider' | 'period' | 'span' | 'percent'> & {
      limit_usd: string;
      used_usd: string;
    })
);

/** The first moment of an hour, day or month. */
const startOf = (span: string): string => `${span}${'0000-01-01T00:00:00.000Z'.slice(span.length)}`;
