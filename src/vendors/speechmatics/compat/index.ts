// Speechmatics' clients: live speech, and files. https://docs.speechmatics.com/api-ref/realtime-transcription-websocket

import type { Dialect, TokenEndpoints } from '../../compat/dialect.ts';
import { badRequest, secondsAsked } from '../../compat/params.ts';
import { jsonAnswer } from '../../compat/request.ts';
import { authorizationOf } from '../../kit/offered-keys.ts';
import { RealtimeConversation } from './conversation.ts';
import { errorAnswer } from './errors.ts';
import { callbackPost, jobs } from './jobs.ts';

/** https://docs.speechmatics.com/get-started/authentication */
const tokens: TokenEndpoints = {
  'POST /v1/api_keys': {
    open({ query }, { ttl }) {
      if ((query.get('type') ?? 'rt') !== 'rt')
        throw badRequest(
          'type',
          '`type` has to be rt: temporary keys open live sessions alone. Send files with a key.',
        );
      return secondsAsked('ttl', ttl);
    },
    answer: ({ token }) => jsonAnswer({ apikey_id: null, key_value: token }, 201),
  },
};

export const speechmatics: Dialect = {
  name: 'speechmatics',
  title: 'Speechmatics',
  provider: 'speechmatics',
  model: 'enhanced',
  names: {},
  // The multilingual model, which the gateway has not.
  replaced: [[/^melia-1$/, 'enhanced']],
  live: { '/v2': { open: (handshake) => new RealtimeConversation(handshake) } },
  files: {},
  ...{ jobs, callbackPost },
  tokens,
  // Its own client for files puts these paths at the root of whatever address it is given.
  atRoot: ['/v2/jobs', '/v2/jobs/:id', '/v2/jobs/:id/transcript'],
  credential: ({ query, headers }) => {
    // Browsers cannot set headers: its own clients put the key into the query.
    const jwt = headers.has('authorization') ? null : query.get('jwt');
    return jwt === null
      ? { credential: authorizationOf(headers.get('authorization')) }
      : { credential: jwt, param: 'jwt' };
  },
  refusal: errorAnswer,
};
