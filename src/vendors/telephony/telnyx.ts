// Calls of Telnyx, by its media streaming. https://developers.telnyx.com/api-reference/websockets/stream-call-media-over-websocket

import { badRequest } from '../compat/params.ts';
import { numberIn, objectIn } from '../kit/json.ts';
import { unsupported } from './call-start.ts';
import { telephone } from './dialect-of.ts';
import { mediaStreamEndpoint } from './media-stream.ts';

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
