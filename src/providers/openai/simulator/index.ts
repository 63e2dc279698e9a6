// OpenAI, simulated: who is let in, where each request goes, and how OpenAI refuses and fails. Sessions are in
// live.ts, files in batch.ts.
import type {
  ProviderSimulator,
  SimulatedAnswer,
  SimulatedRequest,
  SimulatedUpgrade,
  SimulatorTools,
} from '../../simulation.ts';
import { answerFile } from './batch.ts';
import { openSession } from './live.ts';
import { type Refusal, refuse } from './refusals.ts';
import { readSecret, writeSecret } from './secrets.ts';

const NO_KEY: Refusal = {
  status: 401,
  code: null,
  message: "You didn't provide an API key. Send it as `Authorization: Bearer YOUR_KEY`.",
};
const BAD_KEY: Refusal = { status: 401, code: 'invalid_api_key', message: 'Incorrect API key provided.' };
const NO_CREDIT: Refusal = {
  status: 429,
  code: 'insufficient_quota',
  type: 'insufficient_quota',
  message: 'You exceeded your current quota, please check your plan and billing details.',
};
const RATE_LIMITED: Refusal = {
  status: 429,
  code: 'rate_limit_exceeded',
  type: 'requests',
  message: 'Rate limit reached for requests.',
  headers: { 'retry-after': '2' },
};
const OLD_SHAPE: Refusal = {
  status: 400,
  code: 'beta_api_shape_disabled',
  message: 'The Realtime Beta API is no longer supported. Leave out the header OpenAI-Beta.',
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
    const protocols = protocolsOf(request);
    if (request.headers['openai-beta'] !== undefined || protocols.includes('openai-beta.realtime-v1')) {
      return { refuse: refuse(OLD_SHAPE) };
    }
    const conversation = searchParams.has('model');
    if (!conversation && searchParams.get('intent') !== 'transcription') {
      return { refuse: refuse({ status: 400, code: 'missing_model', message: 'You must provide a model parameter.' }) };
    }
    const preset = readSecret(key, tools);
    return {
      ...(protocols.includes('realtime') ? { subprotocol: 'realtime' } : {}),
      connect: (peer) => openSession(peer, tools, { conversation, preset }),
    } satisfies SimulatedUpgrade;
  },

  async http(request, tools) {
    const answer = await answerOf(request, tools);
    return { ...answer, headers: { 'x-request-id': `req_${tools.newId()}`, ...answer.headers } };
  },

  refusal(status) {
    if (status === 401) return refuse(BAD_KEY);
    if (status === 429) return refuse(RATE_LIMITED);
    if (status >= 500) {
      return refuse({
        status,
        code: null,
        type: 'server_error',
        message: 'The server had an error processing your request.',
      });
    }
    return refuse({ status, code: null, message: 'The request was refused.' });
  },

  failure: () => ({
    messages: [
      {
        type: 'error',
        event_id: 'event_failure',
        error: {
          type: 'server_error',
          code: null,
          message: 'The server had an error while processing your request.',
          param: null,
          event_id: null,
        },
      },
    ],
    close: { code: 1011, reason: 'server_error' },
  }),

  isFinal: ({ type }) => type === 'conversation.item.input_audio_transcription.completed',
};

async function answerOf(request: SimulatedRequest, tools: SimulatorTools): Promise<SimulatedAnswer> {
  const refusal = keyRefusal(keyOf(request), tools);
  if (refusal !== undefined) return refuse(refusal);
  const route = `${request.method} ${request.url.pathname}`;
  if (route === 'GET /v1/models') return { status: 200, body: { object: 'list', data: [] } };
  if (route === 'POST /v1/audio/transcriptions') return answerFile(request, tools);
  if (route === 'POST /v1/realtime/client_secrets') return writeSecret(request, tools);
  return refuse(noUrl(request));
}

const noUrl = ({ method, url }: SimulatedRequest): Refusal => ({
  status: 404,
  code: 'unknown_url',
  message: `Invalid URL (${method} ${url.pathname})`,
});

/** From the header, or from a browser's subprotocols. */
function keyOf(request: SimulatedRequest): string {
  const bearer = /^Bearer\s+(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  const secret = protocolsOf(request).find((protocol) => protocol.startsWith(SECRET_PROTOCOL));
  return bearer ?? secret?.slice(SECRET_PROTOCOL.length) ?? '';
}

const protocolsOf = ({ headers }: SimulatedRequest): string[] =>
  (headers['sec-websocket-protocol'] ?? '').split(',').map((protocol) => protocol.trim());

/** Any key will do, but for those whose first letters say otherwise. */
function keyRefusal(key: string, tools: SimulatorTools): Refusal | undefined {
  if (key === '') return NO_KEY;
  if (key.startsWith('bad')) return BAD_KEY;
  if (key.startsWith('broke')) return NO_CREDIT;
  if (key.startsWith('limited')) return RATE_LIMITED;
  if (key.startsWith('ek_') && readSecret(key, tools) === undefined) {
    return { ...BAD_KEY, message: 'The client secret is unknown or has expired.' };
  }
  return undefined;
}
