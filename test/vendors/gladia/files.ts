// What Gladia answers while a file is worked on, and what it comes to.
import type { BatchFixtures } from '../../suites/provider/fixtures.ts';
import { formTo, getOf, jsonTo } from '../../suites/provider/requests.ts';

const headers = { 'x-gladia-key': 'key-of-the-suite' };
const JOBS = 'https://api.gladia.io/v2/pre-recorded';
const UPLOADED = { audio_url: 'https://api.gladia.io/file/1', audio_metadata: { id: '1' } };
const CREATED = { id: 'j-1', result_url: `${JOBS}/j-1` };
const shown = (status: string, more: object = {}) => ({ id: 'j-1', status, ...more });
const done = (transcription: unknown, seconds?: number) => [
  CREATED,
  shown('done', { result: { metadata: { audio_duration: seconds }, transcription } }),
];
const utterance = (text: string, start: number, end: number, speaker?: number) => ({
  ...{ text, start, end, confidence: 0.8, channel: 0, language: 'en', speaker },
  words: [{ word: text, start, end, confidence: 0.5 }],
});

export const files: BatchFixtures = {
  model: 'solaria-1',
  opening: formTo('https://api.gladia.io/v2/upload', {}, { headers, file: 'audio' }),
  before: [UPLOADED],
  written: (value) => value,
  job: {
    requests: [
      jsonTo(JOBS, { audio_url: UPLOADED.audio_url, model: 'solaria-1' }, headers),
      getOf(`${JOBS}/j-1`, headers),
    ],
    created: CREATED,
    waiting: shown('processing'),
    abandoned: [{ method: 'DELETE', url: `${JOBS}/j-1` }],
  },
  requests: [
    [{ language: 'pt-BR' }, { language_config: { languages: ['pt'] } }],
    [{ language: 'auto' }, {}],
    [{ language: 'fr', params: { languages: ['en', 'fr'] } }, { language_config: { languages: ['en', 'fr'] } }],
    [{ diarization: true }, { diarization: true }],
    [{ params: { min_speakers: 2 } }, { diarization: true, diarization_config: { min_speakers: 2 } }],
    [
      { params: { pii_redaction: ['NAME'] } },
      { pii_redaction: true, pii_redaction_config: { entity_types: ['NAME'] } },
    ],
    [
      { params: { custom_vocabulary: ['a'] } },
      { custom_vocabulary: true, custom_vocabulary_config: { vocabulary: ['a'] } },
    ],
    [{ params: { endpointing: 1, unheard_of: 1 } }, {}],
  ],
  answers: {
    'as utterances, with their speakers': [
      {},
      done(
        {
          languages: ['en'],
          utterances: [utterance(' Two.', 0.1, 0.5, 3), utterance('Yes.', 1, 1.5, 1), utterance('', 2, 3)],
        },
        3,
      ),
      {
        ...{ language: 'en', seconds: 3 },
        utterances: ['"Two." 0.1-0.5 speaker 0 en @0.8 (Two. 0.1-0.5 @0.5)', '"Yes." 1-1.5 speaker 1 en'],
      },
    ],
    'empty, of silence': [
      {},
      done({ utterances: [] }),
      { utterances: [], language: undefined, seconds: undefined, warnings: [] },
    ],
    'not, without utterances': [{}, done({ utterances: 'none' }), 'next bad_answer'],
    'not, when its audio cannot be used': [{}, [CREATED, shown('error', { error_code: 422 })], 'caller audio_unusable'],
    'not, when Gladia has failed': [{}, [CREATED, shown('error', { error_code: 500 })], 'next 500'],
    'not, for no reason': [{}, [CREATED, shown('error')], 'next job_failed'],
  },
};
