// AssemblyAI's clients: Universal-Streaming v3, and files. https://www.assemblyai.com/docs/api-reference/streaming-api/streaming-api
import type { Dialect } from '../../compat/dialect.ts';
import { jobs } from './jobs.ts';
import { endingOf, refusalOf } from './refusals.ts';
import { StreamingConversation } from './streaming.ts';
import { tokens } from './tokens.ts';

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
  jobs,
  tokens,
  /** The bare key; `Bearer` before it, which AssemblyAI itself refuses, does no harm. */
  credential: ({ query, headers }) => {
    const token = query.get('token');
    if (token !== null) return { credential: token, param: 'token' };
    return { credential: /^\s*(?:bearer +)?(\S+)\s*$/i.exec(headers.get('authorization') ?? '')?.[1] };
  },
  refusal: refusalOf,
};
