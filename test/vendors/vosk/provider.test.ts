// Vosk: what its servers say and what that must become, for the suite of every provider.
import { askedByUrl, socketAt } from '../../suites/provider/requests.ts';
import { testProvider } from '../../suites/provider.suite.ts';
import { stories } from './sessions.ts';

const SMALL = ['small-en-us-0.15', 'small-de-0.15', 'small-fr-0.22', 'small-es-0.42', 'small-it-0.22', 'small-pt-0.3'];
const MODEL = 'small-en-us-0.15';
const config = { sample_rate: 16_000, words: true };

testProvider({
  provider: 'vosk',
  options: {
    rows: {
      phrase_list: {
        takes: [['yes', 'no', '[unk]']],
        refuses: [[], [''], 'yes', [1]],
        ...{ live: SMALL, batch: SMALL },
      },
    },
  },
  live: {
    model: MODEL,
    sampleRate: 16_000,
    openings: [
      [
        { access: { baseUrl: 'http://10.0.0.5:2700', credential: undefined } },
        socketAt(`ws://10.0.0.5:2700?model=${MODEL}`, {}),
        [{ config }],
      ],
      [
        { sampleRate: 8_000, access: { baseUrl: 'wss://asr.test/below/', credential: 'key-of-the-proxy' } },
        socketAt(`wss://asr.test/below?model=${MODEL}`, { authorization: 'Bearer key-of-the-proxy' }),
        [{ config: { ...config, sample_rate: 8_000 } }],
      ],
    ],
    asked: (endpoint, frames) => ({ ...askedByUrl(endpoint, frames), ...(frames[0] as { config: object }).config }),
    written: (value) => value,
    requests: [
      [{ language: 'en-US', diarization: true }, {}],
      [{ params: { phrase_list: ['yes'], model: '/etc' } }, { phrase_list: ['yes'] }],
      [{ model: 'de-0.21', params: { phrase_list: ['ja'] } }, {}],
    ],
    timings: [[{}, { unconfirmedMax: 50, endpointing: undefined, keepAliveMs: undefined }]],
    stories,
    closes: [[1009, 'message too big', 'next close_1009']],
  },
  simulated: {
    whole: [
      [MODEL, ['in-c++']],
      [MODEL, ['no-words'], {}, 3],
      [MODEL, ['alternatives'], {}, 3],
      // Six seconds of audio take a little longer than they are spoken.
      [MODEL, ['speed=0.7'], {}, 3],
    ],
    ends: [[MODEL, ['speed=0.1'], 30, 'next audio_unconfirmed']],
  },
});
