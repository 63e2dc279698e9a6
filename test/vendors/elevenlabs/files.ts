// What ElevenLabs answers for a file, and what it comes to.
import type { BatchFixtures } from '../../suites/provider/fixtures.ts';
import { formTo } from '../../suites/provider/requests.ts';

const word = (text: string, start: number, speaker_id?: string) => ({
  ...{ text, start, end: start + 0.5, type: 'word', logprob: 0 },
  ...(speaker_id === undefined ? {} : { speaker_id }),
});
const space = { text: ' ', start: 1, end: 1, type: 'spacing' };
const answer = (text: string, words: readonly object[], more: object = {}) => ({
  ...{ language_code: 'deu', language_probability: 1, text, words, audio_duration_secs: 12.5 },
  ...more,
});

export const files: BatchFixtures = {
  model: 'scribe_v2',
  opening: formTo(
    'https://api.elevenlabs.io/v1/speech-to-text',
    { model_id: 'scribe_v2', tag_audio_events: 'false' },
    { headers: { 'xi-api-key': 'key-of-the-suite' } },
  ),
  requests: [
    [{ language: 'auto' }, {}],
    [{ language: 'de-AT' }, { language_code: 'de' }],
    [{ diarization: true }, { diarize: 'true' }],
    [{ params: { temperature: 1, include_language_detection: true } }, { temperature: '1' }],
  ],
  answers: {
    'words in sentences and by speakers, with language and seconds': [
      {},
      [
        answer('Ja. Gut so', [
          word('Ja.', 0.5, 'speaker_1'),
          space,
          word('Gut', 1.5, 'speaker_0'),
          space,
          word('so', 2, 'speaker_0'),
        ]),
      ],
      {
        ...{ language: 'de', seconds: 12.5, warnings: [] },
        utterances: ['"Ja." 0.5-1 speaker 0 @1 (Ja. 0.5-1 @1)', '"Gut so" 1.5-2.5 speaker 1'],
      },
    ],
    'channels, in the order of time': [
      { params: { use_multi_channel: true } },
      [
        {
          ...{ transcripts: [answer('b', [word('b', 3)]), answer('a', [word('a', 1)])], audio_duration_secs: 5 },
        },
      ],
      {
        ...{ language: 'de', seconds: 5 },
        utterances: ['"a" 1-1.5 speaker 1', '"b" 3-3.5 speaker 0'],
      },
    ],
    'a text without words': [{}, [answer('Ja.', [])], { utterances: ['"Ja." 0-12.5'] }],
    'no words, without a failure': [{}, [answer('', [])], { utterances: [] }],
    'a language that is none': [{}, [answer('', [], { language_code: '?' })], { language: undefined }],
    'an answer without a text': [{}, [{ words: [] }], 'next bad_answer'],
  },
};
