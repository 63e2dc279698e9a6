// What OpenAI answers for a file, in the format of each model, and what it comes to.
import type { BatchFixtures } from '../../suites/provider/fixtures.ts';
import { formTo } from '../../suites/provider/requests.ts';

const DIARIZE = { model: 'gpt-4o-transcribe-diarize' };
const word = (text: string, start: number, end: number) => ({ word: text, start, end });
const ONE = [word('One', 0, 0.5), word('two', 0.5, 2)];
const THREE = [word('Three', 2, 4), word('late', 9, 10)];

export const files: BatchFixtures = {
  model: 'whisper-1',
  opening: formTo('https://api.openai.com/v1/audio/transcriptions', {
    model: 'whisper-1',
    response_format: 'verbose_json',
    'timestamp_granularities[]': 'segment',
  }),
  written: (value, option) => {
    if (option === 'timestamp_granularities') return ['segment', ...(value as string[])];
    if (Array.isArray(value)) return value;
    return typeof value === 'object' ? JSON.stringify(value) : String(value);
  },
  requests: [
    [
      { wordTimestamps: true, language: 'en-US', params: { prompt: 'p', temperature: 0.2 } },
      { language: 'en', prompt: 'p', temperature: '0.2', timestamp_granularities: ['segment', 'word'] },
    ],
    [{ model: 'gpt-transcribe', language: 'auto' }, {}],
    [{ model: 'gpt-transcribe', language: 'de', params: { languages: ['de', 'en'] } }, { languages: ['de', 'en'] }],
    [{ model: 'gpt-4o-transcribe', wordTimestamps: true, params: { keywords: ['k'], odd: 1 } }, {}],
    [{ ...DIARIZE, diarization: true, params: { prompt: 'p' } }, {}],
  ],
  answers: {
    'segments and words': [
      {},
      [
        {
          ...{ task: 'transcribe', language: 'english', duration: 4.5, text: 'One two. Three.' },
          segments: [
            { id: 0, start: 0, end: 2, text: ' One two.' },
            { id: 1, start: 2, end: 4.5, text: ' Three.' },
          ],
          words: [...ONE, ...THREE, { word: 7 }],
        },
      ],
      {
        ...{ seconds: 4.5, language: 'en', warnings: [] },
        utterances: ['"One two." 0-2 en (One 0-0.5, two 0.5-2)', '"Three." 2-4.5 en (Three 2-4, late 9-10)'],
      },
    ],
    'text alone, which lies somewhere in the file': [
      { model: 'gpt-4o-transcribe' },
      [{ text: ' Hello there. ', usage: { type: 'tokens', input_tokens: 3 } }],
      { utterances: ['"Hello there." 0-12.5'], seconds: undefined, language: undefined },
    ],
    'text with the seconds that are billed, and languages': [
      { model: 'gpt-transcribe' },
      [{ text: 'Hallo.', languages: [{ code: 'de' }, { code: 'en' }], usage: { type: 'duration', seconds: 13 } }],
      { utterances: ['"Hallo." 0-13 de'], seconds: 13, language: 'de' },
    ],
    'no words': [{}, [{ text: '' }], { utterances: [], seconds: undefined }],
    'what the tokens were worth': [
      {},
      [
        {
          text: 'Yes.',
          logprobs: [{ token: 'Y', logprob: Math.log(0.5) }, { logprob: Math.log(0.5) }, { logprob: 'x' }],
        },
      ],
      { utterances: [{ text: 'Yes.', start: 0, end: 12.5, confidence: 0.5 }] },
    ],
    'speakers, counted as they first appear': [
      DIARIZE,
      [
        {
          ...{ duration: 6, text: 'a b c' },
          segments: [
            { start: 0, end: 1, text: 'a', speaker: 'B' },
            { start: 1, end: 2, text: 'b', speaker: 'A' },
            { start: 2, end: 3, text: ' ', speaker: 'C' },
            { start: 3, end: 4, text: 'c', speaker: 'B' },
          ],
        },
      ],
      {
        seconds: 6,
        utterances: ['"a" 0-1 speaker 0', '"b" 1-2 speaker 1', '"c" 3-4 speaker 0'],
      },
    ],
    'text whose segments cannot be read': [
      {},
      [{ text: 'a', language: 'Klingon', segments: [{ text: 'a', start: null, end: 1 }, null, 'x'], words: 'none' }],
      { utterances: ['"a" 0-12.5'], language: undefined },
    ],
    'text of which the segments say less': [
      {},
      [{ text: 'One two.', segments: [{ start: 0, end: 1, text: 'One' }], words: ONE }],
      { utterances: ['"One two." 0-2'] },
    ],
    'text that is signs alone': [{}, [{ text: '♪' }], { utterances: ['"♪" 0-12.5'] }],
    'words and segments that are said to begin before the file': [
      {},
      [{ text: 'One', segments: [{ start: -0.02, end: 1, text: 'One' }], words: [word('One', -0.02, 0.5)] }],
      { utterances: ['"One" 0-1 (One 0-0.5)'] },
    ],
    'a text that is none': [{}, [{ text: 3 }], 'next bad_answer'],
    ...Object.fromEntries(
      ['audio.pcm', 'audio', 'wav', 'audio.aac'].map((name) => [
        `nothing of ${name}, which OpenAI does not read`,
        [{ file: { name, contentType: 'x', bytes: 1, seconds: 1 } }, [], 'caller unsupported_format'] as const,
      ]),
    ),
    // OpenAI counts the whole form.
    'nothing of a form that is too large with all its fields': [
      {
        ...DIARIZE,
        params: { known_speaker_references: [`data:audio/wav;base64,${'A'.repeat(65_536)}`] },
        file: { name: 'audio.wav', contentType: 'audio/wav', bytes: 26_148_864, seconds: 1_000 },
      },
      [],
      'caller file_too_large',
    ],
  },
};
