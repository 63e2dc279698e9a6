// What the node that sends deliveries needs of an open database: which are due, what came of each attempt, and secrets to be sealed
// again.
import type { DisabledReason } from '../../api/webhooks.ts';
import type { TableContext } from '../../store/table-context.ts';
import {
  type AttemptedDelivery,
  type DeliveryAttempt,
  type DeliveryState,
  type DeliveryToSend,
  type DueDelivery,
  FACTS_MAX,
  type SealedWebhookSecret,
  type WebhookCalls,
  type WebhookFact,
  type WebhookLimits,
} from './calls.ts';
import type { EndpointTables } from './endpoint-tables.ts';
import type { TranscriptTables } from './transcript-tables.ts';

/** Endpoints that are looked at in one call. */
const ENDPOINTS_MAX = 500;
const LATEST_MAX = 20;

type Context = Pick<TableContext, 'database' | 'nowMs'>;
type WorkCalls = Pick<
  WebhookCalls,
  'readWebhookWork' | 'takeWebhookDelivery' | 'recordWebhookAttempt' | 'listWebhookSecrets' | 'resealWebhookSecrets'
>;

type DueRow = Omit<DueDelivery, 'isFailing'> & { isFailing: 0 | 1 };

type FactRow = Omit<WebhookFact, 'hasTranscript' | 'isFailing'> & { hasTranscript: 0 | 1; isFailing: 0 | 1 };

interface AttemptedRow {
  endpoint: number;
  state: DeliveryState;
  latest: string;
  failingSinceMs: number | null;
}

export function createWorkTables(
  context: Context,
  { disable, hasExpired }: Pick<EndpointTables, 'disable'> & Pick<TranscriptTables, 'hasExpired'>,
  { keptMs, failingMs }: WebhookLimits,
): WorkCalls {
  const { database, nowMs } = context;
  const rows = prepare(context);

  function due(after: number, perEndpointMax: number, max: number): DueDelivery[] {
    const now = nowMs();
    const found: DueDelivery[] = [];
    // Those that follow, then from the first one on.
    for (const [from, to] of [
      [after, Number.MAX_SAFE_INTEGER],
      [0, after],
    ] as const) {
      let endpoint = rows.nextEndpoint.get(from, to) ?? null;
      for (let looked = 0; endpoint !== null && looked < ENDPOINTS_MAX && found.length < max; looked++) {
        const limit = Math.min(perEndpointMax, max - found.length);
        const page = rows.due.all({ endpoint, now, limit });
        found.push(...page.map((row) => ({ ...row, isFailing: row.isFailing === 1 })));
        endpoint = rows.nextEndpoint.get(endpoint, to) ?? null;
      }
    }
    return found;
  }

  function record({ number, attempt, outcome, retryAfterMs }: AttemptedDelivery) {
    const row = rows.attempted.get(number);
    if (row === undefined) return undefined;
    const now = nowMs();
    const latest = JSON.stringify([...(JSON.parse(row.latest) as DeliveryAttempt[]), attempt].slice(-LATEST_MAX));
    // One that has ended meanwhile, with its endpoint, is not tried again.
    const isOver = row.state !== 'pending' && outcome !== 'delivered';
    if (isOver) rows.addAttempt.run({ number, latest });
    else if (outcome === 'retry') rows.retry.run({ number, latest, nextAtMs: now + (retryAfterMs ?? 0) });
    else rows.end.run({ number, latest, state: outcome === 'delivered' ? 'delivered' : 'failed', now });
    return { disabled: noteOutcome(row, outcome, now) };
  }

  function noteOutcome(
    { endpoint, failingSinceMs }: AttemptedRow,
    outcome: AttemptedDelivery['outcome'],
    now: number,
  ): DisabledReason | null {
    if (outcome === 'delivered') {
      if (failingSinceMs !== null) rows.noteFailing.run(null, endpoint);
      return null;
    }
    if (failingSinceMs === null) rows.noteFailing.run(now, endpoint);
    const isFailing = failingSinceMs !== null && now - failingSinceMs >= failingMs;
    if (outcome !== 'gone' && !isFailing) return null;
    const reason = outcome === 'gone' ? 'gone' : 'failing';
    disable(endpoint, reason);
    return reason;
  }

  return {
    readWebhookWork: (after, perEndpointMax, max, factsAfter) => ({
      isUsed: rows.isUsed.get() === 1,
      due: due(after, perEndpointMax, max),
      facts: rows.facts.all(factsAfter, FACTS_MAX).map(({ hasTranscript, isFailing, ...row }) => ({
        ...row,
        hasTranscript: hasTranscript === 1,
        isFailing: isFailing === 1,
      })),
      hasExpired: rows.hasExpired.get(nowMs() - keptMs) === 1 || hasExpired(),
    }),
    takeWebhookDelivery: database.transaction((number: number, leaseMs: number) => {
      const now = nowMs();
      const isDue = rows.lease.run({ number, now, untilMs: now + leaseMs }).changes === 1;
      return isDue ? rows.toSend.get({ number, now }) : undefined;
    }),
    recordWebhookAttempt: database.transaction(record),
    listWebhookSecrets: () => rows.secrets.all(),
    resealWebhookSecrets: database.transaction((resealed: Parameters<WorkCalls['resealWebhookSecrets']>[0]) => {
      for (const { id, from, to } of resealed) {
        rows.reseal.run(to, id, from);
        rows.resealPrevious.run(to, id, from);
      }
    }),
  };
}

function prepare({ database }: Context) {
  return {
    isUsed: database.prepare<[], number>('SELECT EXISTS (SELECT 1 FROM webhook_endpoints)').pluck(),
    nextEndpoint: database
      .prepare<[number, number], number | null>(
        `SELECT min(endpoint) FROM webhook_deliveries
         WHERE next_at_ms IS NOT NULL AND endpoint > ? AND endpoint <= ?`,
      )
      .pluck(),
    due: database.prepare<{ endpoint: number; now: number; limit: number }, DueRow>(
      `SELECT delivery.number, delivery.organisation_id AS organisationId, endpoint, failing_since_ms IS NOT NULL AS isFailing
       FROM webhook_deliveries AS delivery JOIN webhook_endpoints AS webhook ON webhook.number = endpoint
       WHERE endpoint = @endpoint AND next_at_ms <= @now
       ORDER BY next_at_ms, delivery.number LIMIT @limit`,
    ),
    toSend: database.prepare<{ number: number; now: number }, DeliveryToSend>(
      `SELECT delivery.id, delivery.organisation_id AS organisationId, webhook.id AS endpointId, url, format, payload, secret,
              CASE WHEN previous_until_ms > @now THEN previous_secret END AS previousSecret, retries
       FROM webhook_deliveries AS delivery JOIN webhook_endpoints AS webhook ON webhook.number = endpoint
       WHERE delivery.number = @number`,
    ),
    lease: database.prepare<{ number: number; now: number; untilMs: number }>(
      'UPDATE webhook_deliveries SET next_at_ms = @untilMs WHERE number = @number AND next_at_ms <= @now',
    ),
    facts: database.prepare<[number, number], FactRow>(
      `SELECT webhook_facts.number, endpoint, organisation_id AS organisationId, type, subject, detail, format,
              failing_since_ms IS NOT NULL AS isFailing, transcripts AS hasTranscript
       FROM webhook_facts JOIN webhook_endpoints ON webhook_endpoints.number = endpoint
       WHERE webhook_facts.number > ? ORDER BY webhook_facts.number LIMIT ?`,
    ),
    hasExpired: database
      .prepare<[number], number>('SELECT EXISTS (SELECT 1 FROM webhook_deliveries WHERE ended_at_ms <= ?)')
      .pluck(),
    attempted: database.prepare<[number], AttemptedRow>(
      `SELECT endpoint, delivery.state, latest, failing_since_ms AS failingSinceMs
       FROM webhook_deliveries AS delivery JOIN webhook_endpoints ON webhook_endpoints.number = endpoint
       WHERE delivery.number = ?`,
    ),
    addAttempt: database.prepare<{ number: number; latest: string }>(
      'UPDATE webhook_deliveries SET attempts = attempts + 1, latest = @latest WHERE number = @number',
    ),
    retry: database.prepare<{ number: number; latest: string; nextAtMs: number }>(
      `UPDATE webhook_deliveries
       SET attempts = attempts + 1, retries = retries + 1, latest = @latest, next_at_ms = @nextAtMs
       WHERE number = @number`,
    ),
    end: database.prepare<{ number: number; latest: string; state: DeliveryState; now: number }>(
      `UPDATE webhook_deliveries
       SET attempts = attempts + 1, retries = retries + 1, latest = @latest, state = @state, next_at_ms = NULL,
           ended_at_ms = @now
       WHERE number = @number`,
    ),
    noteFailing: database.prepare<[number | null, number]>(
      'UPDATE webhook_endpoints SET failing_since_ms = ? WHERE number = ?',
    ),
    secrets: database.prepare<[], SealedWebhookSecret>(
      `SELECT id, organisation_id AS organisationId, secret, previous_secret AS previousSecret
       FROM webhook_endpoints ORDER BY number`,
    ),
    reseal: database.prepare<[Uint8Array, string, Uint8Array]>(
      'UPDATE webhook_endpoints SET secret = ? WHERE id = ? AND secret = ?',
    ),
    resealPrevious: database.prepare<[Uint8Array, string, Uint8Array]>(
      'UPDATE webhook_endpoints SET previous_secret = ? WHERE id = ? AND previous_secret = ?',
    ),
  };
}
