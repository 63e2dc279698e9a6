// Temporary tokens of Deepgram's clients. https://developers.deepgram.com/reference/auth/tokens/grant
import { told } from '../answers.ts';
import type { TokenDoors } from '../dialect.ts';
import { secondsAsked } from '../token-wishes.ts';

/** Theirs live so long where nothing is asked for. */
const USUAL_SECONDS = 30;

export const tokens: TokenDoors = {
  'POST /v1/auth/grant': {
    open: (_, { ttl_seconds }) => secondsAsked('ttl_seconds', ttl_seconds) ?? USUAL_SECONDS,
    answer: ({ token, seconds }) => told({ access_token: token, expires_in: seconds }),
  },
};
