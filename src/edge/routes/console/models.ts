// The catalogue as the console reads it: the same answers as to a key of the organisation.
import type { Route } from '../../router.ts';
import { getModel, getModels, type ModelsDependencies } from '../models.ts';
import type { ConsoleRoute } from './console-route.ts';

export function consoleModelRoutes(consoleRoute: ConsoleRoute, dependencies: ModelsDependencies): Route[] {
  const [all, one] = [getModels(dependencies), getModel(dependencies)];
  return [
    consoleRoute('GET models', (context) => all(context, context)),
    consoleRoute('GET models/:provider/:model', (context) => one(context, context)),
  ];
}
