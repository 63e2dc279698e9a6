// whisper.cpp: what its server says and what that must become, for the suite of every provider.
import { formTo } from '../../suites/provider/requests.ts';
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
    opening: formTo('http://127.0.0.1:8080/inference', {
      response_format: 'verbose_json',
      language: 'auto',
      no_language_probabilities: 'true',
      'timestamp_granularities[]': 'segment',
    }),
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
          utterances: ['"Two teas" 0-1 en', '"please." 1-2.3 en'],
        },
      ],
      'words, made of their parts': [
        { wordTimestamps: true },
        [answer],
        {
          utterances: [
            '"Two teas" 0-1 en (Two 0.1-0.4 @0.9, teas 0.4-0.9 @0.9)',
            '"please." 1-2.3 en (please. 1-2.1 @0.9)',
          ],
        },
      ],
      'the text alone': [{}, [{ text: ' Yes.\n' }], { utterances: ['"Yes." 0-12.5'] }],
    },
  },
  refusals: [
    [400, 'Invalid request', 'caller audio_unusable'],
    [500, '500 Internal Server Error\nstoi', 'caller invalid_number'],
    [500, { error: 'FFmpeg conversion failed.' }, 'caller audio_unusable'],
    [500, { error: 'failed to process audio' }, 'retry http_500', { message: /failed to process/ }],
    [404, 'File Not Found (/inference)', 'next http_404'],
  ],
});
