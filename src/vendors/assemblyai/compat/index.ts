// AssemblyAI's clients: Universal-Streaming v3, and files. https://www.assemblyai.com/docs/api-reference/streaming-api/streaming-api
import type { Dialect, TokenEndpoints } from '../../compat/dialect.ts';
import { refuseOfToken, secondsAsked } from '../../compat/params.ts';
import { jsonAnswer } from '../../compat/request.ts';
import { endingOf, errorAnswer } from './errors.ts';
import { callbackPost, jobs } from './jobs.ts';
import { StreamingConversation } from './streaming.ts';

/** https://www.assemblyai.com/docs/streaming/authenticate-with-a-temporary-token */
const tokens: TokenEndpoints = {
  'GET /v3/token': {
    open({ query }) {
      refuseOfToken(Object.fromEntries(query), ['max_session_duration_seconds']);
      return secondsAsked('expires_in_seconds', query.get('expires_in_seconds'));
    },
    answer: ({ token, seconds }) => jsonAnswer({ token, expires_in_seconds: seconds }),
  },
};

export const assemblyai: Dialect = {
  name: 'assemblyai',
  title: 'AssemblyAI',
  provider: 'assemblyai',
  model: 'universal-3-6-pro',
  names: {
    'u3-pro': 'u3-rt-pro',
    'universal-3-6': 'universal-3-6-pro',
    'universal-3-5': 'universal-3-5-pro',
    'universal-streaming': 'universal-streaming-english',
    'universal-streaming-multi': 'universal-streaming-multilingual',
    universal: 'universal-2',
  },
  replaced: [
    [/^(?:universal-3-pro|slam-1|best)$/, 'universal-3-5-pro'],
    [/^(?:nano|universal-1|conformer(?:-[12])?)$/, 'universal-2'],
  ],
  live: { '/v3/ws': { open: (handshake) => new StreamingConversation(handshake), refused: endingOf } },
  files: {},
  ...{ jobs, callbackPost },
  tokens,
  /** The bare key; `Bearer` before it, which AssemblyAI itself refuses, does no harm. */
  credential: ({ query, headers }) => {
    const token = query.get('token');
    if (token !== null) return { credential: token, param: 'token' };
    return { credential: /^\s*(?:bearer +)?(\S+)\s*$/i.exec(headers.get('authorization') ?? '')?.[1] };
  },
  refusal: errorAnswer,
};
