// Azure's speech resource as its clients meet it: routes, keys, how it refuses, and how it writes a message. Sessions are live.ts,
// files files.ts.
import { authorizationOf, keyRefusal } from '../../kit/simulator/credentials.ts';
import { ok, routed } from '../../kit/simulator/routes.ts';
import { closedAtOnce } from '../../kit/simulator/session.ts';
import type { ProviderSimulator, SimulatedRequest } from '../../simulation.ts';
import { answerFile, refusal } from './files.ts';
import { queryFault, Session } from './live.ts';

const SESSIONS = /^(?:\/stt)?\/speech\/recognition\/(?:conversation|interactive|dictation)\/cognitiveservices\/v1$/;

/** Its own client writes the key into the URL as well. */
const keyOf = (request: SimulatedRequest): string | undefined =>
  request.headers['ocp-apim-subscription-key'] ??
  request.url.searchParams.get('Ocp-Apim-Subscription-Key') ??
  authorizationOf(request, 'bearer');

export const simulator: ProviderSimulator = {
  provider: 'azure',

  quirks: {
    'ends-requests':
      '<seconds>: the service ends its turn behind so much audio of it, and takes no more until the next context',
    status: '<status>: a phrase has this status behind the first second of audio, in place of words',
    'lower-case': 'headers are written in lower case and without a space',
  },

  upgrade(request, tools) {
    const { pathname, searchParams } = request.url;
    if (!SESSIONS.test(pathname)) return { refuse: refusal(404) };
    const refused = keyRefusal(keyOf(request), refusal);
    if (refused !== undefined) return { refuse: refused };
    const wrong = queryFault(searchParams);
    if (wrong !== undefined) return { connect: (peer) => closedAtOnce(peer, 1007, wrong) };
    return { connect: (peer) => new Session(peer, tools) };
  },

  async http(request, tools) {
    if (!request.url.pathname.startsWith('/speechtotext/')) return refusal(404);
    const refused = keyRefusal(keyOf(request), refusal);
    if (refused !== undefined) return refused;
    if (request.url.searchParams.get('api-version') === null) return refusal(400);
    const answered = await routed(request, {
      'GET /speechtotext/transcriptions/locales': () => ok({ transcription: ['en-US'] }),
      'POST /speechtotext/transcriptions:transcribe': () => answerFile(request, tools),
    });
    return answered ?? refusal(404);
  },

  refusal,

  failure: () => ({ messages: [], close: { code: 1011, reason: 'Internal server error' } }),

  isFinal: ({ Path, body }) =>
    Path === 'speech.phrase' && (body as { RecognitionStatus?: unknown } | null)?.RecognitionStatus === 'Success',

  encode({ Path, requestId, compact, body }) {
    const headers = { 'X-RequestId': requestId, 'Content-Type': 'application/json; charset=utf-8', Path };
    const lines = Object.entries(headers).map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      return compact === true ? `${name.toLowerCase()}:${text}` : `${name}: ${text}`;
    });
    return `${lines.join('\r\n')}\r\n\r\n${JSON.stringify(body ?? {})}`;
  },
};
