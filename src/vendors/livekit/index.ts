// Clients of LiveKit Inference: the speech recognition of LiveKit's agents. Their models have the names of their providers already.
// https://docs.livekit.io/agents/models/stt/

import { authorizationOf } from '../compat/credentials.ts';
import type { Dialect } from '../compat/dialect.ts';
import { jsonAnswer } from '../compat/request.ts';
import { offered } from './access-token.ts';
import { AUTO, NAMES } from './asked.ts';
import { SttConversation } from './conversation.ts';
import { errorOf } from './refusals.ts';

export const livekit: Dialect = {
  name: 'livekit',
  title: 'LiveKit Inference',
  model: AUTO,
  names: NAMES,
  live: { '/v1/stt': { open: (handshake) => new SttConversation(handshake) } },
  files: {},
  credential: ({ headers }) => {
    if (!headers.has('authorization')) return { credential: undefined };
    return offered(authorizationOf(headers) ?? '');
  },
  refusal: (refusal) => jsonAnswer(errorOf(refusal.code, refusal.message), refusal.status),
};
