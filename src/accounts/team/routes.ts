// The console's endpoints for a team: its members, its invitations, and the organisations of a person. Who has a say over whom is
// decided by the store, in the transaction of the change. Invitations go out by mail; where no mail leaves, their link is shown once to
// the person who invites.
import {
  EmptyBody,
  InvitationBody,
  type InvitationView,
  type InvitedAnswer,
  type MemberView,
  NewOrganisationBody,
  OrganisationBody,
  OrganisationSettingsBody,
  RoleBody,
} from '../../api/console/console.ts';
import { apiError } from '../../api/errors.ts';
import { json, type Route } from '../../http/router.ts';
import type { Reply } from '../../http/server.ts';
import { type ConsoleContext, type ConsoleRoute, readBody } from '../console-login/console-route.ts';
import type { KeyStore } from '../keys/calls.ts';
import type { Logins } from '../people/logins.ts';
import { apiErrorOfTeam, type ListedInvitation, type TeamRefusal, type TeamStore } from './calls.ts';
import type { Invitations, Invited } from './invitations.ts';

export interface TeamRoutesDependencies {
  store: Pick<
    TeamStore & KeyStore,
    | 'listMembers'
    | 'changeRole'
    | 'removeMember'
    | 'listInvitations'
    | 'withdrawInvitation'
    | 'foundOrganisation'
    | 'setShowTranscripts'
    | 'setSpendCeilings'
  >;
  invitations: Invitations;
  logins: Logins;
  consoleRoute: ConsoleRoute;
}

export function teamRoutes(dependencies: TeamRoutesDependencies): Route[] {
  const { consoleRoute } = dependencies;
  const verified = { verified: true };
  const confirmed = { verified: true, confirmed: true };
  return [
    consoleRoute('GET members', listMembers(dependencies)),
    consoleRoute('PATCH members/:id', changeRole(dependencies), confirmed),
    // Without asking for the password: shutting somebody out is urgent.
    consoleRoute('DELETE members/:id', remove(dependencies), verified),
    consoleRoute('POST members/leave', leave(dependencies)),
    consoleRoute('GET invitations', listInvitations(dependencies)),
    consoleRoute('POST invitations', invite(dependencies), confirmed),
    consoleRoute('POST invitations/:id/resend', resend(dependencies), confirmed),
    consoleRoute('DELETE invitations/:id', withdraw(dependencies), verified),
    consoleRoute('POST organisation', enter(dependencies), { always: true }),
    consoleRoute('POST organisations', found(dependencies), verified),
    consoleRoute('PATCH organisation', changeSettings(dependencies)),
  ];
}

const listMembers =
  ({ store }: TeamRoutesDependencies) =>
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

const changeRole =
  ({ store }: TeamRoutesDependencies) =>
  async ({ request, params, organisationId, by }: ConsoleContext) => {
    const { role } = await readBody(request, RoleBody);
    return doneOr(await store.changeRole(organisationId, params.id ?? '', role, by));
  };

const remove =
  ({ store }: TeamRoutesDependencies) =>
  async ({ request, params, organisationId, by }: ConsoleContext) => {
    await readBody(request, EmptyBody);
    return doneOr(await store.removeMember(organisationId, params.id ?? '', by));
  };

const leave =
  ({ store }: TeamRoutesDependencies) =>
  async ({ request, organisationId, by }: ConsoleContext) => {
    await readBody(request, EmptyBody);
    return doneOr(await store.removeMember(organisationId, by.id, by));
  };

function doneOr(outcome: TeamRefusal | 'done'): Reply {
  if (outcome !== 'done') throw apiErrorOfTeam(outcome);
  return { status: 204 };
}

const timeOf = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

const listInvitations =
  ({ store }: TeamRoutesDependencies) =>
  async ({ organisationId }: ConsoleContext) =>
    json(200, { data: (await store.listInvitations(organisationId)).map(viewOf) });

const invite =
  ({ invitations }: TeamRoutesDependencies) =>
  async ({ request, organisationId, by }: ConsoleContext) => {
    const { email, role } = await readBody(request, InvitationBody);
    return json(201, answerOf(await invitations.invite(organisationId, email, role, by)));
  };

const resend =
  ({ invitations }: TeamRoutesDependencies) =>
  async ({ request, params, organisationId, by }: ConsoleContext) => {
    await readBody(request, EmptyBody);
    return json(200, answerOf(await invitations.renew(organisationId, params.id ?? '', by)));
  };

const withdraw =
  ({ store }: TeamRoutesDependencies) =>
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

/** One of those that the person is a member of; any other is as if it had never been. */
const enter =
  ({ logins }: TeamRoutesDependencies) =>
  async ({ request, current }: ConsoleContext) => {
    const { id } = await readBody(request, OrganisationBody);
    if (await logins.enter(current, id)) return { status: 204 };
    throw apiError('not_found', 'You are a member of no such organisation. GET /console/api/me lists yours.');
  };

/** The session works in the new one from then on. */
const found =
  ({ store, logins }: TeamRoutesDependencies) =>
  async ({ request, current, by }: ConsoleContext) => {
    const { name } = await readBody(request, NewOrganisationBody);
    const organisation = await store.foundOrganisation(current.person.id, name, by);
    if (organisation === undefined) {
      throw apiError('invalid_request', 'You own twenty organisations, which is the most. Leave one first.');
    }
    await logins.enter(current, organisation.id);
    return json(201, organisation);
  };

const changeSettings =
  ({ store }: TeamRoutesDependencies) =>
  async ({ request, organisationId, by }: ConsoleContext) => {
    const { show_transcripts: show, spend_ceilings: ceilings } = await readBody(request, OrganisationSettingsBody);
    if (show === undefined && ceilings === undefined)
      throw apiError('invalid_request', 'Send `show_transcripts` or `spend_ceilings`.', { param: 'show_transcripts' });
    if (ceilings !== undefined) await store.setSpendCeilings(organisationId, ceilings ?? [], by);
    if (show !== undefined) await store.setShowTranscripts(organisationId, show, by);
    return { status: 204 };
  };
