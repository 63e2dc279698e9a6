// Deliveries on an open database: made for events and facts, listed, and requested again.
import { WEBHOOK_TEST, type WebhookType } from '../../api/webhooks.ts';
import { noOrganisation, StoreError } from '../../store/store-error.ts';
import type { TableContext } from '../../store/table-context.ts';
import type {
  DeliveryAttempt,
  FactBatch,
  FactDelivery,
  ListedDelivery,
  NewWebhookEvent,
  WebhookCalls,
  WebhookLimits,
} from './calls.ts';
import { DeliveryRoom } from './room.ts';

const LISTED_MAX = 101;

type Context = Pick<TableContext, 'database' | 'nowMs'>;
type DeliveryCalls = Pick<
  WebhookCalls,
  | 'addWebhookEvent'
  | 'addWebhookTest'
  | 'addWebhookDeliveries'
  | 'addWebhookBatches'
  | 'listWebhookDeliveries'
  | 'resendWebhookDelivery'
  | 'expireWebhookDeliveries'
>;

type Row = Omit<ListedDelivery, 'latest'> & { latest: string };

export function createDeliveryTables(context: Context, limits: WebhookLimits): DeliveryCalls {
  const { database, nowMs } = context;
  const rows = prepare(context);
  const expire = (max: number): number => rows.sweep.run(nowMs() - limits.keptMs, max).changes;
  const { addEvent, addTest, addForFacts, addBatches } = additions(context, rows, limits, expire);

  function resend(organisationId: string, endpointId: string, deliveryId: string): ListedDelivery | undefined {
    const endpoint = rows.endpoint.get(organisationId, endpointId);
    if (endpoint === undefined || rows.find.get(endpoint.number, deliveryId) === undefined) return undefined;
    requireEnabled(endpoint);
    rows.resend.run(nowMs(), endpoint.number, deliveryId);
    return shown(rows.find.get(endpoint.number, deliveryId) as Row);
  }

  function list(organisationId: string, endpointId: string, limit: number, before?: string): ListedDelivery[] {
    const endpoint = rows.endpoint.get(organisationId, endpointId);
    if (endpoint === undefined) return [];
    const last = before === undefined ? Number.MAX_SAFE_INTEGER : rows.numberOf.get(endpoint.number, before);
    if (last === undefined) throw new StoreError('not_found', 'There is no such delivery.');
    return rows.list.all(endpoint.number, last, Math.min(limit, LISTED_MAX)).map(shown);
  }

  return {
    addWebhookEvent: database.transaction(addEvent),
    addWebhookTest: database.transaction(addTest),
    addWebhookDeliveries: database.transaction(addForFacts),
    addWebhookBatches: database.transaction(addBatches),
    resendWebhookDelivery: database.transaction(resend),
    listWebhookDeliveries: list,
    expireWebhookDeliveries: expire,
  };
}

/** How deliveries come to be. Runs in the caller's transaction. */
function additions(
  context: Context,
  rows: ReturnType<typeof prepare>,
  limits: WebhookLimits,
  expire: (max: number) => number,
) {
  const { nowMs } = context;
  const room = new DeliveryRoom(context, limits);

  function add(
    endpoint: number,
    { organisationId, id, type, payload }: NewWebhookEvent,
  ): { isAdded: boolean; dropped: number } {
    if (rows.numberOf.get(endpoint, id) !== undefined) return { isAdded: false, dropped: 0 };
    const { dropped, hasRoom } = room.make(organisationId, payload.length);
    if (hasRoom) {
      rows.insert.run({ endpoint, organisationId, id, type, payload, now: nowMs() });
      return { isAdded: true, dropped };
    }
    room.noteDropped(endpoint);
    return { isAdded: false, dropped: dropped + 1 };
  }

  function addEvent(event: NewWebhookEvent): { added: number; dropped: number } {
    requirePayload(event.payload, limits);
    if (rows.hasOrganisation.get(event.organisationId) === undefined) throw noOrganisation(event.organisationId);
    const subscribers = rows.subscribers.all(event.organisationId, JSON.stringify(event.type));
    if (subscribers.length > 0) expire(limits.sweptMax);
    const counts = { added: 0, dropped: 0 };
    for (const endpoint of subscribers) {
      const { isAdded, dropped } = add(endpoint, event);
      if (isAdded) counts.added++;
      counts.dropped += dropped;
    }
    return counts;
  }

  function addTest(event: NewWebhookEvent, endpointId: string): ListedDelivery | undefined {
    requirePayload(event.payload, limits);
    const endpoint = rows.endpoint.get(event.organisationId, endpointId);
    if (endpoint === undefined) return undefined;
    requireEnabled(endpoint);
    add(endpoint.number, { ...event, type: WEBHOOK_TEST });
    const row = rows.find.get(endpoint.number, event.id);
    if (row === undefined) throw new StoreError('overflow', 'Too many deliveries wait: try again in a moment.');
    return shown(row);
  }

  function addForFacts(deliveries: readonly FactDelivery[]): number {
    let removed = 0;
    for (const { fact, id, payload } of deliveries) {
      const taken = rows.takeFact.get(fact);
      if (taken !== undefined && payload !== undefined) removed += addFor(taken, id, payload);
    }
    return removed;
  }

  function addBatches(batches: readonly FactBatch[]): number {
    let removed = 0;
    for (const { facts, id, payload } of batches) {
      const [taken] = facts.map((fact) => rows.takeFact.get(fact)).filter((each) => each !== undefined);
      if (taken !== undefined) removed += addFor(taken, id, payload);
    }
    return removed;
  }

  function addFor({ endpoint, type }: TakenFact, id: string, payload: Uint8Array): number {
    const organisationId = rows.organisationOf.get(endpoint) as string;
    if (payload.length <= limits.payloadBytesMax) return add(endpoint, { organisationId, id, type, payload }).dropped;
    // Refused, it would keep the facts after it waiting.
    room.noteDropped(endpoint);
    return 1;
  }

  return { addEvent, addTest, addForFacts, addBatches };
}

const shown = ({ latest, ...row }: Row): ListedDelivery => ({
  ...row,
  latest: JSON.parse(latest) as DeliveryAttempt[],
});

interface TakenFact {
  endpoint: number;
  type: WebhookType;
}

interface Endpoint {
  number: number;
  state: 'enabled' | 'disabled';
}

function requireEnabled({ state }: Endpoint): void {
  if (state === 'disabled') throw new StoreError('conflict', 'The webhook is disabled. Enable it first.');
}

function requirePayload(payload: Uint8Array, { payloadBytesMax }: WebhookLimits): void {
  if (payload.length > 0 && payload.length <= payloadBytesMax) return;
  throw new StoreError('invalid', `The sealed payload of a webhook has 1 to ${payloadBytesMax} bytes.`);
}

function prepare({ database }: Context) {
  const columns = `id, type, state, attempts, latest, next_at_ms AS nextAtMs, created_at_ms AS createdAtMs,
    ended_at_ms AS endedAtMs`;
  return {
    hasOrganisation: database.prepare<[string], number>('SELECT 1 FROM organisations WHERE id = ?').pluck(),
    endpoint: database.prepare<[string, string], Endpoint>(
      'SELECT number, state FROM webhook_endpoints WHERE organisation_id = ? AND id = ?',
    ),
    organisationOf: database
      .prepare<[number], string>('SELECT organisation_id FROM webhook_endpoints WHERE number = ?')
      .pluck(),
    subscribers: database
      .prepare<[string, string], number>(
        `SELECT number FROM webhook_endpoints
         WHERE organisation_id = ? AND state = 'enabled' AND instr(events, ?) > 0 ORDER BY number`,
      )
      .pluck(),
    numberOf: database
      .prepare<[number, string], number>('SELECT number FROM webhook_deliveries WHERE endpoint = ? AND id = ?')
      .pluck(),
    find: database.prepare<[number, string], Row>(
      `SELECT ${columns} FROM webhook_deliveries WHERE endpoint = ? AND id = ?`,
    ),
    list: database.prepare<[number, number, number], Row>(
      `SELECT ${columns} FROM webhook_deliveries WHERE endpoint = ? AND number < ? ORDER BY number DESC LIMIT ?`,
    ),
    insert: database.prepare<{
      endpoint: number;
      organisationId: string;
      id: string;
      type: WebhookType;
      payload: Uint8Array;
      now: number;
    }>(
      `INSERT INTO webhook_deliveries (endpoint, organisation_id, id, type, payload, state, next_at_ms, created_at_ms)
       VALUES (@endpoint, @organisationId, @id, @type, @payload, 'pending', @now, @now)`,
    ),
    takeFact: database.prepare<[number], TakenFact>(
      'DELETE FROM webhook_facts WHERE number = ? RETURNING endpoint, type',
    ),
    resend: database.prepare<[number, number, string]>(
      `UPDATE webhook_deliveries SET state = 'pending', retries = 0, next_at_ms = ?, ended_at_ms = NULL
       WHERE endpoint = ? AND id = ?`,
    ),
    sweep: database.prepare<[number, number]>(
      `DELETE FROM webhook_deliveries WHERE number IN
         (SELECT number FROM webhook_deliveries WHERE ended_at_ms <= ? ORDER BY ended_at_ms, number LIMIT ?)`,
    ),
  };
}
