// Rev AI: what its service says and what that must become, for the suite of every provider.
import { inRegion, socketAt } from '../../suites/provider/requests.ts';
import { testProvider } from '../../suites/provider.suite.ts';
import { files } from './files.ts';
import { stories } from './sessions.ts';

const streamAt = (base: string, rate: number) =>
  `${base}/speechtotext/v1/stream?content_type=audio%2Fx-raw%3Blayout%3Dinterleaved%3Brate%3D${rate}%3Bformat%3DS16LE%3Bchannels%3D1&transcriber=machine&max_connection_wait_seconds=5`;
const said = (title: string, parameters?: object) => ({ title, status: 400, parameters });
const MODELS = ['machine'];
const BOTH = { live: MODELS, batch: MODELS };
const LIVE = { live: MODELS };
const BATCH = { batch: MODELS };
const FLAG = { takes: [true, false], refuses: ['yes', 1] };

testProvider({
  provider: 'revai',
  options: {
    rows: {
      custom_vocabulary_id: { takes: ['cv-1'], refuses: [1], ...BOTH },
      filter_profanity: { ...FLAG, ...BOTH },
      remove_disfluencies: { ...FLAG, ...BOTH },
      skip_postprocessing: { ...FLAG, ...BOTH },
      delete_after_seconds: { takes: [0, 2_592_000], refuses: [-1, 2_592_001], ...BOTH },
      max_segment_duration_seconds: { takes: [5, 60], refuses: [4, 61], ...LIVE },
      priority: { takes: ['speed', 'accuracy'], refuses: ['both'], ...LIVE },
      diarization_type: { takes: ['standard', 'premium'], refuses: ['best'], ...BATCH },
      speakers_count: { takes: [1, 100], refuses: [0, 101], ...BATCH },
      custom_vocabularies: {
        takes: [[{ phrases: ['Voxgate'] }]],
        refuses: [[], [{ phrases: [] }], ['Voxgate'], [{ phrases: [''] }]],
        ...BATCH,
      },
    },
  },
  live: {
    model: 'machine',
    sampleRate: 16_000,
    openings: [
      [{}, socketAt(streamAt('wss://api.rev.ai', 16_000))],
      [{ sampleRate: 8_000, access: inRegion('eu') }, socketAt(streamAt('wss://ec1.api.rev.ai', 8_000))],
    ],
    requests: [
      [{ language: 'auto' }, {}],
      [{ language: 'fr-CA' }, { language: 'fr' }],
      [{ language: 'zh-TW' }, { language: 'cmn' }],
      [{ diarization: true }, { enable_speaker_switch: 'true' }],
      [{ params: { speakers_count: 2, unheard_of: 1, constructor: 1 } }, {}],
    ],
    timings: [[{}, { readyMs: 6_000, keepAliveMs: 5_000, sessionMaxMs: 10_800_000, unconfirmedMax: undefined }]],
    stories,
    closes: [
      [4001, 'Unauthorized', 'account close_4001'],
      [4002, 'Bad request', 'caller close_4002'],
      [4003, 'Insufficient credits', 'account close_4003'],
      [4010, '', 'retry close_4010'],
      [4013, '', 'next close_4013'],
      [4029, '', 'next close_4029'],
    ],
  },
  batch: files,
  refusals: [
    [400, said('Invalid.', { speakers_count: ['too many'] }), 'caller http_400', { message: /speakers_count/ }],
    [401, said('Authorization has been denied'), 'account http_401'],
    [403, said('Not authorized'), 'account http_403'],
    [404, said('Could not find resource.'), 'next http_404'],
    [409, said('Not ready'), 'next http_409'],
    [415, said('Not supported'), 'caller http_415'],
    [429, said('Too many requests.'), 'next http_429'],
  ],
  simulated: {
    whole: [
      ['machine', [], { max_segment_duration_seconds: 30, priority: 'accuracy' }, 3],
      ['machine', ['late-connected=4000'], {}, 3],
    ],
    ends: [
      ['machine', ['no-worker'], 1, 'next close_4013'],
      ['machine', ['shutting-down'], 3, 'retry close_4010'],
      ['machine', ['out-of-credit=2'], 3, 'account close_4003'],
      ['machine', ['late-connected=7000'], 1, 'next ready_timeout'],
    ],
  },
});
