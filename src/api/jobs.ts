// `/v1/jobs`: transcriptions in the background. What a request may ask for, and how jobs are shown.
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { ErrorObject } from './error-body.ts';
import { TranscriptionForm, TranscriptionObject } from './request-parameters.ts';
import { Tags } from './tags.ts';
import { ResponseFormat, VerboseTranscription } from './transcriptions.ts';
import { WEBHOOK_URL_LENGTH_MAX } from './webhooks.ts';

const DAY_SECONDS = 86_400;
export const RETENTION_SECONDS = { min: 0, max: 30 * DAY_SECONDS, default: DAY_SECONDS } as const;
/** Fields of a request for a job that a transcription does not have. */
export const JOB_FIELDS: readonly string[] = ['retention_seconds', 'webhook_url', 'webhook_secret'];
export const JOBS_LIMIT = { min: 1, max: 100, default: 20 } as const;

export const JobStatus = Type.Union([
  Type.Literal('queued'),
  Type.Literal('processing'),
  Type.Literal('completed'),
  Type.Literal('failed'),
  Type.Literal('cancelled'),
]);
export type JobStatus = Static<typeof JobStatus>;
export const JOB_STATUSES = JobStatus.anyOf.map((each) => each.const);

const retention_seconds = Type.Optional(
  Type.Integer({
    minimum: RETENTION_SECONDS.min,
    maximum: RETENTION_SECONDS.max,
    default: RETENTION_SECONDS.default,
    description:
      'How long the job and its transcript can be fetched after its end: a minute at least. With 0, the transcript is in the webhook `job.completed`.',
  }),
);

const webhook_url = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: WEBHOOK_URL_LENGTH_MAX,
    description:
      'Receives `job.completed` or `job.failed` of this job, as webhooks of the organisation do: `https` on the Internet. A user name and a password in it are sent as `Authorization`. The job is kept for an hour after its end at least, because what is sent is made of it.',
    examples: ['https://example.com/jobs'],
  }),
);

const webhook_secret = Type.Optional(
  Type.String({
    pattern: '^whsec_[A-Za-z0-9+/]+={0,2}$',
    description:
      'Signs what is posted to `webhook_url`, as Standard Webhooks has it: `whsec_` and the base64 of 24 to 64 random bytes. Posts are unsigned when absent.',
  }),
);

const { stream: _, ...formMembers } = TranscriptionForm.properties;
/** The form of `POST /v1/jobs`. */
export const JobForm = Type.Object(
  { ...formMembers, retention_seconds, webhook_url, webhook_secret },
  { additionalProperties: false, patternProperties: TranscriptionForm.patternProperties },
);

const { stream: __, ...objectMembers } = TranscriptionObject.properties;
/** The same for audio at an address. */
export const JobObject = Type.Object(
  { ...objectMembers, retention_seconds, webhook_url, webhook_secret },
  { additionalProperties: false },
);

const withAsync = <Schema extends TSchema>(schema: Schema): Schema => ({
  ...schema,
  description: `Only with \`async=true\`. ${schema.description}`,
});
const asyncMembers = {
  retention_seconds: withAsync(retention_seconds),
  webhook_url: withAsync(webhook_url),
  webhook_secret: withAsync(webhook_secret),
};
/** The form of `POST /v1/audio/transcriptions`, which may make a job as well. */
export const FileForm = Type.Object(
  { ...TranscriptionForm.properties, ...asyncMembers },
  { additionalProperties: false, patternProperties: TranscriptionForm.patternProperties },
);
/** The same for audio at an address. */
export const FileObject = Type.Object(
  { ...TranscriptionObject.properties, ...asyncMembers },
  { additionalProperties: false },
);

const Time = (description: string) => Type.String({ description });
const Nullable = <Value extends ReturnType<typeof Time>>(value: Value) => Type.Union([value, Type.Null()]);

export const JobAnswer = Type.Object({
  object: Type.Literal('job'),
  id: Type.String(),
  status: JobStatus,
  model: Type.String({
    description:
      'As the request named it: a slug, an alias or `auto`. Of a completed job with `auto`, the model that transcribed it.',
  }),
  file: Type.Object({
    name: Type.String(),
    bytes: Type.Union([Type.Integer(), Type.Null()], { description: 'Null where the audio is at an address.' }),
  }),
  audio_url: Type.Optional(Type.String({ description: 'The address of the audio, without its query.' })),
  webhook_url: Type.Optional(
    Type.String({ description: 'The address that the end of the job is posted to, without its query.' }),
  ),
  webhook_status: Type.Optional(
    Type.Union([Type.Integer(), Type.Null()], {
      description:
        'What the server at `webhook_url` answered to the last post. Null before that, and without an answer. Not in lists and webhooks.',
    }),
  ),
  tags: Type.Optional(
    Type.Unsafe<Tags>({ ...Tags, description: 'Tags of the request and its API key. Absent without any.' }),
  ),
  response_format: Type.Unsafe<Static<typeof ResponseFormat>>({
    ...ResponseFormat,
    description: 'The format of the result where its request names none.',
  }),
  attempts: Type.Integer({
    description: 'How often it was begun: more than once if its node was restarted meanwhile.',
  }),
  progress: Type.Optional(
    Type.Object(
      {
        done: Type.Integer({ description: 'Parts that have their transcript.' }),
        parts: Type.Integer({ description: 'All parts; an estimate until all of the file was cut.' }),
      },
      { description: 'Of a file that is being transcribed in parts, but not in lists.' },
    ),
  ),
  created_at: Time('When it was accepted.'),
  ended_at: Nullable(Time('When it was completed, failed or cancelled.')),
  expires_at: Nullable(Time('Until when it can be fetched.')),
  result: Type.Optional(
    Type.Unsafe<VerboseTranscription>({
      ...VerboseTranscription,
      description: 'Of a completed job, but not in lists.',
    }),
  ),
  error: Type.Optional(
    Type.Unsafe<Static<typeof ErrorObject>>({ ...ErrorObject, description: 'Of a job that failed or was cancelled.' }),
  ),
});
export type JobAnswer = Static<typeof JobAnswer>;

export const JobList = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(JobAnswer),
  has_more: Type.Boolean(),
  next: Type.Union([Type.String(), Type.Null()], { description: '`before` of what follows; null at the end.' }),
});
export type JobList = Static<typeof JobList>;

export const TranscriptionQuery = Type.Object(
  {
    async: Type.Optional(
      Type.Boolean({ default: false, description: 'Whether the file becomes a job, as by `POST /v1/jobs`.' }),
    ),
  },
  { additionalProperties: false },
);

export const JobsQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({
        minimum: JOBS_LIMIT.min,
        maximum: JOBS_LIMIT.max,
        default: JOBS_LIMIT.default,
        description: 'How many jobs, newest first.',
      }),
    ),
    before: Type.Optional(Type.String({ description: 'Id of a job: those that are older than it.' })),
    status: Type.Optional(Type.Unsafe<JobStatus>({ ...JobStatus, description: 'Jobs of any status when absent.' })),
    from: Type.Optional(Type.String({ description: 'Accepted then or later: an ISO 8601 date or time, in UTC.' })),
    to: Type.Optional(Type.String({ description: 'Accepted before: an ISO 8601 date or time, in UTC.' })),
    tag: Type.Optional(
      Type.String({
        description: 'Only jobs with this tag: its key, a colon and its value.',
        examples: ['customer:acme'],
      }),
    ),
  },
  { additionalProperties: false },
);

export const JobResultQuery = Type.Object(
  {
    format: Type.Optional(
      Type.Unsafe<Static<typeof ResponseFormat>>({
        ...ResponseFormat,
        description: 'The `response_format` of the job when absent.',
      }),
    ),
  },
  { additionalProperties: false },
);
