// Cartesia: what its service says and what that must become, for the suite of every provider.
import { formTo, socketAt } from '../../suites/provider/requests.ts';
import { testProvider } from '../../suites/provider.suite.ts';
import { stories } from './stories.ts';

const headers = { authorization: 'Bearer key-of-the-suite', 'cartesia-version': '2026-03-01' };
const URL = 'wss://api.cartesia.ai/stt/websocket?model=ink-2&encoding=pcm_s16le';
const refused = (error_code: string | null, message = 'their words') => ({ error_code, title: 'Refused', message });
const terms = (count: number) => Array.from({ length: count }, (_, index) => `term ${index}`);
const answer = (text: string, more: object = {}) => ({
  type: 'transcript',
  text,
  language: 'en',
  duration: 5,
  ...more,
});
const words = [
  { word: 'Yes.', start: 0.5, end: 1 },
  { word: 'Go', start: 1.5, end: 2 },
  { word: 'on', start: 2, end: 2.5 },
];

testProvider({
  provider: 'cartesia',
  options: {
    rows: {
      keyterm: { takes: [['Voxgate', 'two words'], terms(100)], refuses: ['x', [''], terms(101)], live: ['ink-2'] },
    },
  },
  live: {
    model: 'ink-2',
    sampleRate: 16_000,
    openings: [
      [{}, socketAt(`${URL}&sample_rate=16000`, headers)],
      [
        { sampleRate: 8_000, diarization: true, params: { unheard_of: 1 } },
        socketAt(`${URL}&sample_rate=8000`, headers),
      ],
    ],
    requests: [
      [{ language: 'en-GB' }, { language: 'en' }],
      [{ language: 'auto' }, {}],
    ],
    timings: [[{}, { keepAliveMs: 8_000, endpointing: { silenceMs: 500, longestMs: 25_000 } }]],
    stories,
  },
  batch: {
    model: 'ink-whisper',
    opening: formTo(
      'https://api.cartesia.ai/stt',
      { model: 'ink-whisper', 'timestamp_granularities[]': 'word' },
      { headers },
    ),
    requests: [
      [{ language: 'auto' }, {}],
      [{ language: 'pt-BR' }, { language: 'pt' }],
      [{ diarization: true }, {}],
    ],
    answers: {
      'words in sentences, with language and seconds': [
        {},
        [answer(' Yes. Go on', { words })],
        {
          ...{ language: 'en', seconds: 5, warnings: [] },
          utterances: ['"Yes." 0.5-1 (Yes. 0.5-1)', '"Go on" 1.5-2.5'],
        },
      ],
      'a text without words': [{}, [answer('Yes.')], { utterances: ['"Yes." 0-5'] }],
      'no words, without a failure': [{}, [answer('')], { utterances: [] }],
      'an answer without a text': [{}, [{ type: 'transcript' }], 'next bad_answer'],
    },
  },
  refusals: [
    [400, refused(null), 'caller http_400', { message: /Refused: their words/ }],
    [400, refused(null, 'could not be decoded'), 'caller http_400', { file: 'caller audio_unusable' }],
    [401, refused(null), 'account http_401', { message: /^(?!.*their words)/ }],
    [402, refused('quota_exceeded'), 'account quota_exceeded'],
    [403, refused('plan_upgrade_required'), 'account plan_upgrade_required'],
    [429, refused('concurrency_limited'), 'next concurrency_limited'],
  ],
  simulated: {
    whole: [
      ['ink-2', ['mark-first']],
      ['ink-2', ['no-mark']],
    ],
    ends: [['ink-2', ['error-after=0ms'], 1, 'retry 500']],
    rules: {
      path: '/stt/websocket?model=ink-2&encoding=pcm_s16le&sample_rate=16000',
      headers: { authorization: 'Bearer good' },
      rows: {
        'another model': [{ query: { model: 'none' } }, [], { status: 400 }],
        'another encoding': [{ query: { encoding: 'mp3' } }, [], { status: 400 }],
        'too many key terms': [{ query: { keyterm: 'x'.repeat(1_201) } }, [], { status: 400 }],
        'an unknown command': [{}, ['flush'], { code: 1011, last: { status_code: 400 } }],
        nothing: [{}, [], { code: 1000 }],
      },
    },
  },
});
