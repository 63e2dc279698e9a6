// Gladia's clients: live sessions, requested by a request, and files. https://docs.gladia.io/api-reference/v2/live/init
import type { ApiError } from '../../../api/errors.ts';
import type { Dialect } from '../../compat/dialect.ts';
import { init, LiveConversation } from './conversation.ts';
import { closeOf, errorAnswer } from './errors.ts';
import { callbackPost, jobs, sessions } from './jobs.ts';

const TOKEN = /^st_/;

export const gladia: Dialect = {
  name: 'gladia',
  title: 'Gladia',
  provider: 'gladia',
  model: 'solaria-1',
  names: { solaria: 'solaria-1' },
  replaced: [[/^(?:fast|accurate|solaria-(?:mini-1|[23]))$/, 'solaria-1']],
  live: {
    '/v2/live': {
      open: (handshake) => new LiveConversation(handshake),
      // A handshake that is refused is tried again by its own client, which tells nobody why.
      refused: ({ code, message, closeCode }: ApiError) => ({
        messages: [JSON.stringify({ type: 'error', data: { code, message } })],
        ...closeOf(closeCode, code),
      }),
    },
  },
  files: {},
  calls: { '/v2/live': init },
  ...{ jobs, callbackPost },
  sessions,
  // Its own client puts these paths at the root of whatever address it is given.
  notServed: {
    '/v2/live/:id/file': 'The audio of live sessions is not kept. `GET /v2/live/:id` has the transcript.',
  },
  atRoot: ['/v2/live', '/v2/live/:id', '/v2/live/:id/file', '/v2/upload', '/v2/pre-recorded', '/v2/pre-recorded/:id'],
  credential: ({ query, headers }) => {
    const [key, token = ''] = [headers.get('x-gladia-key'), query.get('token') ?? undefined];
    if (key !== undefined || token === '') return { credential: key };
    // A token that the answer of the call put there is over in a minute; anything else does not belong into an address.
    return TOKEN.test(token) ? { credential: token } : { credential: token, param: 'token' };
  },
  refusal: errorAnswer,
};
