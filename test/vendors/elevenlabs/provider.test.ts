// ElevenLabs: what its service says and what that must become, for the suite of every provider.
import { socketAt } from '../../suites/provider/requests.ts';
import { testProvider } from '../../suites/provider.suite.ts';
import { files } from './files.ts';
import { stories } from './stories.ts';

const headers = { 'xi-api-key': 'key-of-the-suite' };
const LIVE = ['scribe_v2_realtime'];
const BATCH = ['scribe_v2'];
const both = { live: LIVE, batch: BATCH };
const FLAG = { takes: [true, false], refuses: ['yes'] };
const terms = (count: number) => Array.from({ length: count }, (_, index) => `term ${index}`);
const refused = (status: string) => ({ detail: { status, message: 'their words' } });
const sent = { message_type: 'input_audio_chunk', audio_base_64: '', commit: false, sample_rate: 16_000 };
const ended = (message_type: string) => ({ code: 1008, last: { message_type } });

testProvider({
  provider: 'elevenlabs',
  options: {
    rows: {
      keyterms: { takes: [['Voxgate', 'two words'], terms(50)], refuses: ['x', [''], terms(1_001)], ...both },
      no_verbatim: { ...FLAG, ...both },
      enable_logging: { ...FLAG, ...both },
      secondary_languages: { takes: [['de', 'fr']], refuses: ['de'], live: LIVE },
      include_language_detection: { ...FLAG, live: LIVE },
      filter_background_audio: { ...FLAG, live: LIVE },
      num_speakers: { takes: [1, 32], refuses: [0, 33], batch: BATCH },
      diarization_threshold: { takes: [0.22], refuses: [1.1], batch: BATCH },
      timestamps_granularity: { takes: ['none', 'word'], refuses: ['segment'], batch: BATCH },
      tag_audio_events: { ...FLAG, batch: BATCH },
      entity_redaction: { takes: [['pii', 'pci']], refuses: ['pii', []], batch: BATCH },
      entity_redaction_mode: { takes: ['redacted'], refuses: ['gone'], batch: BATCH },
      temperature: { takes: [0, 2], refuses: [2.1], batch: BATCH },
      seed: { takes: [7], refuses: [-1], batch: BATCH },
      use_multi_channel: { ...FLAG, batch: BATCH },
      // Known to the provider, of no use here: asked for it would cost money.
      entity_detection: { takes: [['all']], refuses: [[]] },
    },
    checks: [
      ['scribe_v2', { keyterms: terms(1_000) }, true],
      ['scribe_v2_realtime', { keyterms: terms(51) }, false],
      ['scribe_v2_realtime', { keyterms: ['x'.repeat(21)] }, false],
    ],
  },
  live: {
    model: 'scribe_v2_realtime',
    sampleRate: 16_000,
    openings: [
      [
        {},
        socketAt(
          'wss://api.elevenlabs.io/v1/speech-to-text/realtime?model_id=scribe_v2_realtime&audio_format=pcm_16000&commit_strategy=manual&include_timestamps=true',
          headers,
        ),
      ],
      [
        // A key of another region, and what files alone know.
        {
          ...{ sampleRate: 8_000, diarization: true, params: { seed: 7 } },
          access: { baseUrl: undefined, credential: undefined, fields: { api_key: 'key-of-the-suite', region: 'eu' } },
        },
        socketAt(
          'wss://api.eu.residency.elevenlabs.io/v1/speech-to-text/realtime?model_id=scribe_v2_realtime&audio_format=pcm_8000&commit_strategy=manual&include_timestamps=true',
          headers,
        ),
      ],
    ],
    audio: (frame) =>
      `{"message_type":"input_audio_chunk","audio_base_64":"${Buffer.from(frame).toString('base64')}","commit":false,"sample_rate":16000}`,
    requests: [
      [{ language: 'auto' }, { include_language_detection: 'true' }],
      [{ language: 'pt-BR' }, { language_code: 'pt' }],
      [{ params: { filter_background_audio: true } }, { filter_background_audio: 'true', include_timestamps: 'false' }],
    ],
    timings: [[{}, { keepAliveMs: 8_000, endpointing: { silenceMs: 500, longestMs: 25_000 } }]],
    stories,
    closes: [[1008, 'auth_error', 'retry close_1008']],
  },
  batch: files,
  refusals: [
    [400, refused('bad_request'), 'caller http_400', { message: /their words/ }],
    [400, refused('invalid_audio'), 'caller http_400', { file: 'caller audio_unusable' }],
    [401, refused('invalid_api_key'), 'account http_401', { message: /^(?!.*their words)/ }],
    [403, { detail: 'their words' }, 'account http_403'],
    [422, { detail: [{ loc: ['body'], msg: 'their words' }] }, 'caller http_422', { message: /their words/ }],
    [429, refused('too_many_concurrent_requests'), 'next http_429'],
  ],
  simulated: {
    whole: [
      ['scribe_v2_realtime', ['words-first']],
      ['scribe_v2_realtime', ['words-late=200']],
      ['scribe_v2_realtime', ['words-late=600']],
      ['scribe_v2_realtime', ['no-words']],
      ['scribe_v2_realtime', [], { filter_background_audio: true }],
    ],
    ends: [
      ['scribe_v2_realtime', ['session-limit=1'], 3, 'retry session_time_limit_exceeded'],
      ['scribe_v2_realtime', ['error-after=0ms'], 1, 'retry transcriber_error'],
    ],
    rules: {
      path: '/v1/speech-to-text/realtime?model_id=scribe_v2_realtime&audio_format=pcm_16000',
      headers: { 'xi-api-key': 'good' },
      rows: {
        'a bad key': [{ headers: { 'xi-api-key': 'bad' } }, [], ended('auth_error')],
        'a key without credit': [{ headers: { 'xi-api-key': 'broke' } }, [], ended('quota_exceeded')],
        'a key of which there are too many': [{ headers: { 'xi-api-key': 'limited' } }, [], ended('rate_limited')],
        'another model': [{ query: { model_id: 'none' } }, [], ended('invalid_request')],
        'what cannot be had together': [
          { query: { include_timestamps: 'true', filter_background_audio: 'true' } },
          [],
          ended('invalid_request'),
        ],
        bytes: [{}, [new Uint8Array(2)], ended('input_error')],
        'a commit that is not a chunk': [{}, [{ message_type: 'commit' }], ended('input_error')],
        'another rate': [{}, [{ ...sent, sample_rate: 8_000 }], ended('input_error')],
        'a text before that is late': [{}, [sent, { ...sent, previous_text: 'x' }], ended('input_error')],
        nothing: [{}, [], { code: 1000, last: { message_type: 'session_started' } }],
        'audio that is never committed': [
          {},
          Array.from({ length: 90 }, () => ({ ...sent, audio_base_64: Buffer.alloc(32_000).toString('base64') })),
          { code: 1000, last: { message_type: 'committed_transcript' } },
        ],
      },
    },
  },
});
