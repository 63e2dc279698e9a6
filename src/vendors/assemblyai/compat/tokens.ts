// Temporary tokens of AssemblyAI's clients. https://www.assemblyai.com/docs/streaming/authenticate-with-a-temporary-token

import type { TokenEndpoints } from '../../compat/dialect.ts';
import { refuseOfToken, secondsAsked } from '../../compat/params.ts';
import { jsonAnswer } from '../../compat/request.ts';

export const tokens: TokenEndpoints = {
  'GET /v3/token': {
    open({ query }) {
      refuseOfToken(Object.fromEntries(query), ['max_session_duration_seconds']);
      return secondsAsked('expires_in_seconds', query.get('expires_in_seconds'));
    },
    answer: ({ token, seconds }) => jsonAnswer({ token, expires_in_seconds: seconds }),
  },
};
