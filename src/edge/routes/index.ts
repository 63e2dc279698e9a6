// Every HTTP endpoint, and who may call it. Keys are judged and counted here, before a handler sees anything.
import { refuse } from '../../api/errors.ts';
import type { Authenticator, Caller } from '../../auth/authenticate.ts';
import type { KeyLimits } from '../../auth/limits.ts';
import { readRestCredential } from '../credentials.ts';
import type { Reply } from '../door.ts';
import type { Route, RouteContext } from '../router.ts';
import { getHealth, getMetrics, getReady } from './health.ts';
import { getModel, getModels, type ModelsDependencies } from './models.ts';
import { postTokens } from './tokens.ts';
import { postTranscriptions, type TranscriptionsDependencies } from './transcriptions.ts';

export interface RoutesDependencies extends TranscriptionsDependencies, ModelsDependencies {
  authenticator: Authenticator;
  limits: KeyLimits;
  jsonBodyBytesMax: number;
  isReady(): boolean;
  readMetrics(): Promise<{ contentType: string; body: string }>;
}

/** The table the router serves. */
export function routesOf(dependencies: RoutesDependencies): Route[] {
  const { authenticator, limits, isReady, readMetrics } = dependencies;
  const keyed =
    (handler: (context: RouteContext, caller: Caller) => Promise<Reply>) =>
    async (context: RouteContext): Promise<Reply> => {
      const caller = await authenticator.rest(readRestCredential(context.request.headers.get('authorization')));
      const headers = limits.takeRequest(caller.keyId);
      const reply = await handler(context, caller);
      return { ...reply, headers: { ...headers, ...reply.headers } };
    };
  return [
    { method: 'GET', path: '/v1/models', handle: keyed(getModels(dependencies)) },
    { method: 'GET', path: '/v1/models/:provider/:model', handle: keyed(getModel(dependencies)) },
    { method: 'POST', path: '/v1/tokens', handle: keyed(postTokens(dependencies)) },
    { method: 'POST', path: '/v1/audio/transcriptions', handle: keyed(postTranscriptions(dependencies)) },
    { method: 'GET', path: '/v1/listen', handle: upgradeRequired },
    { method: 'GET', path: '/healthz', handle: getHealth() },
    { method: 'GET', path: '/readyz', handle: getReady(isReady) },
    { method: 'GET', path: '/metrics', handle: getMetrics(readMetrics) },
  ];
}

const upgradeRequired = async (): Promise<Reply> => {
  throw refuse(
    'invalid_request',
    '/v1/listen is a WebSocket. Connect with a WebSocket client; a plain GET has no answer here.',
  );
};
