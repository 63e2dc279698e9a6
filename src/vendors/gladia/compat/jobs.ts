// Files of Gladia's clients: an upload, a job that is asked for, and looked after until it is done.
// https://docs.gladia.io/api-reference/v2/pre-recorded/init

import type { Captions, JobEndpoints, JobState, ShownFile, ShownJob } from '../../compat/jobs.ts';
import { badRequest, fileIdIn, refuseMembers } from '../../compat/params.ts';
import { jsonAnswer, warningsIn } from '../../compat/request.ts';
import { turnsOf } from '../../compat/transcript.ts';
import { type JsonObject, listIn, objectIn } from '../../kit/json.ts';
import { askedOfFile, plainFile } from './asked.ts';
import { listed } from './listed.ts';
import { utteranceOf } from './utterances.ts';

const FILES = '/file';
const PATH = '/v2/pre-recorded';
/** What would be told elsewhere, or be made of the transcript. */
const UNSERVED = [
  ...['callback', 'callback_url', 'translation', 'summarization', 'named_entity_recognition', 'sentiment_analysis'],
  ...[
    'chapterization',
    'moderation',
    'audio_to_llm',
    'structured_data_extraction',
    'sentences',
    'diarization_enhanced',
  ],
];
const SUBTITLES = ['srt', 'vtt'] as const;

const fileOf = ({ id, filename, bytes, audio }: ShownFile) => ({
  id,
  filename,
  extension: /\.(\w{1,8})$/.exec(filename)?.[1] ?? '',
  size: bytes,
  // Clients require both.
  audio_duration: audio?.seconds ?? 0,
  number_of_channels: audio?.channels ?? 1,
});

const STATUS = { queued: 'queued', processing: 'processing', done: 'done', failed: 'error' } as const;

const jobOf = (job: ShownJob, captions: Captions): JsonObject => ({
  ...summaryOf(job),
  result: job.state.type === 'done' ? resultOf(job, job.state, captions) : null,
});

/** Without what was heard: of many jobs that is too much. */
function summaryOf({ id, file, asked, createdAt, endedAt, state }: ShownJob): JsonObject {
  const { custom_metadata, ...request_params } = asked;
  return {
    ...{ id, request_id: id, version: 2, kind: 'pre-recorded', status: STATUS[state.type], file: fileOf(file) },
    ...{ created_at: createdAt.toISOString(), completed_at: endedAt?.toISOString() ?? null, request_params },
    ...(custom_metadata === undefined ? {} : { custom_metadata }),
    error_code: state.type === 'failed' ? state.refusal.status : null,
    ...(state.type === 'failed' ? { error_message: state.refusal.message } : {}),
    result: null,
  };
}

function resultOf(
  { asked, createdAt, endedAt }: ShownJob,
  { heard }: Extract<JobState, { type: 'done' }>,
  captions: Captions,
) {
  const { text, duration } = heard.transcription;
  const utterances = turnsOf(heard.transcription).map((turn) => utteranceOf(turn, ''));
  return {
    metadata: {
      ...{ audio_duration: duration, number_of_distinct_channels: 1, billing_time: duration },
      transcription_time: ((endedAt ?? createdAt).getTime() - createdAt.getTime()) / 1_000,
      ...warningsIn(heard.transcription),
    },
    transcription: {
      full_transcript: text,
      languages: [...new Set(utterances.map(({ language }) => language))].filter((each) => each !== ''),
      utterances,
      ...(asked.subtitles === true
        ? {
            subtitles: formatsOf(asked).map((format) => ({ format, subtitles: captions(heard.transcription, format) })),
          }
        : {}),
    },
  };
}

/** Throws a Refusal. */
function formatsOf({ subtitles_config }: JsonObject): (typeof SUBTITLES)[number][] {
  const asked = listIn(objectIn(subtitles_config).formats);
  const known = SUBTITLES.filter((format) => asked.includes(format));
  if (known.length < asked.length)
    throw badRequest('subtitles_config', `\`subtitles_config.formats\` has ${SUBTITLES.join(' and ')}.`);
  return asked.length === 0 ? ['srt'] : known;
}

export const jobs: JobEndpoints = {
  'POST /v2/upload': {
    does: 'keep',
    takes: { part: 'audio' },
    isMeasured: true,
    answer: (file, { url }) => jsonAnswer({ audio_url: url(`${FILES}/${file.id}`), audio_metadata: fileOf(file) }),
  },
  [`POST ${PATH}`]: {
    does: 'ask',
    open(said, { query }) {
      const asked = plainFile(said);
      const fileId = fileIdIn(asked.audio_url, FILES, 'audio_url');
      refuseMembers(asked, UNSERVED);
      formatsOf(asked);
      return { ...askedOfFile(query, asked), fileId, asked };
    },
    answer: ({ id }, { url }) => jsonAnswer({ id, result_url: url(`${PATH}/${id}`) }, 201),
  },
  [`GET ${PATH}`]: {
    does: 'list',
    answer: (all, means) => listed(PATH, all, means, summaryOf),
  },
  [`GET ${PATH}/:id`]: { does: 'show', answer: (job, { captions }) => jsonAnswer(jobOf(job, captions)) },
  [`DELETE ${PATH}/:id`]: { does: 'remove', answer: (job) => jsonAnswer({ id: job.id }, 202) },
};
