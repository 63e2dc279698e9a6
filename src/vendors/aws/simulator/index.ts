// Amazon Transcribe as its clients meet it: signed URLs, who is calling, and how it refuses. Sessions are live.ts.

import { createHash, createHmac } from 'node:crypto';
import type { ProviderSimulator, SimulatedAnswer, SimulatedRequest } from '../../kit/simulation.ts';
import { type KeyFault, keyFault } from '../../kit/simulator/credentials.ts';
import { framed, optionsOf, Session } from './live.ts';

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

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);

export interface Signed {
  key: string;
  /** Whether it was signed with the secret of the key, which is the key itself here. */
  isRight: boolean;
}

/** Undefined for a request without a signature. */
export function signedBy(request: SimulatedRequest): Signed | undefined {
  const { searchParams: query } = request.url;
  const header = /Credential=([^,]+),\s*SignedHeaders=([^,]+),\s*Signature=(\w+)/.exec(
    request.headers.authorization ?? '',
  );
  const [credential, names, signature, date] =
    header === null
      ? ['Credential', 'SignedHeaders', 'Signature', 'Date'].map((name) => query.get(`X-Amz-${name}`) ?? '')
      : [...header.slice(1), request.headers['x-amz-date'] ?? ''];
  if (!credential || !names || !signature || !date) return undefined;
  const [key = '', ...scope] = credential.split('/');
  const told = [...query].filter(([name]) => name !== 'X-Amz-Signature');
  const pairs = told.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).sort();
  const headers = names
    .split(';')
    .map((name) => `${name}:${name === 'host' ? request.url.host : request.headers[name]}\n`);
  const canonical = [request.method, request.url.pathname, pairs.join('&'), headers.join(''), names, sha256('')];
  const text = ['AWS4-HMAC-SHA256', date, scope.join('/'), sha256(canonical.join('\n'))].join('\n');
  const signing = scope.reduce<string | Buffer>((each, part) => hmac(each, part), `AWS4${key}`);
  return { key, isRight: hmac(signing, text).toString('hex') === signature };
}
