// A simulated Deepgram: who is let in, where requests go, and how it refuses. What is said on a connection and about a
// file is in the files beside it. It hears linear16 alone: other encodings are refused, which the provider would take.
import type {
  ProviderSimulator,
  SimulatedAnswer,
  SimulatedRequest,
  SimulatedUpgrade,
  SimulatorTools,
} from '../../simulation.ts';
import { transcribeFile } from './batch.ts';
import { FluxConnection } from './flux.ts';
import { NovaConnection } from './nova.ts';
import { fluxFault, novaFault } from './query.ts';

const CATEGORIES: Readonly<Record<number, string>> = {
  401: 'INVALID_AUTH',
  402: 'ASR_PAYMENT_REQUIRED',
  403: 'INSUFFICIENT_PERMISSIONS',
  429: 'TOO_MANY_REQUESTS',
};

const MESSAGES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Invalid credentials.',
  402: 'The project has no credit left.',
  403: 'The project has no access to the requested model.',
  404: 'Not found.',
  413: 'Payload too large.',
  429: 'Too many requests. Please try again later.',
  504: 'The request took too long.',
};

export const simulator: ProviderSimulator = {
  provider: 'deepgram',
  quirks: {
    'swallow-finalize': 'Finalize is never answered (v1)',
    'utterance-end-only': 'turns end by UtteranceEnd, without speech_final (v1)',
    'late-speech-final':
      'speech_final comes by itself, so many milliseconds after the words; 500 when no number is given (v1)',
    'slow-results': 'everything is said so many milliseconds later; 1500 when no number is given (v1)',
    'no-metadata': 'closes with 1000 without the Metadata message (v1)',
    'flux-mute': 'says nothing more after so many seconds of audio, and stays open; 1 when no number is given (Flux)',
    'no-force-end-turn': 'does not know ForceEndTurn: an Error, and a close without a code (Flux)',
  },
  refusal: (status) => refusal(status),
  failure: () => ({
    messages: [],
    close: { code: 1011, reason: 'NET-0000: The service could not deliver the results. See https://dpgr.am/net0000' },
  }),
  isFinal: (message) =>
    // A settled window is never overtaken by the next: a late one holds up those behind it.
    (message.type === 'Results' && message.is_final === true) ||
    (message.type === 'TurnInfo' && message.event === 'EndOfTurn'),

  upgrade(request, tools): SimulatedUpgrade {
    const { pathname } = request.url;
    const refused = authFault(request, tools);
    if (refused !== undefined) return { refuse: refused };
    if (pathname !== '/v1/listen' && pathname !== '/v2/listen') return { refuse: refusal(404, tools) };
    const fault = pathname === '/v1/listen' ? novaFault(request.url.searchParams) : fluxFault(request.url.searchParams);
    if (fault !== undefined) return { refuse: refusal(400, tools, fault) };
    const Connection = pathname === '/v1/listen' ? NovaConnection : FluxConnection;
    const [subprotocol] = subprotocols(request);
    return {
      ...(subprotocol === undefined ? {} : { subprotocol }),
      connect: (peer) => new Connection(request.url.searchParams, tools, peer),
    };
  },

  async http(request, tools): Promise<SimulatedAnswer> {
    const refused = authFault(request, tools);
    if (refused !== undefined) return refused;
    const { method, url } = request;
    if (method === 'GET' && url.pathname === '/v1/auth/token')
      return { status: 200, body: { api_key_id: `key-${tools.newId()}`, scopes: ['usage:write'], expires_in: null } };
    if (method === 'POST' && url.pathname === '/v1/auth/grant')
      return { status: 200, body: { access_token: `granted.${tools.newId()}.token`, expires_in: 30 } };
    if (method !== 'POST' || url.pathname !== '/v1/listen') return refusal(404, tools);
    const answer = await transcribeFile(request, tools);
    return 'fault' in answer ? refusal(400, tools, answer.fault) : answer;
  },
};

/** Any key is good but those that begin with `bad`, `broke` or `limited`. */
function authFault(request: SimulatedRequest, tools: SimulatorTools): SimulatedAnswer | undefined {
  const key = keyOf(request);
  if (key === undefined || key.startsWith('bad')) return refusal(401, tools);
  if (key.startsWith('broke')) return refusal(402, tools);
  return key.startsWith('limited') ? refusal(429, tools) : undefined;
}

function keyOf(request: SimulatedRequest): string | undefined {
  const [scheme, key] = (request.headers.authorization ?? '').split(' ');
  if (/^(?:token|bearer)$/i.test(scheme ?? '') && key) return key;
  // Browsers cannot set headers: two subprotocols stand for them, and a pair of the SDK's may follow.
  const [name, value] = subprotocols(request);
  return (name === 'token' || name === 'bearer') && value ? value : undefined;
}

const subprotocols = ({ headers }: SimulatedRequest): string[] =>
  (headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');

/** Credentials are refused in the new shape, requests in the old one, all else in plain text. */
function refusal(
  status: number,
  tools?: SimulatorTools,
  words = MESSAGES[status] ?? 'Service unavailable.',
): SimulatedAnswer {
  const id = `request-${tools?.newId() ?? '0'}`;
  const headers = { 'dg-request-id': id, 'dg-error': words };
  const category = CATEGORIES[status];
  if (category !== undefined)
    return { status, headers, body: { category, message: words, details: words, request_id: id } };
  if (status !== 400 && status !== 404) return { status, headers, body: words };
  return {
    status,
    headers,
    body: { err_code: status === 400 ? 'Bad Request' : 'Not Found', err_msg: words, request_id: id },
  };
}
