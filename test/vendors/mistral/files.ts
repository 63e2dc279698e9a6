// What Mistral answers for a file, and what it comes to.
import type { BatchFixtures } from '../../suites/provider/fixtures.ts';
import { formTo } from '../../suites/provider/requests.ts';

const segment = (text: string, start: number | null, end: number | null, speaker_id?: string) => ({
  ...{ type: 'transcription_segment', text, start, end, score: null },
  ...(speaker_id === undefined ? {} : { speaker_id }),
});
const answer = (text: string, ...segments: object[]) => ({
  ...{ model: 'voxtral-mini-2602', text, language: null, segments },
  usage: { prompt_audio_seconds: 3, prompt_tokens: 40, completion_tokens: 8, total_tokens: 48 },
});

export const files: BatchFixtures = {
  model: 'voxtral-mini-2602',
  opening: formTo('https://api.mistral.ai/v1/audio/transcriptions', {
    model: 'voxtral-mini-2602',
    timestamp_granularities: 'segment',
  }),
  requests: [
    [{ language: 'auto', params: { prompt: 'p' } }, {}],
    // A language is refused beside times.
    [{ language: 'fr-CA' }, { language: 'fr', timestamp_granularities: undefined }],
    [{ language: 'fr', diarization: true, wordTimestamps: true }, { diarize: 'true' }],
    [
      { wordTimestamps: true, params: { temperature: 0.5 } },
      { temperature: '0.5', timestamp_granularities: 'word' },
    ],
  ],
  answers: {
    'segments, whose seconds count and not those of the bill': [
      {},
      [answer(' Book a table.', segment(' Book a table.', 0.1, 1.2))],
      { utterances: ['"Book a table." 0.1-1.2'], seconds: undefined, warnings: [] },
    ],
    'speakers, and a warning of a language that could not be said': [
      { diarization: true, language: 'en' },
      [answer('Hi. Ho.', segment('Hi.', 0, 1, 'speaker_2'), segment('Ho.', 1, 2, 'speaker_1'))],
      {
        utterances: ['"Hi." 0-1 speaker 0', '"Ho." 1-2 speaker 1'],
        warnings: [{ code: 'language_unused', param: 'language' }],
      },
    ],
    'words, which are segments of one word each': [
      { wordTimestamps: true },
      [answer('Yes. Go', segment(' Yes.', 0.5, 1), segment(' Go', 1.5, 2))],
      {
        utterances: ['"Yes." 0.5-1 (Yes. 0.5-1)', '"Go" 1.5-2'],
      },
    ],
    'segments of which one has no place: all of the text is kept': [
      {},
      [answer('Hi. Ho.', segment('Hi.', 0, 1), segment('Ho.', null, null))],
      { utterances: ['"Hi. Ho." 0-12.5'] },
    ],
  },
};
