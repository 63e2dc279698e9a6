// Temporary tokens of Deepgram's clients. https://developers.deepgram.com/reference/auth/tokens/grant

import type { TokenEndpoints } from '../../compat/dialect.ts';
import { secondsAsked } from '../../compat/params.ts';
import { jsonAnswer } from '../../compat/request.ts';

/** Theirs live so long where nothing is asked for. */
const USUAL_SECONDS = 30;

export const tokens: TokenEndpoints = {
  'POST /v1/auth/grant': {
    open: (_, { ttl_seconds }) => secondsAsked('ttl_seconds', ttl_seconds) ?? USUAL_SECONDS,
    answer: ({ token, seconds }) => jsonAnswer({ access_token: token, expires_in: seconds }),
  },
};
