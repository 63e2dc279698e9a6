// What the console reads: balance, usage, sessions and the audit log, of the session's own organisation only.

import type { AuditView, BalanceView, SessionView, UsageRowView } from '../../../api/console.ts';
import { printable, refuse } from '../../../api/errors.ts';
import { usdOf } from '../../../billing/price.ts';
import type { SessionRecord, UsageGroup } from '../../../store/ledger-calls.ts';
import type { Store } from '../../../store/store.ts';
import { parseQuery } from '../../query.ts';
import { json, type Route } from '../../router.ts';
import type { ConsoleContext, ConsoleRoute } from './console-route.ts';

const DAY_MS = 86_400_000;
const USAGE_DAYS = 30;
const ROWS = { default: 50, max: 200 } as const;
const GROUPS: readonly UsageGroup[] = ['model', 'provider', 'day', 'key'];
const UTC = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z)?$/;

export interface RecordRoutesDependencies {
  store: Pick<Store, 'balanceOf' | 'usageOf' | 'listSessions' | 'findSession' | 'listAudit'>;
  consoleRoute: ConsoleRoute;
  /** Wall-clock milliseconds. */
  nowMs(): number;
}

export function recordRoutes(dependencies: RecordRoutesDependencies): Route[] {
  const { consoleRoute } = dependencies;
  const get = (path: string, handler: (context: ConsoleContext) => ReturnType<Route['handle']>): Route => ({
    method: 'GET',
    path: `/console/api/${path}`,
    handle: consoleRoute(handler),
  });
  return [
    get('balance', getBalance(dependencies)),
    get('usage', getUsage(dependencies)),
    get('sessions', listSessions(dependencies)),
    get('sessions/:id', getSession(dependencies)),
    get('audit', listAudit(dependencies)),
  ];
}

const getBalance =
  ({ store }: RecordRoutesDependencies) =>
  async ({ organisationId }: ConsoleContext) => {
    const balance = await store.balanceOf(organisationId);
    const orNull = (microUsd: bigint | null) => (microUsd === null ? null : usdOf(microUsd));
    const view: BalanceView = {
      currency: 'USD',
      balance: usdOf(balance.balanceMicroUsd),
      held: usdOf(balance.heldMicroUsd),
      available: orNull(balance.availableMicroUsd),
      credit_limit: orNull(balance.creditLimitMicroUsd),
    };
    return json(200, view);
  };

const getUsage =
  ({ store, nowMs }: RecordRoutesDependencies) =>
  async ({ request, organisationId }: ConsoleContext) => {
    const query = readQuery(request.query, ['from', 'to', 'group_by', 'key_id']);
    const from = readTime(query, 'from', nowMs() - USAGE_DAYS * DAY_MS);
    const to = readTime(query, 'to', nowMs());
    const groupBy = (query.get('group_by') ?? 'day') as UsageGroup;
    if (!GROUPS.includes(groupBy)) throw bad('group_by', `is one of ${GROUPS.join(', ')}`);
    const keyId = query.get('key_id');
    const rows = await store.usageOf({ organisationId, from, to, groupBy, ...(keyId === undefined ? {} : { keyId }) });
    const data = rows.map(
      (row): UsageRowView => ({
        group: row.group,
        byok: row.own,
        sessions: row.sessions,
        audio_seconds: row.audioMs / 1000,
        cost_usd: usdOf(row.costMicroUsd),
      }),
    );
    return json(200, { from, to, group_by: groupBy, data });
  };

const listSessions =
  ({ store }: RecordRoutesDependencies) =>
  async ({ request, organisationId }: ConsoleContext) => {
    const query = readQuery(request.query, ['limit', 'before']);
    const limit = readLimit(query);
    const sessions = await store.listSessions(organisationId, limit, query.get('before'));
    return json(200, { data: sessions.map(sessionView), has_more: sessions.length === limit });
  };

const getSession =
  ({ store }: RecordRoutesDependencies) =>
  async ({ params, organisationId }: ConsoleContext) => {
    const session = await store.findSession(organisationId, params.id ?? '');
    if (session === undefined)
      throw refuse('not_found', 'There is no such session. GET /console/api/sessions lists them.');
    return json(200, sessionView(session));
  };

const listAudit =
  ({ store }: RecordRoutesDependencies) =>
  async ({ request, organisationId }: ConsoleContext) => {
    const query = readQuery(request.query, ['limit', 'before']);
    const limit = readLimit(query);
    const before = query.get('before');
    if (before !== undefined && !/^\d{1,15}$/.test(before)) throw bad('before', 'is the number of an entry');
    const records = await store.listAudit(organisationId, limit, ...(before === undefined ? [] : [Number(before)]));
    const data = records.map(
      ({ number, at, by, action, target, detail }): AuditView => ({
        number,
        at,
        by: { type: by.type, id: by.id, address: by.address ?? null },
        action,
        target,
        detail,
      }),
    );
    return json(200, { data, has_more: records.length === limit });
  };

function sessionView(session: SessionRecord): SessionView {
  return {
    id: session.id,
    mode: session.mode,
    model: session.model,
    key_id: session.keyId,
    opened_at: session.openedAt,
    ended_at: session.endedAt,
    reason: session.reason,
    code: session.code,
    audio_seconds: session.audioMs / 1000,
    cost_usd: usdOf(session.costMicroUsd),
    held_usd: usdOf(session.heldMicroUsd),
    lines: session.lines.map((line) => ({
      model: line.model,
      byok: line.own,
      audio_seconds: line.audioMs / 1000,
      cost_usd: usdOf(line.costMicroUsd),
    })),
  };
}

function readQuery(raw: string, known: readonly string[]): Map<string, string> {
  const query = parseQuery(raw);
  for (const name of query.keys()) {
    if (!known.includes(name)) throw bad(printable(name), `is not a parameter here; known are ${known.join(', ')}`);
  }
  return query;
}

function readTime(query: ReadonlyMap<string, string>, name: string, fallbackMs: number): string {
  const text = query.get(name);
  const atMs = text === undefined ? fallbackMs : UTC.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(atMs)) throw bad(name, 'is a time by UTC such as `2030-01-31` or `2030-01-31T12:00:00Z`');
  return new Date(atMs).toISOString();
}

function readLimit(query: ReadonlyMap<string, string>): number {
  const text = query.get('limit');
  if (text === undefined) return ROWS.default;
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > ROWS.max) throw bad('limit', `is an integer from 1 to ${ROWS.max}`);
  return limit;
}

function bad(param: string, what: string) {
  return refuse('invalid_request', `\`${param}\` ${what}.`, { param });
}
