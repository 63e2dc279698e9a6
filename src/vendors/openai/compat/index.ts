// OpenAI's clients: transcription sessions of the Realtime API. Files come by the gateway's own form, which is OpenAI's.
// https://developers.openai.com/api/docs/guides/realtime-transcription
import { TRANSLATIONS_NOT_SERVED } from '../../../api/not-served.ts';
import type { Dialect } from '../../compat/dialect.ts';
import { subprotocolsOf } from '../../kit/offered-keys.ts';
import { credentialOf, isPage, tokens } from './client-secrets.ts';
import { endingOf, errorAnswer } from './errors.ts';
import { RealtimeConversation } from './realtime.ts';

export const openai: Dialect = {
  name: 'openai',
  title: 'OpenAI',
  provider: 'openai',
  model: 'gpt-transcribe',
  names: {},
  replaced: [
    // Snapshots, of which the gateway has the newest.
    [/^(gpt-(?:4o-(?:mini-)?|live-)?transcribe(?:-diarize)?|gpt-realtime-whisper)-(?:20\d\d-\d\d-\d\d|latest)$/, '$1'],
    // Models that speak: an address of a session may name one beside the model that transcribes.
    [/^gpt-(?:4o-)?(?:mini-)?realtime(?:-mini|-preview|-1\.5)*(?:-20\d\d-\d\d-\d\d)?$/, 'gpt-transcribe'],
  ],
  live: {
    '/v1/realtime': {
      open: (handshake) => new RealtimeConversation(handshake),
      refused: (refusal, handshake) => (isPage(handshake) ? endingOf(refusal, handshake.requestId) : undefined),
    },
  },
  files: {},
  forms: { '/v1/audio/transcriptions': 'ours' },
  tokens,
  notServed: { '/v1/audio/translations': TRANSLATIONS_NOT_SERVED },
  credential: (handshake) => ({
    credential: credentialOf(handshake),
    ...(subprotocolsOf(handshake.headers.get('sec-websocket-protocol')).includes('realtime')
      ? { protocol: 'realtime' }
      : {}),
  }),
  refusal: errorAnswer,
};
