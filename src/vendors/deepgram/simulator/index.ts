// A simulated Deepgram: who is let in, where requests go, and how it refuses. What is said on a connection and about a
// file is in the files beside it. It hears linear16 alone: other encodings are refused, which the provider would take.
import { authorizationOf, keyRefusal, subprotocolsOf } from '../../kit/simulator/credentials.ts';
import { ok, routed } from '../../kit/simulator/routes.ts';
import type { ProviderSimulator, SimulatedAnswer, SimulatedRequest } from '../../simulation.ts';
import { transcribeFile } from './batch.ts';
import { FluxSession } from './flux.ts';
import { NovaSession } from './nova.ts';
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
    settles:
      'windows of a turn are settled while it goes on, so many seconds after they were spoken; 3 without a number (v1)',
    'swallow-finalize': 'Finalize is never answered (v1)',
    'utterance-end-only': 'turns end by UtteranceEnd, without speech_final (v1)',
    'late-speech-final':
      'speech_final comes by itself, so many milliseconds after the words; 500 when no number is given (v1)',
    'slow-results': 'everything is said so many milliseconds later; 1500 when no number is given (v1)',
    'late-utterance-end': 'UtteranceEnd comes behind the first settled window of the next turn (v1)',
    'error-message':
      'says an Error after so many seconds of audio, then nothing, and stays open; 1 when no number is given (v1)',
    'no-metadata': 'closes with 1000 without the Metadata message (v1)',
    'flux-mute': 'says nothing more after so many seconds of audio, and stays open; 1 when no number is given (Flux)',
    'no-configure': 'answers every Configure with ConfigureFailure (Flux)',
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

  upgrade(request, tools) {
    const { pathname, searchParams } = request.url;
    const id = tools.newId();
    const refused = keyRefusal(keyOf(request), (status) => refusal(status, id), 402);
    if (refused !== undefined) return { refuse: refused };
    const isNova = pathname === '/v1/listen';
    if (!isNova && pathname !== '/v2/listen') return { refuse: refusal(404, id) };
    const fault = isNova ? novaFault(searchParams) : fluxFault(searchParams);
    if (fault !== undefined) return { refuse: refusal(400, id, fault) };
    const Session = isNova ? NovaSession : FluxSession;
    const [subprotocol] = subprotocolsOf(request);
    return {
      ...(subprotocol === undefined ? {} : { subprotocol }),
      connect: (peer) => new Session(peer, tools, searchParams),
    };
  },

  async http(request, tools) {
    const id = tools.newId();
    const refused = keyRefusal(keyOf(request), (status) => refusal(status, id), 402);
    if (refused !== undefined) return refused;
    const answer = await routed(request, {
      'GET /v1/auth/token': () => ok({ api_key_id: `key-${id}`, scopes: ['usage:write'], expires_in: null }),
      'POST /v1/auth/grant': () => ok({ access_token: `granted.${id}.token`, expires_in: 30 }),
      'POST /v1/listen': async () => {
        const told = await transcribeFile(request, tools);
        return 'fault' in told ? refusal(400, id, told.fault) : told;
      },
    });
    return answer ?? refusal(404, id);
  },
};

/** Browsers cannot set headers: two subprotocols stand for them, and a pair of the SDK's may follow. */
function keyOf(request: SimulatedRequest): string | undefined {
  const [name = '', key] = subprotocolsOf(request);
  return authorizationOf(request, 'token', 'bearer') ?? (['token', 'bearer'].includes(name) ? key : undefined);
}

/** Credentials are refused in the new shape, requests in the old one, all else in plain text. */
function refusal(status: number, id = '0', words = MESSAGES[status] ?? 'Service unavailable.'): SimulatedAnswer {
  const request_id = `request-${id}`;
  const category = CATEGORIES[status];
  const errCode = { 400: 'Bad Request', 404: 'Not Found' }[status];
  const body =
    category !== undefined
      ? { category, message: words, details: words, request_id }
      : errCode !== undefined
        ? { err_code: errCode, err_msg: words, request_id }
        : words;
  return { status, headers: { 'dg-request-id': request_id, 'dg-error': words }, body };
}
