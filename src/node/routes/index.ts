// Every HTTP endpoint, and who may call it. Keys are judged and counted here, before a handler sees anything.
import type { Authenticator, Caller } from '../../accounts/auth/authenticate.ts';
import type { KeyLimits } from '../../accounts/auth/limits.ts';
import { requireScope } from '../../accounts/auth/permissions.ts';
import { postTokens } from '../../accounts/auth/tokens-route.ts';
import type { Scope } from '../../accounts/keys/calls.ts';
import { LINK_PATHS } from '../../accounts/people/mailer.ts';
import { ApiError, apiError } from '../../api/errors.ts';
import { fileRoutes } from '../../compat/files.ts';
import {
  type JobRoutesDependencies,
  jobRoutes,
  reportedUpload,
  type SessionRoutesDependencies,
  sessionRoutes,
} from '../../compat/jobs/routes.ts';
import { headerCredentialOf } from '../../compat/routes.ts';
import { callRoutes, tokenRoutes } from '../../compat/tokens.ts';
import { postTranscriptions, type TranscriptionsDependencies } from '../../files/routes/index.ts';
import { readRestCredential } from '../../http/credentials.ts';
import type { Route, RouteContext } from '../../http/router.ts';
import type { Reply, ServerRequest } from '../../http/server.ts';
import { type OwnJobRoutesDependencies, ownJobHandlers, unlessAsync } from '../../jobs/routes.ts';
import { getSessionEvents, type SessionEventsDependencies } from '../../live/routes/session-events.ts';
import { type BillsDependencies, getBill } from '../../money/routes/bills.ts';
import { getSession, getSessions, type SessionsDependencies } from '../../money/routes/sessions.ts';
import { getBalance, getUsage, type UsageDependencies } from '../../money/routes/usage.ts';
import type { LedgerStore } from '../../money/store/calls.ts';
import { openai } from '../../vendors/openai/compat/index.ts';
import { type WebhookRoutesDependencies, webhookRoutes } from '../../webhooks/routes.ts';
import { type DocumentsDependencies, documentRoutes } from './documents.ts';
import { getHealth, getMetrics, getReady, type MetricsAccess, type Readiness } from './health.ts';
import { getModel, getModels, type ModelsDependencies } from './models.ts';

export interface RoutesDependencies
  extends TranscriptionsDependencies,
    JobRoutesDependencies,
    OwnJobRoutesDependencies,
    SessionRoutesDependencies,
    ModelsDependencies,
    UsageDependencies,
    SessionsDependencies,
    SessionEventsDependencies,
    BillsDependencies,
    WebhookRoutesDependencies,
    DocumentsDependencies,
    OperatorDependencies {
  store: UsageDependencies['store'] &
    SessionsDependencies['store'] &
    BillsDependencies['store'] &
    SessionEventsDependencies['store'] &
    Pick<LedgerStore, 'balanceOf'>;
  authenticator: Authenticator;
  limits: KeyLimits;
  jsonBodyBytesMax: number;
  /** For people: the first page, and the console behind its cookie. */
  consoleRoutes: readonly Route[];
}

/** What every node answers, whatever its roles. */
export interface OperatorDependencies extends Readiness {
  readMetrics(): Promise<{ contentType: string; body: string }>;
  metricsAccess: MetricsAccess;
}

/** For the operator and the balancer: all that a node without clients answers. */
export const operatorRoutes = ({ readMetrics, metricsAccess, ...readiness }: OperatorDependencies): Route[] => [
  { method: 'GET', path: '/healthz', handle: getHealth() },
  { method: 'GET', path: '/readyz', handle: getReady(readiness) },
  { method: 'GET', path: '/metrics', handle: getMetrics(readMetrics, metricsAccess) },
];

/** The table the router serves. */
export function routesOf(dependencies: RoutesDependencies): Route[] {
  const { authenticator, limits } = dependencies;
  /** Every answer of these endpoints says what is left of the key's requests. `scope`: what the key has to allow. */
  const keyed =
    (
      handler: (context: RouteContext, caller: Caller) => Promise<Reply>,
      scope?: Scope,
      credentialOf = ({ headers }: ServerRequest) => readRestCredential(headers.get('authorization')),
      takes: 'rest' | 'upload' = 'rest',
    ) =>
    async (context: RouteContext): Promise<Reply> => {
      const { headers: sent, remoteAddress } = context.request;
      const caller = await authenticator[takes](credentialOf(context.request), remoteAddress, sent.get('origin'));
      const headers = limits.takeRequest(caller.key);
      try {
        if (scope !== undefined && caller.via === 'key') requireScope(caller, scope);
        const reply = await handler(context, caller);
        return Object.assign({}, reply, { headers: Object.assign({}, headers, reply.headers) });
      } catch (error) {
        throw error instanceof ApiError ? error.withHeaders(headers) : error;
      }
    };
  /** A file and its transcript in one request: what a page with a client token may do, if its key says so. */
  const uploaded = (handler: Parameters<typeof keyed>[0], credentialOf?: Parameters<typeof keyed>[2]) =>
    keyed(handler, 'transcribe', credentialOf, 'upload');
  const events = getSessionEvents(dependencies);
  const transcribe = postTranscriptions(dependencies);
  return [
    { method: 'GET', path: '/v1/models', handle: keyed(getModels(dependencies)) },
    { method: 'GET', path: '/v1/models/:provider/:model', handle: keyed(getModel(dependencies)) },
    { method: 'GET', path: '/v1/models/:slug', handle: keyed(getModel(dependencies)) },
    // Clients of OpenAI ask for models where they send files.
    ...['', '/:provider/:model', '/:slug'].map((rest) => ({
      method: 'GET',
      path: `/compat/openai/v1/models${rest}`,
      handle: keyed(
        rest === '' ? getModels(dependencies) : getModel(dependencies, 'openai'),
        undefined,
        headerCredentialOf(openai),
      ),
      refusal: openai.refusal,
    })),
    { method: 'POST', path: '/v1/tokens', handle: keyed(postTokens(dependencies), 'tokens') },
    { method: 'POST', path: '/v1/audio/transcriptions', handle: uploaded(unlessAsync(transcribe, dependencies)) },
    ...fileRoutes(
      (asked) => (asked === undefined ? transcribe : postTranscriptions({ ...dependencies, ...asked })),
      uploaded,
      dependencies.wallNow,
      reportedUpload(dependencies),
    ),
    // Not with tokens: who holds one of a key would see all of its transcripts.
    ...jobRoutes(dependencies, (handler, credentialOf) => keyed(handler, 'transcribe', credentialOf)),
    ...Object.entries(ownJobHandlers(dependencies)).map(([place, handler]) => {
      const [method = '', path = ''] = place.split(' ');
      return { method, path, handle: keyed(handler, 'transcribe') };
    }),
    ...sessionRoutes(dependencies, (handler, credentialOf) => keyed(handler, 'listen', credentialOf)),
    ...tokenRoutes(dependencies, (handler, credentialOf) => keyed(handler, 'tokens', credentialOf)),
    ...callRoutes(dependencies, (handler, credentialOf) => keyed(handler, 'listen', credentialOf)),
    { method: 'GET', path: '/v1/usage', handle: keyed(getUsage(dependencies)) },
    { method: 'GET', path: '/v1/balance', handle: keyed(getBalance(dependencies)) },
    { method: 'GET', path: '/v1/sessions', handle: keyed(getSessions(dependencies)) },
    { method: 'GET', path: '/v1/sessions/:id', handle: keyed(getSession(dependencies)) },
    {
      method: 'GET',
      path: '/v1/sessions/:id/events',
      handle: keyed((context, caller) => {
        const { organisationId } = caller;
        return events(context, { organisationId, isStillAllowed: () => authenticator.holds(caller, 'listen') });
      }, 'listen'),
    },
    { method: 'GET', path: '/v1/bills/:month', handle: keyed(getBill(dependencies)) },
    ...webhookRoutes(dependencies, (handler) => keyed(handler, 'webhooks')),
    { method: 'GET', path: '/v1/listen', handle: upgradeRequired },
    ...dependencies.consoleRoutes,
    ...documentRoutes(dependencies),
    ...operatorRoutes(dependencies),
  ];
}

const upgradeRequired = async (): Promise<Reply> => {
  throw apiError(
    'invalid_request',
    '/v1/listen is a WebSocket. Connect with a WebSocket client; a plain GET has no answer here.',
  );
};

// Links of mails, and of the first owner, on a node without the console: they lead to a node that has it.
const NO_CONSOLE =
  'No node with the console is known yet: start one whose VOXGATE_ROLES has `edge`, and open this link again. VOXGATE_PUBLIC_URL names its address where clients reach it by another.';

export interface LinksDependencies {
  /** Where people find the console; undefined while no node with it is known. */
  consoleUrl(): string | undefined;
}

export const linkRoutes = ({ consoleUrl }: LinksDependencies): Route[] =>
  Object.values(LINK_PATHS).map((path) => ({
    method: 'GET',
    path,
    handle: async ({ request: { query } }) => {
      const url = consoleUrl()?.replace(/\/+$/, '');
      if (url === undefined) throw apiError('not_found', NO_CONSOLE);
      return { status: 307, headers: { Location: query === '' ? `${url}${path}` : `${url}${path}?${query}` } };
    },
  }));
