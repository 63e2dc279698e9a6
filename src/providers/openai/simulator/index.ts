// OpenAI, simulated: who is let in, where each request goes, and how OpenAI refuses and fails. Sessions are in live.ts, files
// in batch.ts.
import { authorizationOf, type KeyFault, keyFault, subprotocolsOf } from '../../kit/simulator/credentials.ts';
import { errorOf, type Refusal, refuse } from '../../kit/simulator/openai-refusals.ts';
import { routed } from '../../kit/simulator/routes.ts';
import type { ProviderSimulator, SimulatedRequest, SimulatorTools } from '../../simulation.ts';
import { answerFile } from './batch.ts';
import { RealtimeSession } from './live.ts';
import { readSecret, writeSecret } from './secrets.ts';

const KEY_REFUSALS: Readonly<Record<KeyFault, Refusal>> = {
  missing: {
    status: 401,
    code: null,
    message: "You didn't provide an API key. Send it as `Authorization: Bearer YOUR_KEY`.",
  },
  bad: { status: 401, code: 'invalid_api_key', message: 'Incorrect API key provided.' },
  broke: {
    status: 429,
    code: 'insufficient_quota',
    type: 'insufficient_quota',
    message: 'You exceeded your current quota, please check your plan and billing details.',
  },
  limited: {
    status: 429,
    code: 'rate_limit_exceeded',
    type: 'requests',
    message: 'Rate limit reached for requests.',
    headers: { 'retry-after': '2' },
  },
};
const OLD_SHAPE: Refusal = {
  code: 'beta_api_shape_disabled',
  message: 'The Realtime Beta API is no longer supported. Leave out the header OpenAI-Beta.',
};
const FAILED: Refusal = {
  type: 'server_error',
  code: null,
  message: 'The server had an error while processing your request.',
};

const SECRET_PROTOCOL = 'openai-insecure-api-key.';

export const simulator: ProviderSimulator = {
  provider: 'openai',
  quirks: {
    'strict-order': 'audio that comes before session.updated is refused',
    'out-of-order': 'every other item completes behind the one after it',
    'expire-after': '=<ms>: the session expires after so long, in place of 60 minutes',
    'fail-item': '=<n>: the n-th item of a session fails',
    'slow-complete': '=<ms>: items complete so much later',
  },

  upgrade(request, tools) {
    const key = keyOf(request);
    const refusal = keyRefusal(key, tools);
    if (refusal !== undefined) return { refuse: refuse(refusal) };
    const { pathname, searchParams } = request.url;
    if (pathname !== '/v1/realtime') return { refuse: refuse(noUrl(request)) };
    const protocols = subprotocolsOf(request);
    if (request.headers['openai-beta'] !== undefined || protocols.includes('openai-beta.realtime-v1'))
      return { refuse: refuse(OLD_SHAPE) };
    const conversation = searchParams.has('model');
    if (!conversation && searchParams.get('intent') !== 'transcription')
      return { refuse: refuse({ code: 'missing_model', message: 'You must provide a model parameter.' }) };
    const preset = readSecret(key, tools);
    return {
      ...(protocols.includes('realtime') ? { subprotocol: 'realtime' } : {}),
      connect: (peer) => new RealtimeSession(peer, tools, { conversation, preset }),
    };
  },

  async http(request, tools) {
    const refusal = keyRefusal(keyOf(request), tools);
    const answered =
      refusal !== undefined
        ? refuse(refusal)
        : await routed(request, {
            'GET /v1/models': () => ({ status: 200, body: { object: 'list', data: [] } }),
            'POST /v1/audio/transcriptions': () => answerFile(request, tools),
            'POST /v1/realtime/client_secrets': () => writeSecret(request, tools),
          });
    const answer = answered ?? refuse(noUrl(request));
    return { ...answer, headers: { 'x-request-id': `req_${tools.newId()}`, ...answer.headers } };
  },

  refusal(status) {
    if (status === 401) return refuse(KEY_REFUSALS.bad);
    if (status === 429) return refuse(KEY_REFUSALS.limited);
    return refuse(status >= 500 ? { ...FAILED, status } : { status, code: null, message: 'The request was refused.' });
  },

  failure: () => ({
    messages: [{ type: 'error', event_id: 'event_failure', error: { ...errorOf(FAILED), event_id: null } }],
    close: { code: 1011, reason: 'server_error' },
  }),

  isFinal: ({ type }) => type === 'conversation.item.input_audio_transcription.completed',
};

const noUrl = ({ method, url }: SimulatedRequest): Refusal => ({
  status: 404,
  code: 'unknown_url',
  message: `Invalid URL (${method} ${url.pathname})`,
});

/** From the header, or from a browser's subprotocols. */
function keyOf(request: SimulatedRequest): string {
  const secret = subprotocolsOf(request).find((protocol) => protocol.startsWith(SECRET_PROTOCOL));
  return authorizationOf(request, 'bearer') ?? secret?.slice(SECRET_PROTOCOL.length) ?? '';
}

function keyRefusal(key: string, tools: SimulatorTools): Refusal | undefined {
  const fault = keyFault(key);
  if (fault !== undefined) return KEY_REFUSALS[fault];
  if (!key.startsWith('ek_') || readSecret(key, tools) !== undefined) return undefined;
  return { ...KEY_REFUSALS.bad, message: 'The client secret is unknown or has expired.' };
}
