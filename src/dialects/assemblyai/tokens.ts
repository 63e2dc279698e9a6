// Temporary tokens of AssemblyAI's clients. https://www.assemblyai.com/docs/streaming/authenticate-with-a-temporary-token
import { told } from '../answers.ts';
import type { TokenDoors } from '../dialect.ts';
import { refuseOfToken, secondsAsked } from '../token-wishes.ts';

export const tokens: TokenDoors = {
  'GET /v3/token': {
    open({ query }) {
      refuseOfToken(Object.fromEntries(query), ['max_session_duration_seconds']);
      return secondsAsked('expires_in_seconds', query.get('expires_in_seconds'));
    },
    answer: ({ token, seconds }) => told({ token, expires_in_seconds: seconds }),
  },
};
