// Amazon Transcribe as its clients meet it: signed URLs, who is calling, and how it refuses. Sessions are live.ts.
import { type KeyFault, keyFault } from '../../kit/simulator/credentials.ts';
import type { ProviderSimulator, SimulatedAnswer, SimulatedRequest } from '../../simulation.ts';
import { framed } from './events.ts';
import { optionsOf, Session } from './live.ts';
import { signedBy } from './signature.ts';

const SESSIONS = '/stream-transcription-websocket';
const KEYS: Readonly<Record<KeyFault, readonly [status: number, type: string, message: string]>> = {
  missing: [403, 'MissingAuthenticationTokenException', 'Missing Authentication Token'],
  bad: [403, 'UnrecognizedClientException', 'The security token included in the request is invalid.'],
  broke: [403, 'AccessDeniedException', 'The account may not do this.'],
  limited: [429, 'ThrottlingException', 'Rate exceeded'],
};

export const simulator: ProviderSimulator = {
  provider: 'aws',

  quirks: {
    exception:
      '<name>: the session fails with this exception as soon as it is open; InternalFailureException without a name',
  },

  upgrade(request, tools) {
    if (request.url.pathname !== SESSIONS) return { refuse: refusal(404) };
    const refused = refusedKey(request);
    if (refused !== undefined) return { refuse: refused };
    const options = optionsOf(request.url.searchParams);
    return { connect: (peer) => new Session(peer, tools, options) };
  },

  async http(request) {
    const { pathname, searchParams } = request.url;
    if (pathname !== '/' || searchParams.get('Action') !== 'GetCallerIdentity') return refusal(404);
    return refusedKey(request) ?? { status: 200, body: { GetCallerIdentityResponse: { Account: '123456789012' } } };
  },

  refusal,

  failure: () => ({
    messages: [{ InternalFailureException: { Message: 'A problem occurred while processing the audio.' } }],
    close: { code: 1000, reason: '' },
  }),

  isFinal: ({ TranscriptEvent }) => JSON.stringify(TranscriptEvent ?? '').includes('"IsPartial":false'),

  encode: framed,
};

/** The refusal of a request that is not signed, or not by one who may. */
function refusedKey(request: SimulatedRequest): SimulatedAnswer | undefined {
  const signed = signedBy(request);
  const fault = keyFault(signed?.key);
  if (fault === undefined && signed?.isRight === true) return undefined;
  const [status, type, message] =
    fault === undefined ? [403, 'SignatureDoesNotMatch', 'It does not match.'] : KEYS[fault];
  return refusal(status, message, type);
}

function refusal(status: number, message = 'The request was refused.', type = 'Refused'): SimulatedAnswer {
  return { status, headers: { 'x-amzn-errortype': type }, body: { message, __type: type } };
}
