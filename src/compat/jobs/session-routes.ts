// The routes of live sessions that clients request later, for all dialects that have them.
import type { Caller } from '../../accounts/auth/permissions.ts';
import type { DoorRequest, Reply } from '../../http/door.ts';
import type { Route, RouteContext } from '../../http/router.ts';
import { dialects } from '../../vendors/compat/index.ts';
import type { SessionEndpoint } from '../../vendors/compat/jobs.ts';
import { captionsOf } from '../captions.ts';
import { headerCredentialOf } from '../header-credential.ts';
import { addressOf, pathOf } from '../routes.ts';
import type { KeptSessions } from './kept-sessions.ts';
import type { Owner } from './owner.ts';

export interface SessionRoutesDependencies {
  keptSessions: KeptSessions;
  wallNow(): Date;
}

type Handler = (context: RouteContext, caller: Caller) => Promise<Reply>;
type Keyed = (handler: Handler, credentialOf: (request: DoorRequest) => string | undefined) => Route['handle'];

export const sessionRoutes = ({ keptSessions, wallNow }: SessionRoutesDependencies, keyed: Keyed): Route[] =>
  dialects.flatMap((dialect) =>
    Object.entries(dialect.sessions ?? {}).map(([place, door]) => {
      const [method, path] = place.split(' ') as [string, string];
      const handle: Handler = async ({ request, requestId, params: { id = '' } }, { organisationId, keyId }) => {
        const url = (below: string) => addressOf(dialect, below, request, 'http');
        const query = new URLSearchParams(request.query);
        const means = { query, headers: request.headers, requestId, at: wallNow(), url, captions: captionsOf };
        return answered(door, { organisationId, keyId, dialect: dialect.name }, id, keptSessions, means);
      };
      return {
        ...{ method, path: pathOf(dialect, path), refusal: dialect.refusal },
        handle: keyed(handle, headerCredentialOf(dialect)),
      };
    }),
  );

function answered(
  door: SessionEndpoint,
  owner: Owner,
  id: string,
  kept: KeptSessions,
  means: Parameters<SessionEndpoint['answer']>[1],
): Reply {
  if (door.does === 'list') return door.answer(kept.of(owner), means);
  const session = kept.find(owner, id);
  if (door.does === 'remove') kept.remove(owner, id);
  return door.answer(session, means);
}
