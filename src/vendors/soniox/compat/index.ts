// Soniox' clients: live speech, and files. https://soniox.com/docs/stt/api-reference/websocket-api

import { authorizationOf, subprotocolsOf } from '../../compat/credentials.ts';
import type { Dialect } from '../../compat/dialect.ts';
import { objectOf, textIn } from '../../kit/json.ts';
import { TranscribeConversation } from './conversation.ts';
import { jobs } from './jobs.ts';
import { endingOf, refusalOf } from './refusals.ts';
import { tokens } from './temporary-keys.ts';

const SUBPROTOCOL = 'soniox-api-key';

export const soniox: Dialect = {
  name: 'soniox',
  title: 'Soniox',
  provider: 'soniox',
  model: 'stt-rt-v5',
  names: {},
  replaced: [[/^stt-(rt|async)-(?:preview(?:-v\d)?|v[1-4](?:-preview)?)$/, 'stt-$1-v5']],
  live: {
    '/transcribe-websocket': {
      open: (handshake) => new TranscribeConversation(handshake),
      refused: endingOf,
      // In the first message, which asks for the session as well.
      late: (text) => ({ credential: textIn(objectOf(text).api_key) }),
    },
  },
  files: {},
  jobs,
  tokens,
  credential: ({ headers }) => {
    if (headers.has('authorization')) return { credential: authorizationOf(headers) ?? '' };
    const [name, credential = ''] = subprotocolsOf(headers);
    return name === SUBPROTOCOL ? { credential, protocol: name } : { credential: undefined };
  },
  refusal: refusalOf,
};
