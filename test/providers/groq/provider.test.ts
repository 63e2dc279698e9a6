// Groq: what its service says and what that must become, for the suite of every provider.
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
    opening: {
      ...{ method: 'POST', url: 'https://api.groq.com/openai/v1/audio/transcriptions' },
      headers: { authorization: 'Bearer key-of-the-suite' },
      body: {
        ...{ kind: 'multipart', fileField: 'file' },
        fields: [
          ['model', 'whisper-large-v3'],
          ['response_format', 'verbose_json'],
          ['timestamp_granularities[]', 'segment'],
        ],
      },
    },
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
        { language: 'en', seconds: 2.4, utterances: [{ text: 'Book a table.', start: 0, end: 2.4 }] },
      ],
      'the text alone': [{}, [{ text: ' Yes.', x_groq: {} }], { utterances: [{ text: 'Yes.', start: 0, end: 12.5 }] }],
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
    { status: 400, body: refused('bad_request'), is: 'caller bad_request', message: /their words/ },
    { status: 400, body: refused('x', 'could not process file'), is: 'caller audio_unusable' },
    { status: 401, body: refused('invalid_api_key'), is: 'account invalid_api_key', message: /^(?!.*their words)/ },
    { status: 413, body: refused('request_too_large'), is: 'caller file_too_large' },
    { status: 424, body: refused('failed_dependency'), is: 'next failed_dependency' },
    { status: 498, body: refused('capacity_exceeded'), is: 'next capacity_exceeded' },
    { status: 429, body: refused('rate_limit_exceeded'), is: 'next rate_limit_exceeded' },
  ],
});
