// What the console reads: the records of `/v1`, and the audit log, of the session's own organisation only.

import type { ConsoleContext, ConsoleRoute, ConsoleRouteOptions } from '../../accounts/console-login/console-route.ts';
import type { Endpoint } from '../../accounts/console-login/roles.ts';
import type { KeyStore } from '../../accounts/keys/calls.ts';
import type { AuditView } from '../../api/console/console.ts';
import { apiError } from '../../api/errors.ts';
import { knownQuery, wholeNumberOf } from '../../http/query.ts';
import { json, type Route } from '../../http/router.ts';
import { fromLedger } from '../../http/store-answer.ts';
import type { AuditStore } from '../../store/audit-log.ts';
import type { SessionEventsStore } from '../../store/session-events.ts';
import type { LedgerStore } from '../store/calls.ts';
import { getBill } from './bills.ts';
import { getSession, getSessions, type SessionsDependencies } from './sessions.ts';
import { getBalance, getUsage } from './usage.ts';

const ROWS = { min: 1, max: 200, default: 50 } as const;

export interface RecordRoutesDependencies extends Pick<SessionsDependencies, 'describeSession'> {
  store: Pick<
    SessionEventsStore & LedgerStore & KeyStore & AuditStore,
    | 'findSessionEvents'
    | 'balanceOf'
    | 'usageOf'
    | 'redactionsOf'
    | 'findKey'
    | 'listSessions'
    | 'searchSessions'
    | 'findSession'
    | 'billOf'
    | 'findOrganisation'
    | 'listAudit'
  >;
  consoleRoute: ConsoleRoute;
  /** Wall-clock milliseconds. */
  nowMs(): number;
}

export function recordRoutes({ consoleRoute, nowMs, ...rest }: RecordRoutesDependencies): Route[] {
  const dependencies = { ...rest, wallNow: () => new Date(nowMs()) };
  /** The same answer as to a key of the organisation. */
  const same = (
    endpoint: Endpoint,
    handler: (context: ConsoleContext, caller: ConsoleContext) => ReturnType<Route['handle']>,
    options?: ConsoleRouteOptions,
  ) => consoleRoute(endpoint, (context) => handler(context, context), options);
  const confirmed = { confirmed: true };
  return [
    same('GET balance', getBalance(dependencies), confirmed),
    same('GET usage', getUsage(dependencies)),
    same('GET sessions', getSessions(dependencies)),
    same('GET sessions/:id', getSession(dependencies)),
    same('GET bills/:month', getBill(dependencies), confirmed),
    consoleRoute('GET audit', listAudit(dependencies)),
  ];
}

const listAudit =
  ({ store }: { store: Pick<AuditStore, 'listAudit'> }) =>
  async ({ request, organisationId }: ConsoleContext) => {
    const query = knownQuery(request.query, '/console/api/audit', ['limit', 'before']);
    const limit = wholeNumberOf(query, 'limit', ROWS);
    const before = query.get('before');
    if (before !== undefined && !/^\d{1,15}$/.test(before)) {
      throw apiError('invalid_request', '`before` is the number of an entry.', { param: 'before' });
    }
    const records = await fromLedger(
      store.listAudit(organisationId, limit + 1, ...(before === undefined ? [] : [Number(before)])),
    );
    const data = records.slice(0, limit).map(
      ({ number, at, by, action, target, detail }): AuditView => ({
        number,
        at,
        by: { type: by.type, id: by.id, address: by.address ?? null },
        action,
        target,
        detail,
      }),
    );
    return json(200, { data, has_more: records.length > limit });
  };
