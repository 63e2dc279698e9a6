// Tokens of ElevenLabs' clients, which call them single-use. https://elevenlabs.io/docs/api-reference/tokens/create
import { TOKEN_TTL_SECONDS } from '../../../api/tokens.ts';
import type { TokenEndpoints } from '../../compat/dialect.ts';
import { jsonAnswer } from '../../compat/request.ts';

export const tokens: TokenEndpoints = {
  'POST /v1/single-use-token/realtime_scribe': {
    // Theirs live for 15 minutes.
    open: () => TOKEN_TTL_SECONDS.max,
    answer: ({ token }) => jsonAnswer({ token }),
  },
};
