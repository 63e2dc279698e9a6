// The console's endpoints for invitations into an organisation: they go out by mail, or, where no mail leaves, their link is told
// once to who invites.

import { EmptyBody, InvitationBody, type InvitationView, type InvitedAnswer } from '../../api/console/console.ts';
import { json, type Route } from '../../http/router.ts';
import type { ConsoleContext, ConsoleRoute } from '../console-login/console-route.ts';
import { readBody } from '../console-login/read-body.ts';
import type { ListedInvitation, TeamStore } from './calls.ts';
import type { Invitations, Invited } from './invitations.ts';
import { doneOr } from './member-routes.ts';

export interface InvitationRoutesDependencies {
  store: Pick<TeamStore, 'listInvitations' | 'withdrawInvitation'>;
  invitations: Invitations;
  consoleRoute: ConsoleRoute;
}

export function invitationRoutes(dependencies: InvitationRoutesDependencies): Route[] {
  const { consoleRoute } = dependencies;
  const confirmed = { verified: true, confirmed: true };
  return [
    consoleRoute('GET invitations', list(dependencies)),
    consoleRoute('POST invitations', invite(dependencies), confirmed),
    consoleRoute('POST invitations/:id/resend', resend(dependencies), confirmed),
    consoleRoute('DELETE invitations/:id', withdraw(dependencies), { verified: true }),
  ];
}

const list =
  ({ store }: InvitationRoutesDependencies) =>
  async ({ organisationId }: ConsoleContext) =>
    json(200, { data: (await store.listInvitations(organisationId)).map(viewOf) });

const invite =
  ({ invitations }: InvitationRoutesDependencies) =>
  async ({ request, organisationId, by }: ConsoleContext) => {
    const { email, role } = await readBody(request, InvitationBody);
    return json(201, answerOf(await invitations.invite(organisationId, email, role, by)));
  };

const resend =
  ({ invitations }: InvitationRoutesDependencies) =>
  async ({ request, params, organisationId, by }: ConsoleContext) => {
    await readBody(request, EmptyBody);
    return json(200, answerOf(await invitations.renew(organisationId, params.id ?? '', by)));
  };

const withdraw =
  ({ store }: InvitationRoutesDependencies) =>
  async ({ request, params, organisationId, by }: ConsoleContext) => {
    await readBody(request, EmptyBody);
    return doneOr(await store.withdrawInvitation(organisationId, params.id ?? '', by));
  };

const answerOf = ({ invitation, link }: Invited): InvitedAnswer => ({ invitation: viewOf(invitation), link });

const viewOf = ({ id, email, role, state, invitedBy, sentAtMs, expiresAtMs }: ListedInvitation): InvitationView => ({
  id,
  email,
  role,
  state,
  invited_by: invitedBy,
  sent_at: new Date(sentAtMs).toISOString(),
  expires_at: new Date(expiresAtMs).toISOString(),
});
