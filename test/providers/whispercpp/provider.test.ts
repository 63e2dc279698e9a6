// whisper.cpp: what its server says and what that must become, for the suite of every provider.
import { testProvider } from '../../suites/provider.suite.ts';

const MODELS = ['whisper'];
const file = (takes: readonly unknown[], refuses: readonly unknown[]) => ({ takes, refuses, batch: MODELS });
const part = (word: string, start: number, end: number) => ({ word, start, end, t_dtw: -1, probability: 0.9 });
const answer = {
  ...{ task: 'transcribe', language: 'english', duration: 2.4, text: ' Two teas\n please.\n' },
  segments: [
    {
      id: 0,
      text: ' Two teas',
      start: 0,
      end: 1,
      words: [part(' Two', 0.1, 0.4), part(' te', 0.4, 0.6), part('as', 0.6, 0.9)],
    },
    { id: 1, text: ' please.', start: 1, end: 2.3, words: [part(' please', 1, 2), part('.', 2, 2.1), { word: 3 }] },
  ],
};

testProvider({
  provider: 'whispercpp',
  options: {
    rows: {
      prompt: file(['Voxgate'], [7]),
      temperature: file([0, 1], [1.1]),
      beam_size: file([1, 8], [0, 9]),
      best_of: file([1, 8], [0, 9]),
      translate: file([true, false], ['yes']),
      suppress_nst: file([true, false], ['yes']),
      vad: file([true, false], ['yes']),
      vad_threshold: file([0, 1], [1.1]),
      max_len: file([0, 1_000], [-1]),
      no_speech_thold: file([0, 1], [1.1]),
    },
  },
  batch: {
    model: 'whisper',
    opening: {
      ...{ method: 'POST', url: 'http://127.0.0.1:8080/inference' },
      headers: { authorization: 'Bearer key-of-the-suite' },
      body: {
        ...{ kind: 'multipart', fileField: 'file' },
        fields: [
          ['response_format', 'verbose_json'],
          ['language', 'auto'],
          ['no_language_probabilities', 'true'],
          ['timestamp_granularities[]', 'segment'],
        ],
      },
    },
    requests: [
      [
        { language: 'de-AT', params: { prompt: 'p', temperature: 0.2 } },
        { language: 'de', prompt: 'p', temperature: '0.2' },
      ],
      [{ language: 'auto' }, {}],
    ],
    answers: {
      'segments on one line, and a language by its name': [
        {},
        [answer],
        {
          ...{ language: 'en', seconds: 2.4 },
          utterances: [
            { text: 'Two teas', start: 0, end: 1, language: 'en' },
            { text: 'please.', start: 1, end: 2.3, language: 'en' },
          ],
        },
      ],
      'words, made of their parts': [
        { wordTimestamps: true },
        [answer],
        {
          utterances: [
            { words: [{ word: 'Two' }, { word: 'teas', start: 0.4, end: 0.9, confidence: 0.9 }] },
            { words: [{ word: 'please.', start: 1, end: 2.1 }] },
          ],
        },
      ],
      'the text alone': [{}, [{ text: ' Yes.\n' }], { utterances: [{ text: 'Yes.', start: 0, end: 12.5 }] }],
    },
  },
  refusals: [
    { status: 400, body: 'Invalid request', is: 'caller audio_unusable' },
    { status: 500, body: '500 Internal Server Error\nstoi', is: 'caller invalid_number' },
    { status: 500, body: { error: 'FFmpeg conversion failed.' }, is: 'caller audio_unusable' },
    { status: 500, body: { error: 'failed to process audio' }, is: 'retry http_500', message: /failed to process/ },
    { status: 404, body: 'File Not Found (/inference)', is: 'next http_404' },
  ],
});
