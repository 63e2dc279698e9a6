// Endpoints of organisations on an open database: made, changed, disabled and removed.
import { isDeepStrictEqual } from 'node:util';
import {
  type DisabledReason,
  WEBHOOK_DESCRIPTION_LENGTH_MAX,
  WEBHOOK_EVENTS,
  WEBHOOK_FORMATS,
  WEBHOOK_URL_LENGTH_MAX,
  type WebhookFormat,
} from '../../api/webhooks.ts';
import { usdOf } from '../../config/prices/price.ts';
import type { Actor } from '../../store/audit-log.ts';
import { noOrganisation, StoreError } from '../../store/store-error.ts';
import type { TableContext } from '../../store/table-context.ts';
import type { NewWebhook, Webhook, WebhookCalls, WebhookLimits, WebhookSettings } from './calls.ts';

const MICRO_USD_MAX = 2n ** 63n - 1n;
const OVERLAP_MS_MAX = 7 * 24 * 3_600_000;
const SECRET_BYTES_MAX = 1024;
const GATEWAY: Actor = { type: 'system', id: 'webhooks' };

interface Row extends Omit<Webhook, 'events' | 'balanceLowMicroUsd' | 'transcripts'> {
  transcripts: 0 | 1;
  number: number;
  events: string;
  balanceLow: string;
}

type EndpointCalls = Pick<
  WebhookCalls,
  'createWebhook' | 'changeWebhook' | 'rollWebhookSecret' | 'removeWebhook' | 'findWebhook' | 'listWebhooks'
>;

export interface EndpointTables {
  calls: EndpointCalls;
  /** In the caller's transaction, with a mail to the owners of the organisation. */
  disable(number: number, reason: Exclude<DisabledReason, 'requested'>): void;
}

type EndpointRows = ReturnType<typeof endpointRows>;

/** The rows of endpoints: found and ended. Runs in the caller's transaction. */
function endpointRows(context: TableContext) {
  const { nowMs, audit } = context;
  const rows = prepare(context);
  const shown = ({ number: _, events, balanceLow, ...row }: Row): Webhook => ({
    ...row,
    events: JSON.parse(events) as Webhook['events'],
    balanceLowMicroUsd: BigInt(balanceLow),
    transcripts: row.transcripts === 1,
    previousUntilMs: row.previousUntilMs !== null && row.previousUntilMs > nowMs() ? row.previousUntilMs : null,
  });
  return {
    rows,
    shown,
    found: (organisationId: string, id: string): Webhook => shown(rows.find.get({ organisationId, id }) as Row),
    note: (by: Actor, action: string, organisationId: string, target: string, detail: object) =>
      audit({ by, organisationId, action, target, detail: { ...detail } }),
    /** What waits for it has failed. */
    end(number: number, reason: DisabledReason): void {
      rows.disable.run(reason, number);
      rows.failPending.run(nowMs(), number);
      rows.removeFacts.run(number);
    },
  };
}

export function createEndpointTables(context: TableContext, limits: WebhookLimits): EndpointTables {
  const { database, outbox } = context;
  const endpoints = endpointRows(context);
  const { rows, shown, note, end } = endpoints;
  const { create, change, roll, remove } = endpointChanges(context, endpoints, limits);
  return {
    calls: {
      createWebhook: database.transaction(create),
      changeWebhook: database.transaction(change),
      rollWebhookSecret: database.transaction(roll),
      removeWebhook: database.transaction(remove),
      findWebhook: (organisationId, id) => {
        const row = rows.find.get({ organisationId, id });
        return row && shown(row);
      },
      listWebhooks: (organisationId) => rows.list.all(organisationId).map(shown),
    },
    disable(number, reason) {
      const row = rows.byNumber.get(number);
      if (row === undefined || row.state === 'disabled') return;
      end(number, reason);
      const { organisationId, id, url } = row;
      note(GATEWAY, 'webhook.disabled', organisationId, id, { reason });
      for (const to of rows.owners.all(organisationId))
        outbox('mail.webhook-disabled', { to, organisationId, url: shownUrl(url), reason });
    },
  };
}

/** What is done to endpoints, each with its entry in the audit log. */
function endpointChanges(
  { nowMs }: TableContext,
  { rows, shown, found, note, end }: EndpointRows,
  { endpointsMax }: WebhookLimits,
) {
  function create(
    organisationId: string,
    { id, secret, format = 'standard', ...settings }: NewWebhook,
    by: Actor,
  ): Webhook {
    requireSettings(settings);
    requireFormat(format);
    requireSecret(secret);
    if (rows.hasOrganisation.get(organisationId) === undefined) throw noOrganisation(organisationId);
    const before = rows.find.get({ organisationId, id });
    if (before !== undefined) return shown(before);
    if (!/^we_[\w-]{1,60}$/.test(id) || rows.isTaken.get(id) !== undefined)
      throw new StoreError('invalid', 'The id of a webhook is `we_` and up to 60 characters, and is used once.');
    if ((rows.count.get(organisationId) as number) >= endpointsMax)
      throw new StoreError('conflict', `An organisation has up to ${endpointsMax} webhooks. Delete one first.`);
    rows.insert.run({ organisationId, id, secret, format, ...written(settings), now: nowMs() });
    const detail = format === 'standard' ? plain(settings) : { ...plain(settings), format };
    note(by, 'webhook.created', organisationId, id, detail);
    return found(organisationId, id);
  }

  const change: EndpointCalls['changeWebhook'] = (organisationId, id, { state, ...settings }, by) => {
    const row = rows.find.get({ organisationId, id });
    if (row === undefined) return undefined;
    const { url, events, description, balanceLowMicroUsd, transcripts } = shown(row);
    const before = { url, events, description, balanceLowMicroUsd, transcripts };
    const after = { ...before, ...defined(settings) };
    requireSettings(after);
    if (!isDeepStrictEqual(before, after)) {
      rows.change.run({ number: row.number, ...written(after) });
      note(by, 'webhook.changed', organisationId, id, { from: plain(before), to: plain(after) });
    }
    if (state !== undefined && state !== row.state) {
      if (state === 'enabled') rows.enable.run(row.number);
      else end(row.number, 'requested');
      note(by, `webhook.${state}`, organisationId, id, {});
    }
    return found(organisationId, id);
  };

  const roll: EndpointCalls['rollWebhookSecret'] = (organisationId, id, secret, overlapMs, by) => {
    requireSecret(secret);
    if (!Number.isInteger(overlapMs) || overlapMs < 0 || overlapMs > OVERLAP_MS_MAX)
      throw new StoreError('invalid', 'A replaced secret of a webhook signs for 0 to 7 days.');
    const row = rows.find.get({ organisationId, id });
    if (row === undefined) return undefined;
    const { number } = row;
    const current = rows.secretOf.get(number) as Uint8Array;
    // A call that is repeated because its answer was lost keeps the secret before.
    if (Buffer.compare(current, secret) === 0) return shown(row);
    const isKept = overlapMs > 0;
    rows.roll.run({
      ...{ number, secret },
      previousSecret: isKept ? current : null,
      previousUntilMs: isKept ? nowMs() + overlapMs : null,
    });
    note(by, 'webhook.secret-rolled', organisationId, id, { overlapMs });
    return found(organisationId, id);
  };

  function remove(organisationId: string, id: string, by: Actor): boolean {
    const row = rows.find.get({ organisationId, id });
    if (row === undefined) return false;
    rows.removeFacts.run(row.number);
    rows.removeDeliveries.run(row.number);
    rows.remove.run(row.number);
    note(by, 'webhook.deleted', organisationId, id, { url: shownUrl(row.url) });
    return true;
  }

  return { create, change, roll, remove };
}

function prepare({ database }: TableContext) {
  const columns = `number, id, organisation_id AS organisationId, url, events, description,
    CAST(balance_low_micro_usd AS TEXT) AS balanceLow, transcripts, format, state, reason, failing_since_ms AS failingSinceMs,
    previous_until_ms AS previousUntilMs, dropped, created_at_ms AS createdAtMs`;
  return {
    hasOrganisation: database.prepare<[string], number>('SELECT 1 FROM organisations WHERE id = ?').pluck(),
    isTaken: database.prepare<[string], number>('SELECT 1 FROM webhook_endpoints WHERE id = ?').pluck(),
    count: database
      .prepare<[string], number>('SELECT count(*) FROM webhook_endpoints WHERE organisation_id = ?')
      .pluck(),
    find: database.prepare<{ organisationId: string; id: string }, Row>(
      `SELECT ${columns} FROM webhook_endpoints WHERE organisation_id = @organisationId AND id = @id`,
    ),
    byNumber: database.prepare<[number], Row>(`SELECT ${columns} FROM webhook_endpoints WHERE number = ?`),
    list: database.prepare<[string], Row>(
      `SELECT ${columns} FROM webhook_endpoints WHERE organisation_id = ? ORDER BY number`,
    ),
    insert: database.prepare<
      { organisationId: string; id: string; secret: Uint8Array; format: WebhookFormat; now: number } & Written
    >(
      `INSERT INTO webhook_endpoints
         (id, organisation_id, url, events, description, balance_low_micro_usd, transcripts, format, state, secret, created_at_ms)
       VALUES
         (@id, @organisationId, @url, @events, @description, @balanceLow, @transcripts, @format, 'enabled', @secret, @now)`,
    ),
    change: database.prepare<{ number: number } & Written>(
      `UPDATE webhook_endpoints
       SET url = @url, events = @events, description = @description, balance_low_micro_usd = @balanceLow,
           transcripts = @transcripts
       WHERE number = @number`,
    ),
    ...prepareChanges(database),
    owners: database
      .prepare<[string], string>(
        `SELECT email FROM memberships JOIN people ON id = person_id
         WHERE organisation_id = ? AND role = 'owner' AND state = 'verified' ORDER BY id`,
      )
      .pluck(),
  };
}

function prepareChanges(database: TableContext['database']) {
  return {
    secretOf: database.prepare<[number], Uint8Array>('SELECT secret FROM webhook_endpoints WHERE number = ?').pluck(),
    roll: database.prepare<{
      number: number;
      secret: Uint8Array;
      previousSecret: Uint8Array | null;
      previousUntilMs: number | null;
    }>(
      `UPDATE webhook_endpoints
       SET secret = @secret, previous_secret = @previousSecret, previous_until_ms = @previousUntilMs
       WHERE number = @number`,
    ),
    enable: database.prepare<[number]>(
      "UPDATE webhook_endpoints SET state = 'enabled', reason = NULL, failing_since_ms = NULL WHERE number = ?",
    ),
    disable: database.prepare<[string, number]>(
      "UPDATE webhook_endpoints SET state = 'disabled', reason = ? WHERE number = ?",
    ),
    failPending: database.prepare<[number, number]>(
      `UPDATE webhook_deliveries SET state = 'failed', next_at_ms = NULL, ended_at_ms = ?
       WHERE endpoint = ? AND next_at_ms IS NOT NULL`,
    ),
    removeFacts: database.prepare<[number]>('DELETE FROM webhook_facts WHERE endpoint = ?'),
    removeDeliveries: database.prepare<[number]>('DELETE FROM webhook_deliveries WHERE endpoint = ?'),
    remove: database.prepare<[number]>('DELETE FROM webhook_endpoints WHERE number = ?'),
  };
}

interface Written {
  url: string;
  events: string;
  description: string;
  balanceLow: bigint;
  transcripts: 0 | 1;
}

const written = ({ url, events, description, balanceLowMicroUsd, transcripts }: WebhookSettings): Written => ({
  transcripts: transcripts ? 1 : 0,
  ...{ url, description },
  events: JSON.stringify(events),
  balanceLow: balanceLowMicroUsd,
});

const defined = <Value extends object>(value: Value): Partial<Value> =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as Partial<Value>;

/** Settings as the audit log takes them. */
const plain = ({ url, events, description, balanceLowMicroUsd, transcripts }: WebhookSettings) => ({
  ...{ url: shownUrl(url), events, description, transcripts },
  balanceLowUsd: usdOf(balanceLowMicroUsd),
});

/** Without its query, which may have a secret of the customer's. */
const shownUrl = (url: string): string => url.split(/[?#]/, 1)[0] as string;

function requireSettings({ url, events, description, balanceLowMicroUsd }: WebhookSettings): void {
  const isUrl = typeof url === 'string' && /^https?:\/\/./.test(url) && url.length <= WEBHOOK_URL_LENGTH_MAX;
  if (!isUrl) throw new StoreError('invalid', `The URL of a webhook has up to ${WEBHOOK_URL_LENGTH_MAX} characters.`);
  const known: readonly unknown[] = WEBHOOK_EVENTS;
  if (!Array.isArray(events) || events.length === 0 || events.some((event) => !known.includes(event)))
    throw new StoreError('invalid', `The events of a webhook are one or more of ${WEBHOOK_EVENTS.join(', ')}.`);
  if (typeof description !== 'string' || description.length > WEBHOOK_DESCRIPTION_LENGTH_MAX)
    throw new StoreError(
      'invalid',
      `The description of a webhook has up to ${WEBHOOK_DESCRIPTION_LENGTH_MAX} characters.`,
    );
  if (typeof balanceLowMicroUsd !== 'bigint' || balanceLowMicroUsd < 0n || balanceLowMicroUsd > MICRO_USD_MAX)
    throw new StoreError(
      'invalid',
      'The amount below which a balance is low is a whole number of micro-USD from 0 up.',
    );
}

function requireFormat(format: WebhookFormat): void {
  if (WEBHOOK_FORMATS.includes(format)) return;
  throw new StoreError('invalid', `The format of a webhook is one of ${WEBHOOK_FORMATS.join(', ')}.`);
}

function requireSecret(secret: Uint8Array): void {
  if (secret.length > 0 && secret.length <= SECRET_BYTES_MAX) return;
  throw new StoreError('invalid', `The sealed secret of a webhook has 1 to ${SECRET_BYTES_MAX} bytes.`);
}
