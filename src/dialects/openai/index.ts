// OpenAI's clients: transcription sessions of the Realtime API. Files come by the gateway's own form, which is OpenAI's.
// https://developers.openai.com/api/docs/guides/realtime-transcription
import type { Dialect } from '../dialect.ts';
import { subprotocolsOf } from '../offers.ts';
import { credentialOf, isPage, tokens } from './client-secrets.ts';
import { RealtimeConversation } from './realtime.ts';
import { endingOf, refusalOf } from './refusals.ts';

export const openai: Dialect = {
  name: 'openai',
  title: 'OpenAI',
  provider: 'openai',
  model: 'gpt-transcribe',
  names: { 'gpt-4o-mini-transcribe-2025-12-15': 'gpt-4o-mini-transcribe' },
  live: {
    '/v1/realtime': {
      open: (handshake) => new RealtimeConversation(handshake),
      refused: (refusal, handshake) => (isPage(handshake) ? endingOf(refusal, handshake.requestId) : undefined),
    },
  },
  files: {},
  forms: { '/v1/audio/transcriptions': 'ours' },
  tokens,
  credential: (handshake) => ({
    credential: credentialOf(handshake),
    ...(subprotocolsOf(handshake.headers).includes('realtime') ? { protocol: 'realtime' } : {}),
  }),
  refusal: refusalOf,
};
