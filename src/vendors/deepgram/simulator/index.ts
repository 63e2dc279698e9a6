// A simulated Deepgram: who is let in, where requests go, how it refuses, and files. Connections are in nova.ts and flux.ts. It hears
// linear16 alone: other encodings are refused, which the provider would take.
import type { Word } from '../../../../machines/events.ts';
import { authorizationOf, subprotocolsOf } from '../../kit/offered-keys.ts';
import type {
  HeardTurn,
  ProviderSimulator,
  SimulatedAnswer,
  SimulatedRequest,
  SimulatorTools,
} from '../../kit/simulation.ts';
import { keyRefusal } from '../../kit/simulator/credentials.ts';
import { ok, routed } from '../../kit/simulator/routes.ts';
import { confidenceOf, textOf } from '../../kit/simulator/words.ts';
import { alternativeOf, fileAnswer, metadataOf, refusalOf, utteranceOf } from '../messages.ts';
import { FluxSession } from './flux.ts';
import { CREATED, heardWords, NovaSession } from './nova.ts';
import { fluxFault, novaFault } from './query.ts';

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
    const [subprotocol] = subprotocolsOf(request.headers['sec-websocket-protocol']);
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
  const [name = '', key] = subprotocolsOf(request.headers['sec-websocket-protocol']);
  return (
    authorizationOf(request.headers.authorization, 'token', 'bearer') ??
    (['token', 'bearer'].includes(name) ? key : undefined)
  );
}

const refusal = (status: number, id = '0', words = MESSAGES[status] ?? 'Service unavailable.'): SimulatedAnswer =>
  refusalOf(status, words, `request-${id}`);

/** The answer, or what is wrong with the request. */
export async function transcribeFile(
  { url, headers, body }: SimulatedRequest,
  tools: SimulatorTools,
): Promise<SimulatedAnswer | { fault: string }> {
  const query = url.searchParams;
  const model = query.get('model') ?? 'base-general';
  if (!/^(?:nova|enhanced|base|whisper)/.test(model)) return { fault: `Bad Request: no such model: ${model}.` };
  if (model.startsWith('nova-3') && query.has('keywords')) return { fault: 'Keywords are not supported for Nova-3.' };
  if (headers['content-type']?.startsWith('application/json')) return { fault: 'The simulator fetches no URLs.' };
  const heard = await tools.transcribe(body, query.get('language') ?? undefined).catch(() => undefined);
  if (heard === undefined) return { fault: 'Bad Request: failed to process audio: corrupt or unsupported data.' };
  const requestId = `request-${tools.newId()}`;
  const results = resultsOf(query, requestId, heard.turns);
  return { status: 200, body: fileAnswer(metadataOf(requestId, CREATED, heard.seconds), model, ...results) };
}

/** Two speakers take turns, where speakers are requested. */
function resultsOf(query: URLSearchParams, requestId: string, turns: readonly HeardTurn[]) {
  const isDiarized = query.has('diarize_model') || query.get('diarize') === 'true';
  const detects = query.has('detect_language') && query.get('detect_language') !== 'false';
  const words = turns.map((turn, index) => heardWords(turn, isDiarized ? index % 2 : undefined));
  const utterances = turns.map((turn, index) => {
    const alternative = alternativeOf(turn.text, turn.confidence, words[index] as Word[]);
    const place = { start: turn.start, end: turn.end, ...(isDiarized ? { speaker: index % 2 } : {}) };
    return utteranceOf(`${requestId}-${index}`, place, alternative);
  });
  const alternative = alternativeOf(textOf(turns), confidenceOf(turns), words.flat());
  const detected = detects ? { detected_language: 'en', language_confidence: 0.99 } : {};
  return [
    { alternatives: [alternative], ...detected },
    { results: query.get('utterances') === 'true' ? { utterances } : {} },
  ] as const;
}
