// The operations of jobs: transcriptions in the background.
import { JobAnswer, JobForm, JobList, JobObject, JobResultQuery, JobsQuery } from '../../api/jobs.ts';
import { DiarizedTranscription, Transcription, VerboseTranscription } from '../../api/transcriptions.ts';
import * as examples from '../schemas/examples.ts';
import { FILE_CODES, IDEMPOTENCY_KEY, KEY_CODES, LEDGER_CODES, type Operation, QUERY_CODES } from './operation.ts';

const segments = { id: { type: 'string', description: 'Id of the job.', example: examples.job.id } };
const bearer = '-H "Authorization: Bearer $VOXGATE_KEY"';
const at = `{base}/v1/jobs/${examples.job.id}`;
const errors = [...KEY_CODES, ...QUERY_CODES, ...LEDGER_CODES, 'scope_not_allowed', 'not_found'] as const;
const { result: _, ...unread } = examples.job;

const createJob: Operation = {
  id: 'createJob',
  method: 'post',
  path: '/v1/jobs',
  tag: 'Jobs',
  summary: 'Create a job',
  description:
    'The form is that of `/v1/audio/transcriptions`, but the answer comes at once: the file is transcribed in the background. Jobs of a key wait for its other files, at most 100 on one node. The job is charged once, when it is completed. Its end is posted to `webhook_url`, if the request names one.',
  security: 'key',
  headers: IDEMPOTENCY_KEY,
  body: {
    required: true,
    type: 'multipart/form-data',
    schema: JobForm,
    example: { model: 'local/dictation-en', file: '(the bytes of the file)' },
    also: {
      type: 'application/json',
      schema: JobObject,
      example: { model: 'local/dictation-en', audio_url: 'https://example.com/reading.wav' },
    },
  },
  answers: {
    202: {
      description: 'The job, which is queued or processing.',
      headers: ['Idempotency-Replayed'],
      forms: {
        'application/json': {
          schema: JobAnswer,
          example: { ...unread, status: 'processing', ended_at: null, expires_at: null },
        },
      },
    },
  },
  errors: [...KEY_CODES, ...QUERY_CODES, ...FILE_CODES],
  curl: `curl {base}/v1/jobs ${bearer} \\\n  -F model=local/dictation-en -F file=@test/fixtures/audio/reading.wav`,
};

const listJobs: Operation = {
  id: 'listJobs',
  method: 'get',
  path: '/v1/jobs',
  tag: 'Jobs',
  summary: 'List jobs',
  description: 'Jobs of this API key that are still kept, newest first, without their transcripts.',
  security: 'key',
  query: JobsQuery,
  answers: {
    200: {
      description: 'The jobs.',
      forms: {
        'application/json': {
          schema: JobList,
          example: { object: 'list', data: [unread], has_more: false, next: null },
        },
      },
    },
  },
  errors,
  curl: `curl "{base}/v1/jobs?status=completed&limit=5" ${bearer}`,
};

const getJob: Operation = {
  id: 'getJob',
  method: 'get',
  path: '/v1/jobs/{id}',
  tag: 'Jobs',
  summary: 'Get a job',
  description: 'Its status, and its transcript or error. Any node answers.',
  security: 'key',
  segments,
  answers: {
    200: { description: 'The job.', forms: { 'application/json': { schema: JobAnswer, example: examples.job } } },
  },
  errors,
  curl: `curl ${at} ${bearer}`,
};

const getJobResult: Operation = {
  id: 'getJobResult',
  method: 'get',
  path: '/v1/jobs/{id}/result',
  tag: 'Jobs',
  summary: 'Get the result of a job',
  description:
    'The transcript of a completed job, in any format, as often as you like. A failed job answers with its error; one that is not over with `job_not_over`.',
  security: 'key',
  segments,
  query: JobResultQuery,
  answers: {
    200: {
      description: 'The transcript, in the form that `format` asks for.',
      headers: ['Voxgate-Warning'],
      forms: {
        'application/json': {
          schema: [Transcription, VerboseTranscription, DiarizedTranscription],
          example: examples.verbose,
        },
        'text/plain': { schema: { text: 'The text, or subtitles with `srt`.' }, example: 'set the temperature\n' },
        'text/vtt': { schema: { text: 'Subtitles as WebVTT.' }, example: 'WEBVTT\n' },
      },
    },
  },
  errors: [...new Set([...errors, ...FILE_CODES, 'job_not_over', 'job_cancelled'] as const)],
  curl: `curl "${at}/result?format=srt" ${bearer}`,
};

const cancelJob: Operation = {
  id: 'cancelJob',
  method: 'post',
  path: '/v1/jobs/{id}/cancel',
  tag: 'Jobs',
  summary: 'Cancel a job',
  description:
    'Ends the work on it; nothing is charged. A job that is over stays as it is. If an organisation cancels many jobs a day while a model works on them, further ones are finished and charged.',
  security: 'key',
  segments,
  answers: {
    200: {
      description: 'The job, as it is now.',
      forms: {
        'application/json': {
          schema: JobAnswer,
          example: { ...unread, status: 'processing', ended_at: null, expires_at: null },
        },
      },
    },
  },
  errors,
  curl: `curl -X POST ${at}/cancel ${bearer}`,
};

const deleteJob: Operation = {
  id: 'deleteJob',
  method: 'delete',
  path: '/v1/jobs/{id}',
  tag: 'Jobs',
  summary: 'Delete a job',
  description: 'Removes the job with its audio and its transcript, and ends the work on it.',
  security: 'key',
  segments,
  answers: { 204: { description: 'The job is gone.', forms: {} } },
  errors,
  curl: `curl -X DELETE ${at} ${bearer}`,
};

export const jobOperations: readonly Operation[] = [createJob, listJobs, getJob, deleteJob, getJobResult, cancelJob];
