// The catalogue as the console reads it: the same answers as to a key of the organisation.

import type { ConsoleRoute } from '../../../accounts/console-login/console-route.ts';
import type { Route } from '../../../http/router.ts';
import { getModel, getModels, type ModelsDependencies } from '../models.ts';

export function consoleModelRoutes(consoleRoute: ConsoleRoute, dependencies: ModelsDependencies): Route[] {
  const [all, one] = [getModels(dependencies), getModel(dependencies)];
  return [
    consoleRoute('GET models', (context) => all(context, context)),
    consoleRoute('GET models/:provider/:model', (context) => one(context, context)),
  ];
}
