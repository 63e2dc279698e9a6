// vLLM: what its server says and what that must become, for the suite of every provider.
import { formTo, socketAt } from '../../suites/provider/requests.ts';
import { audio, closed, FINALIZE, FINISH, type Story } from '../../suites/provider/story.ts';
import { testProvider } from '../../suites/provider.suite.ts';

const FILES = [
  ...['voxtral-mini-3b-2507', 'voxtral-small-24b-2507', 'qwen3-asr-0.6b', 'qwen3-asr-1.7b'],
  ...['whisper-large-v3', 'whisper-large-v3-turbo', 'whisper-small'],
  ...['cohere-transcribe-03-2026', 'granite-4.0-1b-speech'],
];
const LIVE = 'voxtral-mini-4b-realtime-2602';
const VOXTRAL = 'mistralai/Voxtral-Mini-4B-Realtime-2602';
const file = (takes: readonly unknown[], refuses: readonly unknown[]) => ({ takes, refuses, batch: FILES });
const refused = (message: string, code: unknown = 400) => ({
  error: { message, type: 'BadRequestError', param: null, code },
});

const CREATED = { type: 'session.created', id: 'sess-1', created: 0 };
const delta = (text: string) => ({ type: 'transcription.delta', delta: text });
const done = (text: string) => ({ type: 'transcription.done', text, usage: {} });
const error = (code: string) => ({ type: 'error', error: 'their words', code });
const BEGIN = 'send input_audio_buffer.commit {"final":false}';
const END = 'send input_audio_buffer.commit {"final":true}';
const UPDATE = `send session.update ${JSON.stringify({ model: VOXTRAL })}`;
const appended = (samples: number) =>
  `send input_audio_buffer.append ${JSON.stringify({ audio: Buffer.alloc(2 * samples).toString('base64') })}`;

const TURNS: Readonly<Record<string, Story>> = {
  'names its model and begins when it is created': [[CREATED, UPDATE, BEGIN, 'ready'], [CREATED]],
  'joins deltas, and takes the whole for the final': [
    [delta(' Two'), delta(''), 'partial 0 "Two" 0-10', 'partial 0 "Two" 0-10'],
    [FINALIZE, END],
    [FINALIZE],
    [delta(' teas'), 'partial 0 "Two teas" 0-10'],
    [done('Two teas.'), 'ended 0 "Two teas." 0-10', BEGIN, 'confirmed'],
    [audio(1), delta('Yes'), 'partial 1 "Yes" 10-11'],
    [FINISH, END],
    [done('Yes.'), 'ended 1 "Yes." 10-11', 'finished'],
    [closed(1000), 'finished'],
  ],
  'keeps audio back while an end is awaited, and every further end in it': [
    [FINALIZE, END],
    [audio(0.01), FINALIZE, audio(0.02), FINISH],
    [done('One.'), 'ended 0 "One." 0-10', BEGIN, appended(160), END, 'confirmed'],
    [done(''), 'ended 1 "" 10-10.01', BEGIN, appended(320), END, 'confirmed'],
    [done('Three.'), 'ended 2 "Three." 10.01-10.03', 'finished'],
  ],
  'ignores a repeated end, and fails with one that was not requested': [
    [FINALIZE, END],
    [done('One.'), 'ended 0 "One." 0-10', BEGIN, 'confirmed'],
    [done('One.')],
    [audio(1), delta('Tw'), 'partial 1 "Tw" 10-11'],
    [done('Tw'), 'failed retry final_missing'],
  ],
  'fails when it is closed before an end that is awaited': [[FINISH, END, closed(1000), 'failed retry final_missing']],
  'gets the reason from its code': [
    [error('model_not_found'), 'failed next model_not_found'],
    ...['model_not_validated', 'invalid_event', 'unknown_event', 'invalid_json', 'invalid_audio'].map((code) => [
      error(code),
      `failed caller ${code}`,
    ]),
    [error('processing_error'), 'failed retry processing_error'],
    [{ type: 'error', error: { message: 'their words', code: 'x' } }, 'failed retry x'],
  ],
};

testProvider({
  provider: 'vllm',
  options: {
    rows: {
      prompt: file(['Voxgate'], [7]),
      hotwords: file(['Voxgate, NATS'], [['x']]),
      temperature: file([0, 1], [1.1]),
      seed: file([0, 7], [-1]),
      repetition_penalty: file([1.2], [3]),
      max_completion_tokens: file([1, 100], [0]),
    },
  },
  live: {
    model: LIVE,
    sampleRate: 16_000,
    openings: [
      [
        { access: { baseUrl: 'http://own.test:8000/v1', credential: undefined } },
        socketAt('ws://own.test:8000/v1/realtime', {}),
      ],
      [
        { access: { baseUrl: 'https://own.test', credential: 'k' } },
        socketAt('wss://own.test/v1/realtime', { authorization: 'Bearer k' }),
      ],
    ],
    begin: [CREATED],
    asked: (_, [update]) => update as Readonly<Record<string, unknown>>,
    requests: [
      [{ language: 'de', diarization: true }, {}],
      [{ access: { baseUrl: 'http://own.test', credential: undefined, model: 'mine' } }, { model: 'mine' }],
    ],
    audio: (frame) => `{"type":"input_audio_buffer.append","audio":"${Buffer.from(frame).toString('base64')}"}`,
    timings: [[{}, { unconfirmedMax: 50, endpointing: { silenceMs: 500, longestMs: 30_000 } }]],
    stories: [{ of: 'A session', stories: TURNS }],
  },
  batch: {
    model: 'whisper-large-v3',
    opening: formTo('http://127.0.0.1:8000/v1/audio/transcriptions', {
      model: 'openai/whisper-large-v3',
      response_format: 'verbose_json',
      'timestamp_granularities[]': 'segment',
    }),
    requests: [
      [
        { language: 'en-US', params: { prompt: 'p', temperature: 0.2 } },
        { language: 'en', prompt: 'p', temperature: '0.2' },
      ],
      [{ model: 'qwen3-asr-1.7b', wordTimestamps: true }, {}],
    ],
    answers: {
      'segments, and no words': [
        {},
        [
          {
            language: 'en',
            duration: '2.4',
            text: ' Two teas.',
            words: null,
            segments: [{ start: 0, end: 2.4, text: ' Two teas.' }],
          },
        ],
        { language: 'en', utterances: ['"Two teas." 0-2.4 en'] },
      ],
      'the text alone, and its seconds': [
        { model: 'qwen3-asr-1.7b' },
        [{ text: 'Yes.', usage: { type: 'duration', seconds: 3 } }],
        { seconds: 3, utterances: ['"Yes." 0-3'] },
      ],
      'nothing of a file that is too large': [
        { file: { name: 'a.wav', contentType: 'audio/wav', bytes: 26_214_400, seconds: 1 } },
        [],
        'caller file_too_large',
      ],
    },
  },
  refusals: [
    [400, refused('Invalid or unsupported audio file.'), 'caller http_400', { file: 'caller audio_unusable' }],
    [400, refused('Maximum file size exceeded'), 'caller http_400', { file: 'caller file_too_large' }],
    [401, { error: 'Unauthorized' }, 'account http_401'],
    [404, refused('The model `x` does not exist.', 404), 'next http_404', { message: /does not exist/ }],
    [503, refused('busy', 503), 'retry http_503'],
  ],
  simulated: {
    ends: [
      [LIVE, ['ends-early=1'], 5, 'retry final_missing'],
      [LIVE, ['error-after=0ms'], 1, 'retry processing_error'],
    ],
  },
});
