// ElevenLabs' clients: Scribe, live and for files. https://elevenlabs.io/docs/api-reference/speech-to-text/v-1-speech-to-text-realtime

import { TOKEN_TTL_SECONDS } from '../../../api/tokens.ts';
import type { Dialect, TokenEndpoints } from '../../compat/dialect.ts';
import { jsonAnswer } from '../../compat/request.ts';
import { endingOf, errorAnswer } from './errors.ts';
import { files } from './files.ts';
import { RealtimeConversation } from './realtime.ts';

/** ElevenLabs calls them single-use. https://elevenlabs.io/docs/api-reference/tokens/create */
const tokens: TokenEndpoints = {
  'POST /v1/single-use-token/realtime_scribe': {
    // Theirs live for 15 minutes.
    open: () => TOKEN_TTL_SECONDS.max,
    answer: ({ token }) => jsonAnswer({ token }),
  },
};

export const elevenlabs: Dialect = {
  name: 'elevenlabs',
  title: 'ElevenLabs',
  provider: 'elevenlabs',
  model: 'scribe_v2_realtime',
  names: {},
  replaced: [[/^scribe_v1(?:_base|_experimental)?$/, 'scribe_v2']],
  live: {
    '/v1/speech-to-text/realtime': { open: (handshake) => new RealtimeConversation(handshake), refused: endingOf },
  },
  files: {},
  forms: { '/v1/speech-to-text': files },
  tokens,
  credential: ({ query, headers }) => {
    const token = query.get('token');
    if (token !== null) return { credential: token, param: 'token' };
    return { credential: headers.get('xi-api-key')?.trim() || undefined };
  },
  refusal: errorAnswer,
};
