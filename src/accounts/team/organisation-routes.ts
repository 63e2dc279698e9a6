// The console's endpoints for the organisations of a person: making one, working in another one, and its settings.

import { NewOrganisationBody, OrganisationBody, OrganisationSettingsBody } from '../../api/console/console.ts';
import { refuse } from '../../api/errors.ts';
import { json, type Route } from '../../http/router.ts';
import type { ConsoleContext, ConsoleRoute } from '../console-login/console-route.ts';
import { readBody } from '../console-login/read-body.ts';
import type { KeyStore } from '../keys/calls.ts';
import type { Logins } from '../people/logins.ts';
import type { TeamStore } from './calls.ts';

export interface OrganisationRoutesDependencies {
  store: Pick<TeamStore & KeyStore, 'foundOrganisation' | 'setShowTranscripts'>;
  logins: Logins;
  consoleRoute: ConsoleRoute;
}

export function organisationRoutes(dependencies: OrganisationRoutesDependencies): Route[] {
  const { consoleRoute } = dependencies;
  return [
    consoleRoute('POST organisation', enter(dependencies), { always: true }),
    consoleRoute('POST organisations', found(dependencies), { verified: true }),
    consoleRoute('PATCH organisation', change(dependencies)),
  ];
}

/** One of those that the person is a member of; any other is as if it had never been. */
const enter =
  ({ logins }: OrganisationRoutesDependencies) =>
  async ({ request, current }: ConsoleContext) => {
    const { id } = await readBody(request, OrganisationBody);
    if (await logins.enter(current, id)) return { status: 204 };
    throw refuse('not_found', 'You are a member of no such organisation. GET /console/api/me lists yours.');
  };

/** The session works in the new one from then on. */
const found =
  ({ store, logins }: OrganisationRoutesDependencies) =>
  async ({ request, current, by }: ConsoleContext) => {
    const { name } = await readBody(request, NewOrganisationBody);
    const organisation = await store.foundOrganisation(current.person.id, name, by);
    if (organisation === undefined) {
      throw refuse('invalid_request', 'You own twenty organisations, which is the most. Leave one first.');
    }
    await logins.enter(current, organisation.id);
    return json(201, organisation);
  };

const change =
  ({ store }: OrganisationRoutesDependencies) =>
  async ({ request, organisationId, by }: ConsoleContext) => {
    const { show_transcripts: show } = await readBody(request, OrganisationSettingsBody);
    await store.setShowTranscripts(organisationId, show, by);
    return { status: 204 };
  };
