// Jobs as codecs are shown them, and what they make of them.

import { captionsOf } from '../../../../src/compat/files.ts';
import type { Dialect } from '../../../../src/vendors/compat/dialect.ts';
import type {
  JobEndpoint,
  JobMeans,
  JobRequest,
  JobState,
  ShownFile,
  ShownJob,
} from '../../../../src/vendors/compat/jobs.ts';

const AT = new Date('2026-01-01T00:00:00Z');
export const FILE: ShownFile = { id: 'file_1', filename: 'speech.wav', bytes: 9, createdAt: AT, fields: new Map() };

const MEANS: JobMeans = {
  ...{ query: new URLSearchParams(), headers: new Map(), requestId: 'req_1', at: AT },
  captions: captionsOf,
  url: (path) => `https://voice.example.com/compat${path}`,
};

export function endpointAt(dialect: Dialect, place: string): JobEndpoint {
  const endpoint = dialect.jobs?.[place];
  if (endpoint === undefined) throw new Error(`${dialect.name} has no endpoint at ${place}.`);
  return endpoint;
}

/** @param asked members of a body, or fields of a form */
export function openedAs(endpoint: JobEndpoint, asked: object, query = ''): JobRequest {
  const means = { ...MEANS, query: new URLSearchParams(query) };
  if (endpoint.does === 'ask') return endpoint.open(asked as Record<string, unknown>, means);
  if (endpoint.does === 'keepAndAsk') return endpoint.open(new Map(Object.entries(asked)), means);
  throw new Error('Nothing is asked for there.');
}

export const jobIn = (state: JobState, asked: object = {}): ShownJob => ({
  ...{ id: 'job_1', file: FILE, asked: asked as Record<string, unknown>, createdAt: AT, state },
  endedAt: state.type === 'done' || state.type === 'failed' ? new Date(AT.getTime() + 2_000) : undefined,
});

const segment = (start: number, end: number, text: string, speaker: number) => ({
  ...{ id: 0, seek: 0, start, end, text, tokens: [], temperature: 0, avg_logprob: 0, compression_ratio: 1 },
  ...{ no_speech_prob: 0, speaker },
});

/** One that is done: two speakers, of whom the second has no confidence. */
export const doneJob = (asked: object = {}): ShownJob =>
  jobIn(
    {
      type: 'done',
      heard: {
        transcription: {
          ...{
            text: 'Nine, one. Two.',
            task: 'transcribe',
            language: 'english',
            duration: 4,
            model: 'local/digits-en',
          },
          segments: [segment(0.2, 1.5, 'Nine, one.', 0), segment(2, 2.5, 'Two.', 1)],
          words: [
            { word: 'Nine,', start: 0.2, end: 0.6, confidence: 0.8 },
            { word: 'one.', start: 0.9, end: 1.4, confidence: 0.6 },
            { word: 'Two.', start: 2, end: 2.5 },
          ],
          request_id: 'req_1',
          usage: { type: 'duration', seconds: 4, cost_usd: '0', byok: false },
        },
      },
    },
    asked,
  );

/** The same in a list, newest first: `job_1` is a second younger than `job_2`. */
export const listed = (count: number, job: ShownJob): ShownJob[] =>
  Array.from({ length: count }, (_, at) => ({
    ...job,
    id: `job_${at + 1}`,
    createdAt: new Date(AT.getTime() - at * 1_000),
  }));

/** What is answered: JSON, or text as it is. */
export function answerOf(
  endpoint: JobEndpoint,
  shown: ShownJob | ShownFile | readonly (ShownJob | ShownFile)[],
  query = '',
): unknown {
  const { body } = endpoint.answer(shown as never, { ...MEANS, query: new URLSearchParams(query) });
  return /^[{[]/.test(body) ? JSON.parse(body) : body;
}
