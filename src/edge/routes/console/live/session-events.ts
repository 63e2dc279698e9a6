// What happens in a session, for the page that shows it: the same events as a key is told.
import type { Route } from '../../../router.ts';
import { getSessionEvents, type SessionEventsDependencies } from '../../session-events.ts';
import type { ConsoleRoute } from '../console-route.ts';

export function consoleSessionEvents(consoleRoute: ConsoleRoute, dependencies: SessionEventsDependencies): Route[] {
  const handler = getSessionEvents(dependencies);
  return [consoleRoute('GET sessions/:id/events', (context) => handler(context, context))];
}
