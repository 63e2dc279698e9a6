// What Soniox answers for a file, and what it comes to: uploads, jobs and transcripts.
import type { BatchFixtures } from '../../suites/provider/fixtures.ts';
import { formTo, getOf, jsonTo } from '../../suites/provider/requests.ts';

const URL = 'https://api.soniox.com/v1';
const get = (path: string) => getOf(`${URL}${path}`);
const removed = (path: string) => ({ method: 'DELETE', url: `${URL}${path}` }) as const;
const token = (text: string, start_ms: number, end_ms: number, more: object = {}) => ({
  ...{ text, start_ms, end_ms, confidence: 0.9 },
  ...more,
});
const CREATED = { id: 'job-1', status: 'queued' };
const DONE = { id: 'job-1', status: 'completed', audio_duration_ms: 2_500 };
const failed = (status: string, error_message: string) => ({ id: 'job-1', status, error_type: 'odd', error_message });

export const files: BatchFixtures = {
  model: 'stt-async-v5',
  opening: formTo(`${URL}/files`, {}),
  before: [{ id: 'file-1', size: 44 }],
  written: (value) => value,
  requests: [
    [{ language: 'auto' }, { enable_language_identification: true }],
    [{ language: 'de-AT' }, { language_hints: ['de'] }],
    [{ diarization: true }, { enable_speaker_diarization: true }],
    [{ params: { context: { terms: ['Voxgate'] }, endpoint_sensitivity: 1 } }, { context: { terms: ['Voxgate'] } }],
  ],
  job: {
    requests: [
      jsonTo(`${URL}/transcriptions`, { file_id: 'file-1', model: 'stt-async-v5' }),
      get('/transcriptions/job-1'),
    ],
    created: CREATED,
    waiting: { id: 'job-1', status: 'processing' },
    abandonedBefore: [removed('/files/file-1')],
    abandoned: [removed('/transcriptions/job-1'), removed('/files/file-1')],
  },
  answers: {
    'words of tokens, in sentences and by speakers, with the language': [
      {},
      [
        CREATED,
        DONE,
        {
          tokens: [
            token('Hel', 100, 200, { speaker: '2', language: 'en' }),
            token('lo.', 200, 400, { speaker: '2', language: 'en' }),
            token(' How', 500, 700, { speaker: '2' }),
            token(' Fine', 900, 1_200, { speaker: '1' }),
            token(' Gut', 0, 0, { translation_status: 'translation' }),
          ],
        },
      ],
      {
        ...{ language: 'en', seconds: undefined, warnings: [] },
        utterances: [
          '"Hello." 0.1-0.4 speaker 0 @0.9 (Hello. 0.1-0.4 @0.9)',
          '"How" 0.5-0.7 speaker 0',
          '"Fine" 0.9-1.2 speaker 1',
        ],
      },
    ],
    'no words, without a failure': [{}, [CREATED, DONE, { tokens: [] }], { utterances: [] }],
    'a file that is not audio': [{}, [CREATED, failed('error', 'Audio decode error')], 'caller audio_unusable'],
    'a file that is too long': [{}, [CREATED, failed('failed', 'Audio is too long.')], 'next audio_too_long'],
    'a job that failed': [{}, [CREATED, failed('failed', 'Something else.')], 'next odd'],
    'a transcript without tokens': [{}, [CREATED, DONE, { text: 'x' }], 'next bad_answer'],
  },
};
