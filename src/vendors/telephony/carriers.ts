// Calls of Twilio, by its Media Streams. https://www.twilio.com/docs/voice/media-streams/websocket-messages

import type { Dialect } from '../compat/dialect.ts';
import { badRequest } from '../compat/params.ts';
import { numberIn, objectIn } from '../kit/json.ts';
import { authorizationOf } from '../kit/offered-keys.ts';
import { KEY_PARAMETER, unsupported } from './call-start.ts';
import { channelsOf, mediaStreamEndpoint } from './media-stream.ts';

export const telephone = (name: string, title: string, live: Dialect['live']): Dialect => ({
  name,
  title,
  names: {},
  live,
  files: {},
  credential: ({ headers, query }) => {
    if (headers.has('authorization')) return { credential: authorizationOf(headers.get('authorization')) ?? '' };
    const credential = headers.get('x-api-key') ?? query.get(KEY_PARAMETER) ?? undefined;
    return headers.has('x-api-key') || credential === undefined ? { credential } : { credential, param: KEY_PARAMETER };
  },
  refusal: (refusal, requestId) => ({
    status: refusal.status,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ error: refusal.body(requestId) }),
  }),
});

const MULAW = 'audio/x-mulaw';

export const twilio = telephone('twilio', 'Twilio', {
  '/media': mediaStreamEndpoint({
    parameters: 'customParameters',
    callOf: ({ callSid, streamSid }) => ({ carrier: 'twilio', ids: [callSid, streamSid] }),
    audioOf: ({ tracks, mediaFormat }) => {
      const { encoding = MULAW } = objectIn(mediaFormat);
      if (encoding !== MULAW) throw unsupported(encoding, MULAW);
      return { encoding: 'mulaw', sampleRate: 8000, channels: channelsOf(tracks) };
    },
  }),
});

const ENCODINGS: Readonly<Record<string, 'mulaw' | 'alaw'>> = { PCMU: 'mulaw', PCMA: 'alaw' };
/** Telnyx does not say in `start` which tracks come: whoever asks it for both says so to the gateway too. */
const BOTH = 'both_tracks';
const TRACKS = ['inbound_track', 'outbound_track', BOTH];
const TRACKS_WORDS = `\`tracks\` has to be what \`stream_track\` is: one of ${TRACKS.join(', ')}.`;

export const telnyx = telephone('telnyx', 'Telnyx', {
  '/media': mediaStreamEndpoint({
    parameters: 'custom_parameters',
    callOf: ({ call_control_id, call_session_id }, { stream_id }) => ({
      carrier: 'telnyx',
      ids: [call_control_id, call_session_id, stream_id],
    }),
    audioOf: ({ media_format }, asked) => {
      const { encoding = 'PCMU', sample_rate } = objectIn(media_format);
      const known = Object.hasOwn(ENCODINGS, encoding as string) ? ENCODINGS[encoding as string] : undefined;
      if (known === undefined) throw unsupported(encoding, 'PCMU or PCMA');
      const tracks = asked.get('tracks') ?? 'inbound_track';
      asked.delete('tracks');
      if (!TRACKS.includes(tracks as string)) throw badRequest('tracks', TRACKS_WORDS);
      return { encoding: known, sampleRate: numberIn(sample_rate) ?? 8000, channels: tracks === BOTH ? 2 : 1 };
    },
  }),
});
