// Organisations with everything that an organisation can have, and people of every role in each, before all routes of a gateway.
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { createAuthenticator } from '../../../src/accounts/auth/authenticate.ts';
import { createKeyLimits } from '../../../src/accounts/auth/limits.ts';
import type { ConsoleRoute } from '../../../src/accounts/console-login/console-route.ts';
import { ENDPOINTS, type Endpoint } from '../../../src/accounts/console-login/roles.ts';
import { DEFAULT_SCOPES } from '../../../src/accounts/keys/calls.ts';
import { ROLES, type Role } from '../../../src/accounts/team/calls.ts';
import { keyRingOf } from '../../../src/accounts/vault/key-ring.ts';
import { providerKeyRoutes } from '../../../src/accounts/vault/routes.ts';
import { createVault } from '../../../src/accounts/vault/vault.ts';
import type { VerboseTranscription } from '../../../src/api/transcriptions.ts';
import type { Route } from '../../../src/http/router.ts';
import { consoleJobRoutes } from '../../../src/jobs/console-routes.ts';
import { DetachedJobs } from '../../../src/jobs/detached-jobs.ts';
import { JobRecords } from '../../../src/jobs/job-records.ts';
import { ownerOf } from '../../../src/jobs/own-jobs.ts';
import type { Owner as JobOwner } from '../../../src/jobs/owner.ts';
import { type PlaygroundDependencies, playgroundRoutes } from '../../../src/live/routes/playground.ts';
import { consoleSessionEvents, streamPlaces } from '../../../src/live/routes/session-events.ts';
import { createConsole } from '../../../src/node/routes/console/index.ts';
import { type RoutesDependencies, routesOf } from '../../../src/node/routes/index.ts';
import { systemClock } from '../../../src/runtime/telemetry/clock.ts';
import { deepgram } from '../../../src/vendors/deepgram/index.ts';
import { type WebhookRoutesDependencies, webhookConsoleRoutes } from '../../../src/webhooks/routes.ts';
import { WebhookSeal } from '../../../src/webhooks/seal.ts';
import {
  type Answer,
  type Browser,
  CHEAP,
  type ConsoleRig,
  openAccount,
  openConsoleRig,
  PASSWORD,
  SECRET,
  storeOver,
} from '../../accounts/people/console-rig.ts';
import { endOf, headOf, ledgerRig, lineOf, OPERATOR } from '../../fakes/store/ledger.ts';

/** What an id in a path is of, by the word before it, with an id that nobody has; and what a request about it says. */
export const KINDS = {
  sessions: 'ses_never',
  keys: 'key_never',
  'provider-keys': 'pk_never',
  'console-sessions': 'con_never',
  members: 'per_never',
  invitations: 'inv_never',
  webhooks: 'we_never',
  jobs: '00000000-0000-4000-8000-000000000000',
} as const;
export type Kind = keyof typeof KINDS;
/** Of a delivery, which is found under its webhook only. */
const DELIVERY = 'msg_own';
const BODIES: Readonly<Record<string, object>> = {
  'PATCH keys/:id': { name: 'mine now' },
  'PATCH members/:id': { role: 'read_only' },
  'PATCH organisation': { show_transcripts: true },
  'PATCH webhooks/:id': { description: 'mine now' },
  'POST playground/sessions/:id/break': { fault: 'drop' },
};

export interface Tenant {
  /** The owner's. */
  browser: Browser;
  people: Record<Role, Browser>;
  /** Of an API key. */
  secret: string;
  organisationId: string;
  ids: Record<Kind, string>;
  /** Brings back what a route has deleted. */
  restore(): Promise<void>;
}

/** The kind of the id in a path; undefined where it has none. */
export function kindIn(path: string): Kind | undefined {
  const kind = /([\w-]+)\/:id(?:\/|$)/.exec(path)?.[1];
  if (kind === undefined || kind in KINDS) return kind as Kind | undefined;
  throw new Error(`Nobody has an id of ${path}: add the kind here, and one to every tenant.`);
}

/** An answer without what differs from request to request. */
export const essence = ({ status, text }: Answer, id = ' ') => [
  status,
  text.replaceAll(id, 'ID').replace(/"request_id":"[^"]*"/, ''),
];

/** As a page of the console, or with the tenant's key. */
export function ask(
  { secret, ids }: Pick<Tenant, 'secret' | 'ids'>,
  browser: Browser,
  route: string,
  id = '',
  given?: unknown,
) {
  const [method = '', pattern = ''] = route.split(' ');
  const name = pattern.slice('/console/api/'.length);
  // A job is found under its key only.
  const query = name.startsWith('jobs/:id') ? `?key=${ids.keys}` : '';
  const path = pattern.replace(':id', id).replace(':delivery', DELIVERY).replaceAll(/:\w+/g, 'never') + query;
  const body = given ?? BODIES[`${method} ${name}`] ?? {};
  if (path.startsWith('/console/')) {
    return method === 'GET' ? browser.get(path) : browser.call(method, path.slice('/console/api/'.length), body);
  }
  const headers = { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' };
  return browser.ask(method, path, method === 'GET' ? undefined : JSON.stringify(body), headers);
}

export async function openTenants() {
  const ledger = ledgerRig();
  ledger.clock.nowMs = Date.now();
  const store = storeOver(ledger);
  const providers = new Map([[deepgram.name, deepgram]]);
  const vault = createVault({
    store,
    keyRing: keyRingOf(new Uint8Array(32).fill(1)),
    providers,
    addressOf: () => ({ baseUrl: undefined }),
    check: async () => 'accepted',
    clock: systemClock,
    wallNow: () => Date.now(),
    onFault: (_name, error) => {
      throw error;
    },
  });
  const watching = {
    store,
    clock: systemClock,
    wallNow: () => new Date(),
    watchSession: () => () => {},
    places: streamPlaces(),
  };
  const real = [
    providerKeyRoutes({ vault, providers }),
    webhookConsoleRoutes({ webhooks: webhooksOver(store), wallNow: () => new Date() }),
    (consoleRoute: ConsoleRoute) => consoleSessionEvents(consoleRoute, watching),
    (consoleRoute: ConsoleRoute) => consoleJobRoutes(consoleRoute, { store, detachedJobs: jobsOver(store) }),
    (consoleRoute: ConsoleRoute) => playgroundRoutes(consoleRoute, playgroundOver(store)),
  ];
  const made = consoleWith(store, real);
  const rest = (Object.keys(ENDPOINTS) as Endpoint[]).filter((endpoint) => !made.some(isOf(endpoint)));
  const further = [
    ...real,
    (consoleRoute: ConsoleRoute) =>
      rest.map((endpoint) => consoleRoute(endpoint, async () => ({ status: 200, body: '' }))),
  ];
  const routes = gatewayRoutes(store, providers);
  const rig = await openConsoleRig({ store, further, routes });
  const table: readonly Route[] = [...routes, ...made];

  /** Of another tenant's lists, too: everything that can be seen by its owner. */
  async function everythingOf(who: Tenant): Promise<string> {
    const lists = table.filter(
      ({ method, path }) => method === 'GET' && /^\/(v1|console\/api)\//.test(path) && !path.includes(':'),
    );
    const answers = await Promise.all(lists.map(({ path }) => ask(who, who.browser, `GET ${path}`)));
    return answers.map(({ text }) => text.replace(/"(?:to|from|request_id|seen_at)":"[^"]*"/g, '')).join('\n');
  }

  async function tenant(email: string): Promise<Tenant> {
    const browser = await openAccount(rig, email);
    const me = (await browser.get('/console/api/me')).json() as unknown as { organisation: { id: string } };
    const organisationId = me.organisation.id;
    const people = await peopleOf(rig, organisationId, email);
    const minted = (
      await browser.call('POST', 'keys', { name: 'own', scopes: [...DEFAULT_SCOPES, 'webhooks'] })
    ).json() as unknown as {
      key: { id: string };
      secret: string;
    };
    const session = `ses_${email.split('@')[0]}`;
    const head = headOf({ organisationId, keyId: minted.key.id }, session, { openedAt: new Date().toISOString() });
    ledger.ledger.settleSession(head, endOf([lineOf(60_000)], { endedAt: new Date().toISOString() }));
    const saved = { provider: deepgram.name, name: 'own', fields: { api_key: `secret-of-${email}` } };
    const webhook = `we_${session}`;
    const job = randomUUID();
    const restore = async () => {
      await addWebhook(store, organisationId, webhook);
      await addJob(store, { organisationId, keyId: minted.key.id }, job);
    };
    await restore();
    const ids = {
      webhooks: webhook,
      jobs: job,
      sessions: session,
      keys: minted.key.id,
      'provider-keys': (await vault.save(organisationId, saved, OPERATOR)).key.id,
      'console-sessions': await firstOf(browser, 'console-sessions'),
      members: (await store.listMembers(organisationId)).find((each) => each.role === 'developer')!.personId,
      invitations: await inviteTo(rig, organisationId, `nobody-${email}`, 'developer').then(() =>
        firstOf(browser, 'invitations'),
      ),
    };
    return { browser, people, secret: minted.secret, organisationId, ids, restore };
  }

  return { rig, table, rest, everythingOf, tenant };
}

const isOf = (endpoint: Endpoint) => {
  const [method, path] = endpoint.split(' ');
  return (route: Route) => route.method === method && route.path === `/console/api/${path}`;
};

function consoleWith(store: ConsoleRig['store'], further: ((consoleRoute: ConsoleRoute) => Route[])[]) {
  const settings = { welcomeMicroUsd: 0n, signUpsPerAddressDayMax: 10, tls: false };
  const options = { isPrivate: true, store, secret: SECRET, settings, clock: systemClock, passwords: CHEAP, further };
  return createConsole({ ...options, nowMs: Date.now }).routes;
}

/** Every session of the organisation is heard by a simulator. */
function playgroundOver(store: ConsoleRig['store']): PlaygroundDependencies {
  return {
    store,
    authenticator: createAuthenticator({ store, secret: SECRET, now: Date.now }),
    limits: limits(),
    breakProvider: async ({ sessionId, organisationId }) =>
      (await store.findSession(organisationId, sessionId)) === undefined ? 'unknown' : 'done',
    nowMs: Date.now,
  };
}

const limits = () =>
  createKeyLimits({
    requestsPerMinutePerKeyMax: 100_000,
    sessionsPerKeyMax: 10,
    tokensPerMinutePerKeyMax: 1_000,
    clock: systemClock,
  });

/** What files are transcribed with is not reached here: no route's ids are in it. */
function gatewayRoutes(store: ConsoleRig['store'], providers: RoutesDependencies['providers']) {
  return routesOf({
    store,
    authenticator: createAuthenticator({ store, secret: SECRET, now: Date.now }),
    limits: limits(),
    providers,
    http: { clock: systemClock },
    wallNow: () => new Date(),
    describeSession: () => undefined,
    webhooks: webhooksOver(store),
    detachedJobs: jobsOver(store),
    jsonBodyBytesMax: 65_536,
    consoleRoutes: [],
    metricsAccess: { token: undefined, isPrivate: true },
  } as unknown as RoutesDependencies);
}

const webhooksOver = (store: ConsoleRig['store']): WebhookRoutesDependencies['webhooks'] => ({
  ...{ store, networks: undefined },
  seal: new WebhookSeal({ secret: SECRET }),
  onAdded: () => {},
});

const jobRecordsOver = (store: ConsoleRig['store']) =>
  new JobRecords({ store, secret: SECRET, node: 'abc123', nodeName: 'node' });

const fault = (error: unknown) => {
  throw error;
};

const jobsOver = (store: ConsoleRig['store']) =>
  new DetachedJobs({
    ...{ records: jobRecordsOver(store), clock: systemClock, node: 'abc123', endElsewhere: fault, onFault: fault },
    ...{
      cancelElsewhere: fault,
      progressElsewhere: fault,
      onStoreFault: fault,
      onForgotten: fault,
      onReported: () => fault(undefined),
    },
  });

async function addJob(
  store: ConsoleRig['store'],
  who: Pick<JobOwner, 'organisationId' | 'keyId'>,
  id: string,
): Promise<void> {
  const file = { id: 'f', filename: 'a.wav', bytes: 1, createdAt: new Date(), fields: new Map() };
  const records = jobRecordsOver(store);
  await records.create(ownerOf(who), id, 'queued', { file, asked: { model: 'local/digits-en' } });
  const transcription = { text: 'nine', usage: { type: 'duration', seconds: 1 } } as VerboseTranscription;
  await records.finish(ownerOf(who), id, { type: 'done', heard: { transcription } });
}

/** With a delivery. */
async function addWebhook(store: ConsoleRig['store'], organisationId: string, id: string): Promise<void> {
  const events = ['job.failed'] as const;
  const settings = { url: 'https://a.example/', events, description: '', balanceLowMicroUsd: 0n, transcripts: true };
  await store.createWebhook(organisationId, { id, ...settings, secret: new Uint8Array(1) }, OPERATOR);
  await store.addWebhookEvent({ organisationId, id: DELIVERY, type: 'job.failed', payload: new Uint8Array(1) });
}

async function firstOf(browser: Browser, list: string): Promise<string> {
  const { data } = (await browser.get(`/console/api/${list}`)).json() as unknown as { data: { id: string }[] };
  return data[0]!.id;
}

/** One person of each role, who is a member of nothing else. */
async function peopleOf(rig: ConsoleRig, organisationId: string, email: string): Promise<Tenant['people']> {
  const people = {} as Tenant['people'];
  for (const role of ROLES) {
    people[role] = rig.browser();
    const link = await inviteTo(rig, organisationId, `${role}-${email}`, role);
    const { status, text } = await people[role].submit(link, { password: PASSWORD });
    if (status !== 200) throw new Error(text);
  }
  return people;
}

/** As the command line invites. */
export async function inviteTo(rig: ConsoleRig, organisationId: string, email: string, role: Role): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  const hash = createHash('sha256').update(token).digest();
  const made = await rig.store.invite(organisationId, { email, address: email, role, hash }, OPERATOR);
  if (typeof made === 'string') throw new Error(made);
  return `/join?token=${token}`;
}
