// Azure's speech resource as its clients meet it: routes, keys, how it refuses, and how it writes a message. Sessions are live.ts,
// files files.ts.

import { Type } from '@sinclair/typebox';
import { jsonOf } from '../../kit/json.ts';
import { authorizationOf } from '../../kit/offered-keys.ts';
import type { ProviderSimulator, SimulatedAnswer, SimulatedRequest, SimulatorTools } from '../../kit/simulation.ts';
import { fileIn, formOf, members, oneOf, wrongIn } from '../../kit/simulator/checks.ts';
import { keyRefusal } from '../../kit/simulator/credentials.ts';
import { ok, routed } from '../../kit/simulator/routes.ts';
import { closedAtOnce } from '../../kit/simulator/session.ts';
import { confidenceOf, millisecondsOf, textOf, wordsOf } from '../../kit/simulator/words.ts';
import { queryFault, Session } from './live.ts';

const Definition = members(
  {},
  {
    locales: Type.Array(Type.String({ pattern: '^[a-z]{2,3}-[A-Za-z]{2,8}(-[A-Z]{2})?$' })),
    diarization: members({ enabled: Type.Boolean() }, { maxSpeakers: Type.Integer({ minimum: 2, maximum: 36 }) }),
    channels: Type.Array(Type.Integer({ minimum: 0, maximum: 1 }), { maxItems: 2 }),
    profanityFilterMode: oneOf('None', 'Masked', 'Removed', 'Tags'),
    phraseList: members({ phrases: Type.Array(Type.String()) }, { biasingWeight: Type.Number() }),
  },
);

const CODES: Readonly<Record<number, string>> = {
  400: 'InvalidRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  429: 'TooManyRequests',
};

export function refusal(status: number, message = 'The request was refused.'): SimulatedAnswer {
  return { status, body: { code: CODES[status] ?? (status >= 500 ? 'InternalServerError' : 'NotFound'), message } };
}

const placeOf = ({ start, end }: { start: number; end: number }) => {
  const offsetMilliseconds = millisecondsOf(start);
  return { offsetMilliseconds, durationMilliseconds: millisecondsOf(end) - offsetMilliseconds };
};

export async function answerFile(request: SimulatedRequest, tools: SimulatorTools): Promise<SimulatedAnswer> {
  const form = await formOf(request);
  const definition = jsonOf(String(form?.get('definition') ?? '{}'));
  const wrong = wrongIn(Definition, definition);
  if (wrong !== undefined) return refusal(400, wrong);
  const { locales = [], diarization } = definition as { locales?: string[]; diarization?: { enabled: boolean } };
  const audio = await fileIn(form, 'audio');
  if (audio === undefined) return refusal(400, 'The audio is missing.');
  const heard = await tools.transcribe(audio, locales[0]).catch(() => undefined);
  if (heard === undefined) {
    const innerError = { code: 'InvalidAudioFormat', message: 'The audio could not be decoded.' };
    return { status: 422, body: { code: 'UnprocessableEntity', message: innerError.message, innerError } };
  }
  const phrases = heard.turns.map((turn, index) => ({
    ...placeOf(turn),
    ...(diarization?.enabled === true ? { speaker: (index % 2) + 1 } : {}),
    text: turn.text,
    words: wordsOf(turn).map((word) => ({ text: word.word, ...placeOf(word) })),
    ...{ locale: locales[0] ?? 'en-US', confidence: confidenceOf([turn]) },
  }));
  const combinedPhrases = [{ text: textOf(heard.turns) }];
  return { status: 200, body: { durationMilliseconds: millisecondsOf(heard.seconds), combinedPhrases, phrases } };
}

const SESSIONS = /^(?:\/stt)?\/speech\/recognition\/(?:conversation|interactive|dictation)\/cognitiveservices\/v1$/;

/** Its own client writes the key into the URL as well. */
const keyOf = (request: SimulatedRequest): string | undefined =>
  request.headers['ocp-apim-subscription-key'] ??
  request.url.searchParams.get('Ocp-Apim-Subscription-Key') ??
  authorizationOf(request.headers.authorization);

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
