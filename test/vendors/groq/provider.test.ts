// Groq: what its service says and what that must become, for the suite of every provider.
import { formTo } from '../../suites/provider/requests.ts';
import { testProvider } from '../../suites/provider.suite.ts';

const MODELS = ['whisper-large-v3', 'whisper-large-v3-turbo'];
const refused = (code: string, message = 'their words') => ({
  error: { message, type: 'invalid_request_error', code },
});
const segment = { id: 0, start: 0, end: 2.4, text: ' Book a table.', no_speech_prob: 0.01 };
const answer = {
  task: 'transcribe',
  language: 'English',
  duration: 2.4,
  text: ' Book a table.',
  x_groq: { id: 'req_1' },
};

testProvider({
  provider: 'groq',
  options: {
    rows: {
      prompt: { takes: ['Voxgate'], refuses: [7], batch: MODELS },
      temperature: { takes: [0, 1], refuses: [1.1], batch: MODELS },
      timestamp_granularities: { takes: [['word']], refuses: ['word', ['line']], batch: MODELS },
    },
  },
  batch: {
    model: 'whisper-large-v3',
    opening: formTo('https://api.groq.com/openai/v1/audio/transcriptions', {
      model: 'whisper-large-v3',
      response_format: 'verbose_json',
      'timestamp_granularities[]': 'segment',
    }),
    written: (value, option) =>
      option === 'timestamp_granularities' ? ['segment', ...(value as string[])] : String(value),
    requests: [
      [
        { language: 'en-US', params: { prompt: 'p', temperature: 0.2 } },
        { language: 'en', prompt: 'p', temperature: '0.2' },
      ],
      [{ wordTimestamps: true, language: 'auto' }, { timestamp_granularities: ['segment', 'word'] }],
    ],
    answers: {
      'segments, without the space before them': [
        {},
        [{ ...answer, segments: [segment] }],
        { language: 'en', seconds: 2.4, utterances: ['"Book a table." 0-2.4 en'] },
      ],
      'the text alone': [{}, [{ text: ' Yes.', x_groq: {} }], { utterances: ['"Yes." 0-12.5'] }],
      'a file of a format that it does not read': [
        { file: { name: 'a.aiff', contentType: 'audio/aiff', bytes: 44, seconds: 1 } },
        [],
        'caller unsupported_format',
      ],
      'a file that is too large': [
        { file: { name: 'a.wav', contentType: 'audio/wav', bytes: 25_000_000, seconds: 1 } },
        [],
        'caller file_too_large',
      ],
    },
  },
  refusals: [
    [400, refused('bad_request'), 'caller bad_request', { message: /their words/ }],
    [400, refused('x', 'could not process file'), 'caller audio_unusable'],
    [401, refused('invalid_api_key'), 'account invalid_api_key', { message: /^(?!.*their words)/ }],
    [413, refused('request_too_large'), 'caller file_too_large'],
    [424, refused('failed_dependency'), 'next failed_dependency'],
    [498, refused('capacity_exceeded'), 'next capacity_exceeded'],
    [429, refused('rate_limit_exceeded'), 'next rate_limit_exceeded'],
  ],
});
