// What Rev AI answers while a file is worked on, and what it comes to.
import type { BatchFixtures } from '../../suites/provider/fixtures.ts';
import { formTo, getOf } from '../../suites/provider/requests.ts';

const JOBS = 'https://api.rev.ai/speechtotext/v1/jobs';
const job = (status: string, more: object = {}) => ({ id: 'j-1', status, ...more });
const done = (monologues: unknown) => [job('in_progress'), job('transcribed'), { monologues }];
const failed = (failure?: string) => [job('in_progress'), job('failed', { failure, failure_detail: 'Because.' })];
const text = (value: string, ts: number, end_ts: number) => ({ type: 'text', value, ts, end_ts, confidence: 0.5 });
const mark = (value: string) => ({ type: 'punct', value });
const MONOLOGUES = [
  {
    speaker: 3,
    elements: [text('Two', 0.4, 0.6), mark(' '), text('teas', 0.7, 1.1), mark('.'), mark(' '), text('Now', 2, 2.4)],
  },
  { speaker: 0, elements: [text('Yes', 3, 3.4), mark('.')] },
];

export const files: BatchFixtures = {
  model: 'machine',
  opening: formTo(
    JOBS,
    { options: JSON.stringify({ transcriber: 'machine', skip_diarization: true }) },
    { file: 'media' },
  ),
  asked: ({ body }) => JSON.parse(String(body.kind === 'multipart' && body.fields[0]?.[1])),
  written: (value) => value,
  job: {
    requests: [getOf(`${JOBS}/j-1`)],
    created: job('in_progress'),
    waiting: job('in_progress'),
    abandoned: [{ method: 'DELETE', url: `${JOBS}/j-1` }],
  },
  requests: [
    [{ language: 'pt-BR' }, { language: 'pt' }],
    [{ language: 'zh' }, { language: 'cmn' }],
    [{ language: 'auto' }, {}],
    [{ diarization: true }, { skip_diarization: false }],
    [{ params: { priority: 'speed', unheard_of: 1 } }, {}],
  ],
  answers: {
    'cut where sentences end, with their speakers': [
      { diarization: true },
      done(MONOLOGUES),
      {
        utterances: [
          '"Two teas." 0.4-1.1 speaker 0 @0.5 (Two 0.4-0.6 @0.5, teas. 0.7-1.1 @0.5)',
          '"Now" 2-2.4 speaker 0',
          '"Yes." 3-3.4 speaker 1',
        ],
      },
    ],
    'empty, of silence': [{}, done([]), { utterances: [], language: undefined, seconds: undefined, warnings: [] }],
    'not, without monologues': [{}, done('none'), 'next bad_answer'],
    'not, when its audio cannot be used': [{}, failed('invalid_media'), 'caller audio_unusable'],
    'not, when it is too long': [{}, failed('duration_exceeded'), 'caller audio_too_long'],
    'not, when there is no credit': [{}, failed('insufficient_balance'), 'account insufficient_balance'],
    'not, when the account may owe no more': [
      {},
      failed('invoicing_limit_exceeded'),
      'account invoicing_limit_exceeded',
    ],
    'not, when Rev AI has failed': [{}, failed('internal_processing'), 'next internal_processing'],
    'not, for no reason': [{}, failed(), 'next job_failed'],
  },
};
