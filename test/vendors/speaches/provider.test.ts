// speaches: what its server says and what that must become, for the suite of every provider.
import { modelOf } from '../../../src/api/slug.ts';
import { speaches } from '../../../src/vendors/speaches/index.ts';
import { formTo, socketAt } from '../../suites/provider/requests.ts';
import { audio, FINALIZE, FINISH, like, type Story } from '../../suites/provider/story.ts';
import { testProvider } from '../../suites/provider.suite.ts';
import { BEGUN, BOUNDS, commit, committed, completed, itemFailed } from '../openai/sessions.ts';

const MODELS = speaches.models.map(({ id }) => modelOf(id));
const at = { access: { baseUrl: 'http://own.test:8000', credential: undefined } };
const error = (type: string, message: string) => ({ type: 'error', error: { type, message, code: null, param: null } });
const UPDATE = {
  type: 'session.update',
  session: {
    turn_detection: {
      ...{ type: 'server_vad', threshold: 1, prefix_padding_ms: 0 },
      ...{ silence_duration_ms: 550, create_response: false },
    },
  },
};

const SESSIONS: Readonly<Record<string, Story>> = {
  'sets turn detection to hear nothing, and minds no word about its padding': [
    [BEGUN[0], like({ type: 'send', frame: UPDATE })],
    [error('invalid_request_error', 'Specifying `session.turn_detection.prefix_padding_ms` is not supported.')],
    [BEGUN[1], 'ready'],
  ],
  'orders finals by the items that were committed, whichever is there first': [
    [audio(1), FINALIZE, commit(1)],
    [committed('a'), audio(1), FINALIZE, commit(2)],
    [committed('b'), completed('b', 'two')],
    [completed('a', 'one'), 'ended a "one" 0-1', 'ended b "two" 1-2'],
    [audio(1), FINISH, commit(3)],
    [committed('c'), completed('c', ''), 'ended c "" 2-3', 'finished'],
  ],
  'fails with an error, and knows a model that is not there': [
    [error('server_error', 'oops'), 'failed retry server_error'],
    [error('invalid_request_error', 'no such member'), 'failed caller invalid_request_error'],
    [error('invalid_request_error', "Model 'x' is not installed locally."), 'failed next model_not_found'],
    [itemFailed('a'), 'failed retry item_failed'],
  ],
};

testProvider({
  provider: 'speaches',
  options: {
    rows: {
      prompt: { takes: ['Voxgate'], refuses: [7], batch: MODELS },
      hotwords: { takes: ['Voxgate, NATS'], refuses: [['x']], batch: MODELS },
      temperature: { takes: [0, 1], refuses: [1.1], batch: MODELS },
    },
  },
  live: {
    model: 'faster-whisper-large-v3',
    sampleRate: 24_000,
    openings: [
      [at, socketAt('ws://own.test:8000/v1/realtime?model=Systran%2Ffaster-whisper-large-v3&intent=transcription', {})],
      [
        { model: 'own', language: 'de-AT', access: { baseUrl: 'https://own.test/x/v1', credential: 'k' } },
        socketAt('wss://own.test/x/v1/realtime?model=own&intent=transcription&language=de', {
          authorization: 'Bearer k',
        }),
      ],
    ],
    begin: [BEGUN[0] as object, BEGUN[1] as object],
    requests: [[{ language: 'auto', diarization: true }, {}]],
    audio: (frame) => `{"type":"input_audio_buffer.append","audio":"${Buffer.from(frame).toString('base64')}"}`,
    timings: [[{}, { sessionMaxMs: 1_800_000, endpointing: { silenceMs: 500, longestMs: 30_000 } }]],
    stories: [{ of: 'A session', seconds: 0, stories: { ...SESSIONS, ...BOUNDS } }],
    closes: [[1008, '', 'account close_1008']],
  },
  batch: {
    model: 'faster-whisper-small',
    opening: formTo('http://127.0.0.1:8000/v1/audio/transcriptions', {
      model: 'Systran/faster-whisper-small',
      response_format: 'verbose_json',
      without_timestamps: 'false',
      'timestamp_granularities[]': 'segment',
    }),
    requests: [
      [
        { language: 'en-US', params: { prompt: 'p', temperature: 0.2 } },
        { language: 'en', prompt: 'p', temperature: '0.2' },
      ],
      [{ wordTimestamps: true }, { timestamp_granularities: ['segment', 'word'] }],
    ],
    answers: {
      'segments and no words': [
        {},
        [
          {
            language: 'en',
            duration: 2.4,
            text: 'Two teas.',
            words: null,
            segments: [{ start: 0, end: 2, text: 'Two teas.' }],
          },
        ],
        { language: 'en', seconds: 2.4, utterances: ['"Two teas." 0-2 en'] },
      ],
      'the text alone, with members that are null': [
        {},
        [{ text: 'Yes.', logprobs: null, usage: null }],
        { utterances: ['"Yes." 0-12.5'] },
      ],
    },
  },
  refusals: [
    [400, { detail: 'Uploaded file is empty' }, 'caller http_400', { file: 'caller audio_unusable' }],
    [403, { detail: 'their words' }, 'account http_403', { message: /^(?!.*their words)/ }],
    [404, { detail: "Model 'x' is not installed locally." }, 'next model_not_found'],
    [415, { detail: 'Failed to decode audio.' }, 'caller http_415', { file: 'caller audio_unusable' }],
    [
      422,
      { detail: [{ loc: ['body', 'hotwords'], msg: 'their words', type: 'x' }] },
      'caller http_422',
      { message: /`hotwords`.*their words/ },
    ],
  ],
  simulated: {
    whole: [['faster-whisper-small', ['out-of-order'], {}]],
    ends: [['faster-whisper-small', ['error-after=0ms'], 1, 'retry server_error']],
  },
});
