// Deepgram's clients: live speech for Nova and Flux, and files. https://developers.deepgram.com/reference

import type { Dialect, TokenEndpoints } from '../../compat/dialect.ts';
import { secondsAsked } from '../../compat/params.ts';
import { jsonAnswer } from '../../compat/request.ts';
import { authorizationOf, subprotocolsOf } from '../../kit/offered-keys.ts';
import { errorAnswer } from './errors.ts';
import { callbackPost, files } from './files.ts';
import { FluxConversation } from './flux.ts';
import { NovaConversation } from './nova.ts';

// https://developers.deepgram.com/reference/auth/tokens/grant
/** Of a temporary token that names no lifetime. */
const USUAL_SECONDS = 30;

const tokens: TokenEndpoints = {
  'POST /v1/auth/grant': {
    open: (_, { ttl_seconds }) => secondsAsked('ttl_seconds', ttl_seconds) ?? USUAL_SECONDS,
    answer: ({ token, seconds }) => jsonAnswer({ access_token: token, expires_in: seconds }),
  },
};

export const deepgram: Dialect = {
  name: 'deepgram',
  title: 'Deepgram',
  provider: 'deepgram',
  model: 'nova-3',
  names: { 'nova-3-general': 'nova-3', 'nova-2-general': 'nova-2', 'flux-general': 'flux-general-en' },
  // https://developers.deepgram.com/docs/models-languages-overview
  replaced: [
    [/^nova-3-(?:medical|pharmacy)$/, 'nova-3'],
    [/^nova-2-atc$/, 'nova-2'],
    [/^nova-(phonecall|medical)$/, 'nova-2-$1'],
    [/^(?:enhanced|base)-(meeting|phonecall|finance|conversationalai|voicemail|video)$/, 'nova-2-$1'],
    [/^(?:nova|enhanced|base)(?:-general)?$/, 'nova-2'],
    [/^(?:2-)?(meeting|phonecall|finance|conversationalai|voicemail|video)$/, 'nova-2-$1'],
    [/^(?:2-)?general$/, 'nova-2'],
    [/^whisper(?:-(?:tiny|base|small|medium|large|cloud))?$/, 'nova-3'],
  ],
  live: {
    '/v1/listen': { open: (handshake) => new NovaConversation(handshake) },
    '/v2/listen': { open: (handshake) => new FluxConversation(handshake) },
  },
  files: { '/v1/listen': files },
  callbackPost,
  tokens,
  credential: ({ headers }) => {
    if (headers.has('authorization'))
      return { credential: authorizationOf(headers.get('authorization'), 'token', 'bearer') };
    // Browsers cannot set headers: two subprotocols stand for them, and others may follow.
    const [name = '', credential] = subprotocolsOf(headers.get('sec-websocket-protocol'));
    return ['token', 'bearer'].includes(name) ? { credential, protocol: name } : { credential: undefined };
  },
  refusal: errorAnswer,
};
