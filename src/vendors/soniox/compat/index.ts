// Soniox' clients: live speech, and files. https://soniox.com/docs/stt/api-reference/websocket-api

import type { Dialect, TokenEndpoints } from '../../compat/dialect.ts';
import { badRequest, refuseOfToken, secondsAsked } from '../../compat/params.ts';
import { jsonAnswer } from '../../compat/request.ts';
import { objectOf, textIn } from '../../kit/json.ts';
import { authorizationOf, subprotocolsOf } from '../../kit/offered-keys.ts';
import { TranscribeConversation } from './conversation.ts';
import { endingOf, errorAnswer } from './errors.ts';
import { callbackPost, jobs } from './jobs.ts';

const SUBPROTOCOL = 'soniox-api-key';

/** https://soniox.com/docs/stt/api-reference/auth/create_temporary_api_key */
const tokens: TokenEndpoints = {
  'POST /v1/auth/temporary-api-key': {
    open(_, { usage_type, expires_in_seconds, ...more }) {
      if (usage_type !== 'transcribe_websocket')
        throw badRequest('usage_type', '`usage_type` has to be transcribe_websocket: other work takes a key.');
      refuseOfToken(more, ['single_use', 'max_session_duration_seconds']);
      return secondsAsked('expires_in_seconds', expires_in_seconds);
    },
    answer: ({ token, expiresAt }) => jsonAnswer({ api_key: token, expires_at: expiresAt }, 201),
  },
};

export const soniox: Dialect = {
  name: 'soniox',
  title: 'Soniox',
  provider: 'soniox',
  model: 'stt-rt-v5',
  names: {},
  replaced: [[/^stt-(rt|async)-(?:preview(?:-v\d)?|v[1-4](?:-preview)?)$/, 'stt-$1-v5']],
  live: {
    '/transcribe-websocket': {
      open: (handshake) => new TranscribeConversation(handshake),
      refused: endingOf,
      // In the first message, which asks for the session as well.
      late: (text) => ({ credential: textIn(objectOf(text).api_key) }),
    },
  },
  files: {},
  ...{ jobs, callbackPost },
  tokens,
  credential: ({ headers }) => {
    if (headers.has('authorization')) return { credential: authorizationOf(headers.get('authorization')) ?? '' };
    const [name, credential = ''] = subprotocolsOf(headers.get('sec-websocket-protocol'));
    return name === SUBPROTOCOL ? { credential, protocol: name } : { credential: undefined };
  },
  refusal: errorAnswer,
};
