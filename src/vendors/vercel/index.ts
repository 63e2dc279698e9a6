// Clients of Vercel's AI Gateway: transcription models of the AI SDK, of files and of live speech. Names of models are slugs already.
// https://github.com/vercel/ai/tree/main/packages/gateway

import type { Dialect } from '../compat/dialect.ts';
import { authorizationOf, subprotocolsOf } from '../kit/offered-keys.ts';
import { StreamConversation } from './conversation.ts';
import { endingOf, errorAnswer } from './errors.ts';
import { transcriptionModel } from './files.ts';

const SUBPROTOCOL = 'ai-gateway-transcription.v1';
const AUTH = 'ai-gateway-auth.';

export const vercel: Dialect = {
  name: 'vercel',
  title: 'Vercel’s AI Gateway',
  names: {},
  live: {
    '/v4/ai/transcription-model': { open: (handshake) => new StreamConversation(handshake), refused: endingOf },
  },
  files: {},
  jsonFiles: { '/v3/ai/transcription-model': transcriptionModel, '/v4/ai/transcription-model': transcriptionModel },
  credential: ({ headers }) => {
    const offered = subprotocolsOf(headers.get('sec-websocket-protocol'));
    const among = offered.find((each) => each.startsWith(AUTH))?.slice(AUTH.length);
    const credential = headers.has('authorization') ? (authorizationOf(headers.get('authorization')) ?? '') : among;
    return { credential, ...(offered.includes(SUBPROTOCOL) ? { protocol: SUBPROTOCOL } : {}) };
  },
  refusal: errorAnswer,
};
