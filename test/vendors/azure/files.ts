// What Azure's fast transcription is asked, and what its answers come to.
import type { BatchFixtures } from '../../suites/provider/fixtures.ts';
import { formTo } from '../../suites/provider/requests.ts';

const PROFANITY: Readonly<Record<string, string>> = { masked: 'Masked', removed: 'Removed', raw: 'None' };
const place = (offsetMilliseconds: number, durationMilliseconds: number) => ({
  offsetMilliseconds,
  durationMilliseconds,
});

export const files: BatchFixtures = {
  model: 'speech',
  opening: formTo(
    'https://eastus.api.cognitive.microsoft.com/speechtotext/transcriptions:transcribe?api-version=2025-10-15',
    { definition: '{"locales":[]}' },
    { headers: { 'Ocp-Apim-Subscription-Key': 'key-of-the-suite' }, file: 'audio' },
  ),
  asked: ({ body }) => {
    const definition = JSON.parse(String(body.kind === 'multipart' && body.fields[0]?.[1]));
    const { phraseList, profanityFilterMode, diarization } = definition;
    return {
      ...definition,
      phrases: phraseList?.phrases,
      profanity: profanityFilterMode,
      max_speakers: diarization?.maxSpeakers,
    };
  },
  written: (value, option) => (option === 'profanity' ? PROFANITY[String(value)] : value),
  requests: [
    [{ language: 'auto' }, {}],
    [{ language: 'fr' }, { locales: ['fr-FR'] }],
    [{ language: 'fr', params: { locales: ['fr-CA', 'en-CA'] } }, { locales: ['fr-CA', 'en-CA'] }],
    [{ diarization: true }, { diarization: { enabled: true } }],
    [
      { params: { max_speakers: 3, true_text: true } },
      { diarization: { enabled: true, maxSpeakers: 3 }, max_speakers: 3 },
    ],
  ],
  answers: {
    'a phrase each, in the order of time, with speakers and words': [
      {},
      [
        {
          durationMilliseconds: 2_400,
          combinedPhrases: [{ text: 'Two teas, please. Yes.' }],
          phrases: [
            { ...place(2_000, 300), text: 'Yes.', locale: 'en-US', confidence: 0.9, speaker: 2 },
            {
              ...{ ...place(120, 1_800), text: 'Two teas, please.', locale: 'en-US', confidence: 0.93, speaker: 1 },
              words: [{ text: 'Two', ...place(120, 200) }],
            },
          ],
        },
      ],
      {
        ...{ language: 'en-US', seconds: 2.4 },
        utterances: [
          '"Two teas, please." 0.12-1.92 speaker 1 en-US @0.93 (Two 0.12-0.32)',
          '"Yes." 2-2.3 speaker 0 en-US',
        ],
      },
    ],
    'one text, where nothing else is sent': [
      {},
      [{ durationMilliseconds: 2_400, combinedPhrases: [{ text: 'Two teas.' }] }],
      { utterances: ['"Two teas." 0-2.4'] },
    ],
    'empty, of silence': [
      {},
      [{ durationMilliseconds: 10, combinedPhrases: [], phrases: [] }],
      { utterances: [], seconds: 0.01 },
    ],
    'not, without phrases': [{}, [{ durationMilliseconds: 10 }], 'next bad_answer'],
  },
};
