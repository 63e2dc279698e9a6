// What xAI answers for a file, and what it comes to.
import type { BatchFixtures } from '../../suites/provider/fixtures.ts';
import { formTo } from '../../suites/provider/requests.ts';

const MODEL = 'grok-voice-transcribe-2.0';
const answer = (text: string, more: object = {}) => ({ text, language: 'en', duration: 5, ...more });
const words = [
  { text: 'Yes.', start: 0.5, end: 1, confidence: 0.5, speaker: 1 },
  { text: 'Go', start: 1.5, end: 2, confidence: 0.5, speaker: 0 },
  { text: 'on', start: 2, end: 2.5, speaker: 0 },
];

export const files: BatchFixtures = {
  model: MODEL,
  opening: formTo('https://api.x.ai/v1/stt', { model: MODEL }),
  requests: [
    [{ language: 'pt-BR' }, { language: 'pt', format: 'true' }],
    [{ language: 'auto' }, {}],
    [{ language: 'cy' }, {}],
    [{ diarization: true }, { diarize: 'true' }],
    [{ access: { baseUrl: undefined, credential: 'x', model: 'theirs' } }, { model: 'theirs' }],
  ],
  answers: {
    'words in sentences, with speakers, language and seconds': [
      {},
      [answer('Yes. Go on', { words })],
      {
        ...{ language: 'en', seconds: 5, warnings: [] },
        utterances: ['"Yes." 0.5-1 speaker 0 @0.5 (Yes. 0.5-1 @0.5)', '"Go on" 1.5-2.5 speaker 1'],
      },
    ],
    'a text without words, or words without times': [
      {},
      [answer('Yes.', { words: [{ text: 'Yes.' }], language: '' })],
      { utterances: ['"Yes." 0-5'], language: undefined },
    ],
    'no words, without a failure': [{}, [answer('')], { utterances: [] }],
    'an answer without a text': [{}, [{ duration: 5 }], 'next bad_answer'],
  },
};
