// Calls of Twilio, by its Media Streams. https://www.twilio.com/docs/voice/media-streams/websocket-messages
import { objectIn } from '../kit/json.ts';
import { unsupported } from './call-start.ts';
import { telephone } from './dialect-of.ts';
import { channelsOf, mediaStreamEndpoint } from './media-stream.ts';

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
