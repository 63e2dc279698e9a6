// What is seen of sessions and of the gateway's charts: the events of one session, the same as a key is told; and, for the operator, how
// many actors of each machine are in each state, over all nodes and organisations.
import type { MachinesView } from '../../../api/console/console.ts';
import { refuse } from '../../../api/errors.ts';
import type { Store } from '../../../store/store.ts';
import { knownQuery } from '../../http/query-values.ts';
import { json, type Route } from '../../router.ts';
import { fromLedger } from '../../store-answer.ts';
import { getSessionEvents, type SessionEventsDependencies } from '../session-events.ts';
import type { ConsoleRoute } from './console-route.ts';

export function consoleSessionEvents(consoleRoute: ConsoleRoute, dependencies: SessionEventsDependencies): Route[] {
  const handler = getSessionEvents(dependencies);
  return [consoleRoute('GET sessions/:id/events', (context) => handler(context, context))];
}

export interface MachineRoutesDependencies {
  store: Pick<Store, 'isOperator'>;
  countMachines(): Promise<MachinesView>;
}

export function machineRoutes(
  consoleRoute: ConsoleRoute,
  { store, countMachines }: MachineRoutesDependencies,
): Route[] {
  return [
    consoleRoute('GET machines', async ({ request, organisationId }) => {
      knownQuery(request.query, '/console/api/machines', []);
      if (!(await fromLedger(store.isOperator(organisationId)))) {
        throw refuse(
          'operator_only',
          'This is told of all organisations together, so to members of the gateway’s own first organisation only.',
        );
      }
      return json(200, await countMachines());
    }),
  ];
}
