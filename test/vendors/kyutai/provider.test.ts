// Kyutai: what its servers say and what that must become, for the suite of every provider.
import { encode } from '@msgpack/msgpack';
import type { Outgoing } from '../../../src/vendors/kit/provider.ts';
import { socketAt } from '../../suites/provider/requests.ts';
import { testProvider } from '../../suites/provider.suite.ts';
import { stories } from './sessions.ts';

const MODEL = 'stt-1b-en_fr';

/** Two bytes a sample, as floats in a map. */
function audioOf(frame: Uint8Array): Outgoing {
  const head = encode({ type: 'Audio', pcm: [] }).slice(0, -1);
  const count = Buffer.from([0xdd, 0, 0, 0, 0]);
  count.writeUInt32BE(frame.length / 2, 1);
  const floats = Array.from({ length: frame.length / 2 }, (_, at) =>
    encode(Buffer.from(frame).readInt16LE(2 * at) / 32_768, { forceFloat32: true }),
  );
  return new Uint8Array(Buffer.concat([head, count, ...floats]));
}

testProvider({
  provider: 'kyutai',
  options: { rows: {} },
  live: {
    model: MODEL,
    sampleRate: 24_000,
    openings: [
      [
        { access: { baseUrl: 'http://10.0.0.5:8080', credential: undefined } },
        socketAt(`ws://10.0.0.5:8080/api/asr-streaming?model=${MODEL}`, { 'kyutai-api-key': 'public_token' }),
      ],
      [
        { access: { baseUrl: 'wss://asr.test/below', credential: 'an-id' } },
        socketAt(`wss://asr.test/below/api/asr-streaming?model=${MODEL}`, { 'kyutai-api-key': 'an-id' }),
      ],
    ],
    requests: [[{ language: 'fr', diarization: true, params: { unheard_of: 1 } }, {}]],
    audio: audioOf,
    timings: [[{}, { turnPauseMs: 1_000, unconfirmedMax: 100, sessionMaxMs: 2_700_000, endpointing: undefined }]],
    stories,
  },
  simulated: {
    whole: [[MODEL, ['speed=0.7']]],
    ends: [
      [MODEL, ['no-free-channels'], 1, 'next no_free_channels'],
      [MODEL, ['speed=0.1'], 30, 'next audio_unconfirmed'],
    ],
  },
});
