// Deepgram's clients: live speech for Nova and Flux, and files. https://developers.deepgram.com/reference
import type { Dialect } from '../dialect.ts';
import { authorizationOf, subprotocolsOf } from '../offers.ts';
import { files } from './files.ts';
import { FluxConversation } from './flux.ts';
import { NovaConversation } from './nova.ts';
import { refusalOf } from './refusals.ts';
import { tokens } from './tokens.ts';

export const deepgram: Dialect = {
  name: 'deepgram',
  title: 'Deepgram',
  provider: 'deepgram',
  model: 'nova-3',
  names: { 'nova-3-general': 'nova-3', 'nova-2-general': 'nova-2' },
  live: {
    '/v1/listen': { open: (handshake) => new NovaConversation(handshake) },
    '/v2/listen': { open: (handshake) => new FluxConversation(handshake) },
  },
  files: { '/v1/listen': files },
  tokens,
  credential: ({ headers }) => {
    if (headers.has('authorization')) return { credential: authorizationOf(headers, 'token|bearer') };
    // Browsers cannot set headers: two subprotocols stand for them, and others may follow.
    const [name = '', credential] = subprotocolsOf(headers);
    return ['token', 'bearer'].includes(name) ? { credential, protocol: name } : { credential: undefined };
  },
  refusal: refusalOf,
};
