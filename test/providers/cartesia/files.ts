// What Cartesia answers for a file, and what it comes to.
import type { BatchFixtures } from '../../suites/provider/fixtures.ts';
import { formTo } from '../../suites/provider/requests.ts';

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

export const files: BatchFixtures = {
  model: 'ink-whisper',
  opening: formTo(
    'https://api.cartesia.ai/stt',
    { model: 'ink-whisper', 'timestamp_granularities[]': 'word' },
    { headers: { authorization: 'Bearer key-of-the-suite', 'cartesia-version': '2026-03-01' } },
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
    'no words, which is no failure': [{}, [answer('')], { utterances: [] }],
    'an answer without a text': [{}, [{ type: 'transcript' }], 'next bad_answer'],
  },
};
