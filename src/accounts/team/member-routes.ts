// The console's endpoints for the members of an organisation. Who has a say over whom is decided by the store, in the transaction
// of the change.

import { EmptyBody, type MemberView, RoleBody } from '../../api/console/console.ts';
import type { Reply } from '../../http/door.ts';
import { json, type Route } from '../../http/router.ts';
import type { ConsoleContext, ConsoleRoute } from '../console-login/console-route.ts';
import { readBody } from '../console-login/read-body.ts';
import type { TeamRefusal, TeamStore } from './calls.ts';
import { refusalOfTeam } from './refusals.ts';

export interface MemberRoutesDependencies {
  store: Pick<TeamStore, 'listMembers' | 'changeRole' | 'removeMember'>;
  consoleRoute: ConsoleRoute;
}

export function memberRoutes(dependencies: MemberRoutesDependencies): Route[] {
  const { consoleRoute } = dependencies;
  return [
    consoleRoute('GET members', list(dependencies)),
    consoleRoute('PATCH members/:id', change(dependencies), { verified: true, confirmed: true }),
    // Without asking for the password: shutting somebody out is urgent.
    consoleRoute('DELETE members/:id', remove(dependencies), { verified: true }),
    consoleRoute('POST members/leave', leave(dependencies)),
  ];
}

const list =
  ({ store }: MemberRoutesDependencies) =>
  async ({ organisationId, current }: ConsoleContext) => {
    const members = await store.listMembers(organisationId);
    const data = members.map(
      ({ personId, email, role, joinedAtMs, lastLoginAtMs }): MemberView => ({
        id: personId,
        email,
        role,
        you: personId === current.person.id,
        joined_at: timeOf(joinedAtMs),
        last_login_at: timeOf(lastLoginAtMs),
      }),
    );
    return json(200, { data });
  };

const change =
  ({ store }: MemberRoutesDependencies) =>
  async ({ request, params, organisationId, by }: ConsoleContext) => {
    const { role } = await readBody(request, RoleBody);
    return doneOr(await store.changeRole(organisationId, params.id ?? '', role, by));
  };

const remove =
  ({ store }: MemberRoutesDependencies) =>
  async ({ request, params, organisationId, by }: ConsoleContext) => {
    await readBody(request, EmptyBody);
    return doneOr(await store.removeMember(organisationId, params.id ?? '', by));
  };

const leave =
  ({ store }: MemberRoutesDependencies) =>
  async ({ request, organisationId, by }: ConsoleContext) => {
    await readBody(request, EmptyBody);
    return doneOr(await store.removeMember(organisationId, by.id, by));
  };

export function doneOr(outcome: TeamRefusal | 'done'): Reply {
  if (outcome !== 'done') throw refusalOfTeam(outcome);
  return { status: 204 };
}

const timeOf = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());
