// What the console's first page shows that no other page does.
import type { ConsoleContext, ConsoleRoute } from '../../../accounts/console-login/console-route.ts';
import { FAILOVERS_LISTED_MAX, type Overview } from '../../../api/console/gateway.ts';
import { json, type Route } from '../../../http/router.ts';
import { fromLedger } from '../../../http/store-answer.ts';
import type { LedgerStore } from '../../../money/store/calls.ts';
import type { SessionEventsStore } from '../../../store/session-events.ts';
import { getModel, getModels, type ModelsDependencies } from '../models.ts';

const DAY_MS = 86_400_000;
const LOW_MICRO_USD = 1_000_000n;

export interface OverviewDependencies {
  store: Pick<LedgerStore & SessionEventsStore, 'balanceOf' | 'usageOf' | 'listFailovers' | 'countLiveSessions'>;
  /** Wall-clock milliseconds. */
  nowMs(): number;
}

export function overviewRoute(consoleRoute: ConsoleRoute, dependencies: OverviewDependencies): Route {
  return consoleRoute('GET overview', getOverview(dependencies));
}

const getOverview =
  ({ store, nowMs }: OverviewDependencies) =>
  async ({ organisationId }: ConsoleContext) => {
    const now = new Date(nowMs()).toISOString();
    const dayBefore = new Date(nowMs() - DAY_MS).toISOString();
    const today = `${now.slice(0, 10)}T00:00:00.000Z`;
    const [live, failovers, { availableMicroUsd: left }, usage] = await fromLedger(
      Promise.all([
        store.countLiveSessions(organisationId, dayBefore),
        store.listFailovers(organisationId, today, FAILOVERS_LISTED_MAX),
        store.balanceOf(organisationId),
        store.usageOf({ organisationId, from: dayBefore, to: now, groupBy: 'day' }),
      ]),
    );
    const used = usage.reduce((sum, { costMicroUsd }) => sum + costMicroUsd, 0n);
    const answer: Overview = {
      live_sessions: live,
      failovers: {
        count: failovers.count,
        newest: failovers.newest.map(({ sessionId, at, text }) => ({ session_id: sessionId, at, text })),
      },
      credit_is_low: left !== null && (left < LOW_MICRO_USD || left < used),
    };
    return json(200, answer);
  };

// The catalogue as the console reads it: the same answers as to a key of the organisation.
export function consoleModelRoutes(consoleRoute: ConsoleRoute, dependencies: ModelsDependencies): Route[] {
  const [all, one] = [getModels(dependencies), getModel(dependencies)];
  return [
    consoleRoute('GET models', (context) => all(context, context)),
    consoleRoute('GET models/:provider/:model', (context) => one(context, context)),
  ];
}
