// Temporary keys of Soniox' clients. https://soniox.com/docs/stt/api-reference/auth/create_temporary_api_key

import type { TokenEndpoints } from '../../compat/dialect.ts';
import { badRequest, refuseOfToken, secondsAsked } from '../../compat/params.ts';
import { jsonAnswer } from '../../compat/request.ts';

export const tokens: TokenEndpoints = {
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
