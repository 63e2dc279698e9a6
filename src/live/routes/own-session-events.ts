// What happens in a session, for the page that shows it: the same events as a key is told, with the text of finals where the
// organisation shows transcripts.

import type { ConsoleRoute } from '../../accounts/console-login/console-route.ts';
import type { KeyStore } from '../../accounts/keys/calls.ts';
import type { Route } from '../../http/router.ts';
import { getSessionEvents, type SessionEventsDependencies } from './session-events.ts';

export function consoleSessionEvents(
  consoleRoute: ConsoleRoute,
  dependencies: SessionEventsDependencies & { store: Pick<KeyStore, 'findOrganisation'> },
): Route[] {
  const handler = getSessionEvents(dependencies);
  return [
    consoleRoute('GET sessions/:id/events', (context) => {
      const { organisationId, isStillAllowed } = context;
      const seesTranscripts = () =>
        dependencies.store.findOrganisation(organisationId).then(
          (organisation) => organisation?.showTranscripts === true,
          () => false,
        );
      return handler(context, { organisationId, isStillAllowed, seesTranscripts });
    }),
  ];
}
