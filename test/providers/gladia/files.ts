// What Gladia answers while a file is worked on, and what it comes to.
import type { BatchFixtures } from '../../suites/provider/fixtures.ts';
import { askedIn } from './options.ts';

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
  opening: {
    ...{ method: 'POST', url: 'https://api.gladia.io/v2/upload', headers },
    body: { kind: 'multipart', fields: [], fileField: 'audio' },
  },
  before: [UPLOADED],
  asked: ({ body }) => askedIn(body.kind === 'json' ? (body.json as Record<string, unknown>) : {}),
  written: (value) => value,
  job: {
    requests: [
      {
        ...{ method: 'POST', url: JOBS, headers },
        body: { kind: 'json', json: { audio_url: UPLOADED.audio_url, model: 'solaria-1' } },
      },
      { method: 'GET', url: `${JOBS}/j-1`, headers, body: { kind: 'none' } },
    ],
    created: CREATED,
    waiting: shown('processing'),
    pausesMs: [500, 750, 1_125, 1_688, 2_532, 3_000, 3_000],
    abandoned: [{ method: 'DELETE', url: `${JOBS}/j-1` }],
  },
  requests: [
    [{ language: 'pt-BR' }, { languages: ['pt'] }],
    [{ language: 'auto' }, {}],
    [{ language: 'fr', params: { languages: ['en', 'fr'] } }, { languages: ['en', 'fr'] }],
    [{ diarization: true }, { 'diarization on': true }],
    [{ params: { min_speakers: 2 } }, { 'diarization on': true, min_speakers: 2 }],
    [{ params: { pii_redaction: ['NAME'] } }, { 'pii_redaction on': true, pii_redaction: ['NAME'] }],
    [{ params: { custom_vocabulary: ['a'] } }, { 'custom_vocabulary on': true, custom_vocabulary: ['a'] }],
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
        utterances: [
          { text: 'Two.', start: 0.1, end: 0.5, speaker: 0, words: [{ word: 'Two.', speaker: 0 }] },
          { text: 'Yes.', start: 1, end: 1.5, speaker: 1 },
        ],
      },
    ],
    'empty, of silence': [
      {},
      done({ utterances: [] }),
      { utterances: [], language: undefined, seconds: undefined, warnings: [] },
    ],
    'not, without utterances': [{}, done({ utterances: 'none' }), 'next bad_answer'],
    'not, when the id of the job is a path': [{}, [{ id: '../x' }], 'next bad_answer'],
    'not, when the status is one nobody knows': [{}, [CREATED, shown('lost')], 'next bad_answer'],
    'not, when its audio cannot be used': [{}, [CREATED, shown('error', { error_code: 422 })], 'caller audio_unusable'],
    'not, when Gladia has failed': [{}, [CREATED, shown('error', { error_code: 500 })], 'next 500'],
    'not, for no reason': [{}, [CREATED, shown('error')], 'next job_failed'],
  },
};
