// OpenAI, simulated: who is let in, where each request goes, and how OpenAI refuses and fails. Sessions are in live.ts, files
// in batch.ts.

import { authorizationOf, subprotocolsOf } from '../../kit/offered-keys.ts';
import type {
  ProviderSimulator,
  SimulatedAnswer,
  SimulatedConnection,
  SimulatedPeer,
  SimulatedRequest,
  SimulatorTools,
} from '../../kit/simulation.ts';
import { type KeyFault, keyFault } from '../../kit/simulator/credentials.ts';
import { errorOf, type Refusal, refuse } from '../../kit/simulator/openai-answers.ts';
import { routed } from '../../kit/simulator/routes.ts';
import { closedAtOnce } from '../../kit/simulator/session.ts';
import { answerFile } from './batch.ts';
import { RealtimeSession } from './live.ts';
import { readSecret, writeSecret } from './session.ts';

const MISSING: Refusal = {
  status: 401,
  code: null,
  message: "You didn't provide an API key. Send it as `Authorization: Bearer YOUR_KEY`.",
};
/** The key is quoted with its middle left out. */
const incorrect = (key: string): Refusal => ({
  status: 401,
  code: 'invalid_api_key',
  message: `Incorrect API key provided: ${key.slice(0, 8)}${'*'.repeat(20)}${key.slice(-4)}.`,
});
const KEY_REFUSALS: Readonly<Record<Exclude<KeyFault, 'missing' | 'bad'>, Refusal>> = {
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
    'limit-item': '=<n>: the n-th item of a session fails by the service’s own limit of requests',
    'slow-complete': '=<ms>: items complete so much later',
  },

  upgrade(request, tools) {
    const key = keyOf(request);
    const refusal = keyRefusal(key, tools);
    const close = CLOSES[refusal?.code ?? ''];
    const protocols = subprotocolsOf(request.headers['sec-websocket-protocol']);
    const subprotocol = protocols.includes('realtime') ? { subprotocol: 'realtime' } : {};
    if (refusal !== undefined)
      return close === undefined
        ? { refuse: refused(refusal) }
        : { ...subprotocol, connect: (peer) => closedWith(peer, refusal, close) };
    const { pathname, searchParams } = request.url;
    if (pathname !== '/v1/realtime') return { refuse: refuse(noUrl(request)) };
    if (request.headers['openai-beta'] !== undefined || protocols.includes('openai-beta.realtime-v1'))
      return { refuse: refuse(OLD_SHAPE) };
    const conversation = searchParams.has('model');
    if (!conversation && searchParams.get('intent') !== 'transcription')
      return { refuse: refuse({ code: 'missing_model', message: 'You must provide a model parameter.' }) };
    const preset = readSecret(key, tools);
    return {
      ...subprotocol,
      connect: (peer) => new RealtimeSession(peer, tools, { conversation, preset }),
    };
  },

  async http(request, tools) {
    const refusal = keyRefusal(keyOf(request), tools);
    const answered =
      refusal !== undefined
        ? refused(refusal)
        : await routed(request, {
            'GET /v1/models': () => ({ status: 200, body: { object: 'list', data: [] } }),
            'POST /v1/audio/transcriptions': () => answerFile(request, tools),
            'POST /v1/realtime/client_secrets': () => writeSecret(request, tools),
          });
    const answer = answered ?? refuse(noUrl(request));
    return { ...answer, headers: { 'x-request-id': `req_${tools.newId()}`, ...answer.headers } };
  },

  refusal(status) {
    if (status === 401) return refused(incorrect('sk-of-the-simulator'));
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
  const secret = subprotocolsOf(request.headers['sec-websocket-protocol']).find((protocol) =>
    protocol.startsWith(SECRET_PROTOCOL),
  );
  return authorizationOf(request.headers.authorization) ?? secret?.slice(SECRET_PROTOCOL.length) ?? '';
}

function keyRefusal(key: string, tools: SimulatorTools): Refusal | undefined {
  const fault = keyFault(key);
  if (fault === 'missing') return MISSING;
  if (fault === 'bad') return incorrect(key);
  if (fault !== undefined) return KEY_REFUSALS[fault];
  return key.startsWith('ek_') && readSecret(key, tools) === undefined ? incorrect(key) : undefined;
}

/** Who is refused as a 401 is told so in JSON that is called plain text, with the status in it. */
function refused(refusal: Refusal): SimulatedAnswer {
  const answer = refuse(refusal);
  if (answer.status !== 401) return answer;
  const headers = { ...answer.headers, 'content-type': 'text/plain; charset=utf-8' };
  return { ...answer, headers, body: JSON.stringify({ ...(answer.body as object), status: 401 }) };
}

/** Keys that are refused on the open connection, and the close of each. */
const CLOSES: Readonly<Record<string, number>> = { invalid_api_key: 3000, insufficient_quota: 1013 };

function closedWith(peer: SimulatedPeer, refusal: Refusal, code: number): SimulatedConnection {
  const error = errorOf(refusal);
  peer.send({ type: 'error', event_id: 'event_refused', error: { ...error, event_id: null } });
  return closedAtOnce(peer, code, `${error.type}.${error.code}`);
}
