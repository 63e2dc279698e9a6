// What is told of all organisations together: to members of the gateway's own first organisation only.
import type { MachinesView } from '../../../../api/console/console.ts';
import { refuse } from '../../../../api/errors.ts';
import type { Store } from '../../../../store/store.ts';
import { knownQuery } from '../../../http/query-values.ts';
import { json, type Route } from '../../../router.ts';
import { fromLedger } from '../../../store-answer.ts';
import type { ConsoleContext, ConsoleRoute } from '../console-route.ts';
import type { Endpoint } from '../roles.ts';

export interface OperatorRoutesDependencies {
  store: Pick<Store, 'isOperator'>;
  countMachines(): Promise<MachinesView>;
}

export function operatorRoutes(
  consoleRoute: ConsoleRoute,
  { store, countMachines }: OperatorRoutesDependencies,
): Route[] {
  const forOperator = (endpoint: Endpoint, answer: (context: ConsoleContext) => Promise<unknown>) =>
    consoleRoute(endpoint, async (context) => {
      if (!(await fromLedger(store.isOperator(context.organisationId)))) {
        throw refuse(
          'operator_only',
          'This is told of all organisations together, so to members of the gateway’s own first organisation only.',
        );
      }
      return json(200, await answer(context));
    });
  return [
    forOperator('GET machines', async ({ request }) => {
      knownQuery(request.query, '/console/api/machines', []);
      return countMachines();
    }),
  ];
}
