// How the gateway's own jobs are shown, and their results in each format.
import { shownAddress } from '../api/audio-source.ts';
import { AUTO } from '../api/choice.ts';
import type { JobAnswer, JobStatus } from '../api/jobs.ts';
import { tagsOfText } from '../api/tags.ts';
import type {
  DiarizedTranscription,
  ResponseFormat,
  Transcription,
  VerboseTranscription,
} from '../api/transcriptions.ts';
import { diarizedSegmentOf } from '../files/answers.ts';
import type { PartsProgress } from '../files/long/long-files.ts';
import { warningHeader } from '../files/routes/answer.ts';
import { type Cue, cuesOf, srtOf, vttOf } from '../files/subtitles.ts';
import { json } from '../http/router.ts';
import type { WholeReply } from '../http/server.ts';
import type { ShownJob } from '../vendors/compat/jobs.ts';
import { turnsOf } from '../vendors/compat/transcript.ts';
import { askedOf } from './own-request.ts';

type Shown = ShownJob & { attempts?: number; keptUntil?: Date | undefined };

/** @param isWhole with the transcript */
export function jobAnswer(job: Shown, requestId: string, isWhole: boolean, progress?: PartsProgress): JobAnswer {
  const { id, file, state, createdAt, endedAt, attempts = 1, keptUntil, callbackStatus } = job;
  const { model: named, responseFormat, audioUrl, webhookUrl, tags } = askedOf(job.asked);
  const model = named === AUTO && state.type === 'done' ? state.heard.transcription.model : named;
  return {
    ...{ object: 'job', id, status: statusOf(job), model, response_format: responseFormat, attempts },
    file: { name: file.filename, bytes: audioUrl === undefined ? file.bytes : null },
    ...(audioUrl === undefined ? {} : { audio_url: shownAddress(audioUrl) }),
    ...(webhookUrl === undefined ? {} : { webhook_url: webhookUrl }),
    ...(webhookUrl === undefined || callbackStatus === undefined ? {} : { webhook_status: callbackStatus }),
    ...(progress === undefined ? {} : { progress: { done: progress.done, parts: progress.parts } }),
    ...(tags === undefined ? {} : { tags: tagsOfText(tags) }),
    created_at: createdAt.toISOString(),
    ended_at: endedAt?.toISOString() ?? null,
    expires_at: keptUntil?.toISOString() ?? null,
    ...(state.type === 'done' && isWhole ? { result: state.heard.transcription } : {}),
    ...(state.type === 'failed' ? { error: state.refusal.body(requestId) } : {}),
  };
}

/** Of one delivery, as JSON: a payload has up to 320 KiB. */
const RESULT_BYTES_MAX = 256 * 1024;

/**
 * What a webhook is sent of a job that is over: with its transcript only where the job is not kept, and not with a very long one. The same
 * for each attempt.
 */
export function jobWebhook({ callbackStatus: _, ...job }: Shown): JobAnswer {
  const isForgotten = askedOf(job.asked).retentionSeconds === 0;
  const whole = jobAnswer(job, job.id, isForgotten);
  const isLong = isForgotten && Buffer.byteLength(JSON.stringify(whole.result ?? '')) > RESULT_BYTES_MAX;
  return isLong ? jobAnswer(job, job.id, false) : whole;
}

export function statusOf({ state }: Pick<ShownJob, 'state'>): JobStatus {
  if (state.type === 'failed') return state.refusal.code === 'job_cancelled' ? 'cancelled' : 'failed';
  return state.type === 'done' ? 'completed' : state.type;
}

export function resultIn(format: ResponseFormat, heard: VerboseTranscription): WholeReply {
  const headers = warningHeader(heard.warnings ?? []);
  const inText = (type: string, body: string): WholeReply => ({
    status: 200,
    headers: { ...headers, 'Content-Type': `${type}; charset=utf-8` },
    body,
  });
  switch (format) {
    case 'text':
      return inText('text/plain', `${heard.text}\n`);
    case 'json':
      return json(200, plainOf(heard), headers);
    case 'verbose_json':
      return json(200, heard, headers);
    case 'diarized_json':
      return json(200, diarizedOf(heard), headers);
    case 'srt':
      return inText('text/plain', srtOf(cuesIn(heard)));
    case 'vtt':
      return inText('text/vtt', vttOf(cuesIn(heard)));
  }
}

const cuesIn = (heard: VerboseTranscription): Cue[] => cuesOf(turnsOf(heard), heard.duration, true).cues;

function plainOf({ text, no_speech, logprobs, usage, warnings }: VerboseTranscription): Transcription {
  const { type, seconds } = usage;
  return {
    text,
    ...(no_speech === undefined ? {} : { no_speech }),
    ...(logprobs === undefined ? {} : { logprobs }),
    usage: { type, seconds },
    ...(warnings === undefined ? {} : { warnings }),
  };
}

function diarizedOf(heard: VerboseTranscription): DiarizedTranscription {
  const { text, duration, segments = [], no_speech, usage, warnings } = heard;
  return {
    ...{ text, task: 'transcribe', duration },
    segments: segments.map(({ no_speech: noSpeech, ...segment }, index) =>
      diarizedSegmentOf({ ...segment, ...(noSpeech && { noSpeech }) }, index),
    ),
    ...(no_speech === undefined ? {} : { no_speech }),
    usage: { type: usage.type, seconds: usage.seconds },
    ...(warnings === undefined ? {} : { warnings }),
  };
}
