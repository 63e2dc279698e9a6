// Tokens of ElevenLabs' clients, which call them single-use. https://elevenlabs.io/docs/api-reference/tokens/create
import { TOKEN_TTL_SECONDS } from '../../api/tokens.ts';
import { told } from '../answers.ts';
import type { TokenDoors } from '../dialect.ts';

export const tokens: TokenDoors = {
  'POST /v1/single-use-token/realtime_scribe': {
    // Theirs live for 15 minutes.
    open: () => TOKEN_TTL_SECONDS.max,
    answer: ({ token }) => told({ token }),
  },
};
