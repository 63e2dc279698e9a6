// OpenAI's clients: transcription sessions of the Realtime API. Files come by the gateway's own form, which is OpenAI's.
// https://developers.openai.com/api/docs/guides/realtime-transcription
import type { Dialect } from '../dialect.ts';
import { authorizationOf, subprotocolsOf } from '../offers.ts';
import { RealtimeConversation } from './realtime.ts';
import { refusalOf } from './refusals.ts';

const KEY_PROTOCOL = 'openai-insecure-api-key.';

export const openai: Dialect = {
  name: 'openai',
  title: 'OpenAI',
  provider: 'openai',
  model: 'gpt-transcribe',
  names: { 'gpt-4o-mini-transcribe-2025-12-15': 'gpt-4o-mini-transcribe' },
  live: { '/v1/realtime': { open: (handshake) => new RealtimeConversation(handshake) } },
  files: {},
  forms: { '/v1/audio/transcriptions': 'ours' },
  credential: ({ headers }) => {
    // Browsers cannot set headers: a subprotocol stands for them.
    const protocols = subprotocolsOf(headers);
    const protocol = protocols.includes('realtime') ? { protocol: 'realtime' } : {};
    if (headers.has('authorization')) return { credential: authorizationOf(headers), ...protocol };
    const named = protocols.find((each) => each.startsWith(KEY_PROTOCOL));
    return { credential: named?.slice(KEY_PROTOCOL.length), ...protocol };
  },
  refusal: refusalOf,
};
