// Google's Speech-to-Text v2 as its clients meet it: calls and requests, who is let in, and how it refuses. Calls are live.ts.
import { objectIn, objectOf } from '../../kit/json.ts';
import { authorizationOf } from '../../kit/offered-keys.ts';
import type { ProviderSimulator, SimulatedAnswer, SimulatedRequest, SimulatorTools } from '../../kit/simulation.ts';
import { bodyOf } from '../../kit/simulator/checks.ts';
import { keyRefusal } from '../../kit/simulator/credentials.ts';
import { callRefusals } from '../../kit/simulator/grpc-call.ts';
import { confidenceOf } from '../../kit/simulator/words.ts';
import { PATH, streamingRecognize } from '../proto.ts';
import { alternativeOf, configFault, durationText, RECOGNIZER, StreamingCall } from './live.ts';

const FILE_SECONDS_MAX = 60;

const refusal = callRefusals({
  400: 'Request contains an invalid argument.',
  401: 'Request had invalid authentication credentials.',
  403: 'This API method requires billing to be enabled.',
  404: 'Requested entity was not found.',
  429: 'Quota exceeded for quota metric "Concurrent streaming requests".',
  500: 'Internal error encountered.',
  501: 'Method not found.',
  503: 'The service is currently unavailable.',
  504: 'Deadline expired before operation could complete.',
});

export const simulator: ProviderSimulator = {
  provider: 'google',
  quirks: {
    'no-words': 'results have no words',
    'invalid-config': 'the config is refused whatever it says',
    'no-voice-activity': 'no events of voice activity',
  },
  grpc: { [PATH]: streamingRecognize },

  upgrade(request, tools) {
    if (request.url.pathname !== PATH) return { refuse: refusal(404) };
    const fault = faultOf(request);
    if (fault !== undefined) return { refuse: fault };
    const routing = new URLSearchParams(request.headers['x-goog-request-params'] ?? '').get('recognizer');
    if (!RECOGNIZER.test(routing ?? ''))
      return { refuse: refusal(400, 'Invalid resource field value in the request.') };
    return { connect: (peer) => new StreamingCall(peer, tools, routing as string) };
  },

  async http(request, tools) {
    const { method, url } = request;
    const [, parent, asked] =
      /^\/v2\/(projects\/[^/]+\/locations\/[^/]+\/recognizers)(?:\/_(:recognize))?$/.exec(url.pathname) ?? [];
    if (parent === undefined) return refusal(404);
    const fault = faultOf(request);
    if (fault !== undefined) return fault;
    if (method === 'GET' && asked === undefined) return { status: 200, body: {} };
    return method === 'POST' && asked !== undefined ? recognize(request, tools) : refusal(404);
  },

  refusal: (status) => refusal(status),
  failure: () => ({ messages: [], close: { code: 4013, reason: 'INTERNAL: Internal error encountered.' } }),
  isFinal: ({ results }) => Array.isArray(results) && results.some(({ isFinal }) => isFinal === true),
};

/** An API key, or a token; one that is signed has to say for whom it is. */
function faultOf(request: SimulatedRequest): SimulatedAnswer | undefined {
  const token = authorizationOf(request.headers.authorization);
  const refused = keyRefusal(token ?? request.headers['x-goog-api-key'], refusal);
  if (refused !== undefined) return refused;
  const [head, claims, signature] = token?.split('.') ?? [];
  if (signature === undefined) return undefined;
  const { alg, kid } = objectOf(Buffer.from(head ?? '', 'base64url').toString());
  const { aud, iss, sub, iat, exp } = objectOf(Buffer.from(claims ?? '', 'base64url').toString());
  const isGood = alg === 'RS256' && kid !== undefined && aud === 'https://speech.googleapis.com/' && iss === sub;
  return isGood && Number(exp) - Number(iat) <= 3_600 ? undefined : refusal(401);
}

async function recognize(request: SimulatedRequest, tools: SimulatorTools): Promise<SimulatedAnswer> {
  const { config, content } = bodyOf(request);
  const fault = configFault(config);
  if (fault !== undefined) return refusal(400, fault);
  const heard = await tools.transcribe(Buffer.from(String(content ?? ''), 'base64'), undefined).catch(() => undefined);
  if (heard === undefined) return refusal(400, 'Audio data does not appear to be in a supported encoding.');
  if (heard.seconds > FILE_SECONDS_MAX) return refusal(400, 'Audio can be of a maximum of 60 seconds.');
  const words = objectIn(objectIn(config).features).enableWordTimeOffsets === true;
  const results = heard.turns.map((turn) => ({
    alternatives: [{ ...alternativeOf(turn, words), confidence: confidenceOf([turn]) }],
    resultEndOffset: durationText(turn.end),
    languageCode: 'en-us',
  }));
  const metadata = { totalBilledDuration: durationText(Math.ceil(heard.seconds)) };
  return { status: 200, body: { ...(results.length > 0 ? { results } : {}), metadata } };
}
