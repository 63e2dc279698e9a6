// Speechmatics' clients: live speech. https://docs.speechmatics.com/api-ref/realtime-transcription-websocket
import type { Dialect } from '../dialect.ts';
import { RealtimeConversation } from './conversation.ts';
import { refusalOf } from './refusals.ts';

const NONE = { credential: undefined };

export const speechmatics: Dialect = {
  name: 'speechmatics',
  title: 'Speechmatics',
  provider: 'speechmatics',
  model: 'enhanced',
  names: {},
  live: { '/v2': { open: (handshake) => new RealtimeConversation(handshake) } },
  files: {},
  credential: ({ query, headers }) => {
    const authorization = headers.get('authorization');
    // Browsers cannot set headers: its own clients put the key into the query.
    if (authorization === undefined)
      return query.has('jwt') ? { credential: query.get('jwt') ?? '', param: 'jwt' } : NONE;
    return { credential: /^\s*bearer +(\S+)\s*$/i.exec(authorization)?.[1] };
  },
  refusal: refusalOf,
};
