// What a session was and what it cost, over all its connections. Amounts are decimal strings: they are added exactly.
import type { UsageRow } from '../types/answers.ts';
import type { SessionEnded } from '../types/events.ts';

export interface SessionSummary {
  /** Why it ended: the gateway's word, or `terminated` by you. */
  reason: SessionEnded['reason'] | 'terminated';
  /** Seconds of audio that were sent, each counted once. */
  audioSeconds: number;
  /** By model, as far as the gateway told. */
  usage: UsageRow[];
  costUsd: string;
  /** False where a connection broke before its session could tell: `GET /v1/sessions/{id}` knows. */
  isUsageComplete: boolean;
  /** The gateway's sessions, in their order: more than one where a connection broke and its session could not go on. */
  sessionIds: string[];
  /** Connections that took the place of one that broke. */
  reconnections: number;
}

/** Collects what the sessions tell. */
export class Bill {
  readonly sessionIds: string[] = [];
  readonly #rows = new Map<string, UsageRow>();
  #costUsd = '0';
  #told = 0;
  #reconnections = 0;

  began(sessionId: string): void {
    this.sessionIds.push(sessionId);
  }

  /** A connection took the place of one that broke. */
  reconnected(): void {
    this.#reconnections++;
  }

  told({ usage, cost_usd }: SessionEnded): void {
    this.#told++;
    this.#costUsd = sum(this.#costUsd, cost_usd);
    for (const row of usage) {
      const key = `${row.model} ${row.byok}`;
      const before = this.#rows.get(key);
      const whole =
        before === undefined
          ? row
          : { ...row, seconds: before.seconds + row.seconds, cost_usd: sum(before.cost_usd, row.cost_usd) };
      this.#rows.set(key, whole);
    }
  }

  summary(reason: SessionSummary['reason'], audioSeconds: number): SessionSummary {
    return {
      reason,
      audioSeconds,
      usage: [...this.#rows.values()],
      costUsd: this.#costUsd,
      isUsageComplete: this.#told === this.sessionIds.length,
      sessionIds: [...this.sessionIds],
      reconnections: this.#reconnections,
    };
  }
}

const DECIMALS = 12;

/** The sum of two decimal numbers, with as many places as the longer of them. */
export function sum(a: string, b: string): string {
  const places = Math.min(DECIMALS, Math.max(placesOf(a), placesOf(b)));
  const total = (scaled(a, places) + scaled(b, places)).toString().padStart(places + 1, '0');
  return places === 0 ? total : `${total.slice(0, -places)}.${total.slice(-places)}`;
}

const placesOf = (text: string): number => text.split('.')[1]?.length ?? 0;

function scaled(text: string, places: number): bigint {
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.slice(0, places).padEnd(places, '0'));
}
