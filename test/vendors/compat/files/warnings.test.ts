// What of a request is not honoured, in the metadata of each vendor's transcripts.
import { expect, it } from 'vitest';
import type { Dialect } from '../../../../src/vendors/compat/dialect.ts';
import type { ShownJob } from '../../../../src/vendors/compat/jobs.ts';
import { dialects } from '../../../../src/vendors/dialects.ts';
import { answerOf, doneJob, endpointAt } from './shown.ts';

const WARNINGS = [{ code: 'parameter_ignored', message: 'It is not served.', param: 'summarize' }];

/** A job that is done, with warnings or without. */
function jobWith(warnings: typeof WARNINGS | undefined): ShownJob {
  const job = doneJob();
  if (job.state.type !== 'done' || warnings === undefined) return job;
  const { heard } = job.state;
  const transcription = { ...heard.transcription, warnings };
  return { ...job, state: { ...job.state, heard: { ...heard, transcription } } };
}

it.each([
  ['assemblyai', 'GET /v2/transcript/:id', 'warnings'],
  ['gladia', 'GET /v2/pre-recorded/:id', 'result.metadata.warnings'],
  ['soniox', 'GET /v1/transcriptions/:id/transcript', 'warnings'],
  ['speechmatics', 'GET /v2/jobs/:id/transcript', 'metadata.warnings'],
])('%s lists the warnings of a transcript', (name, place, path) => {
  const endpoint = endpointAt(dialects.find((each) => each.name === name) as Dialect, place);
  expect(answerOf(endpoint, jobWith(WARNINGS))).toHaveProperty(path, WARNINGS);
  expect(answerOf(endpoint, jobWith(undefined))).not.toHaveProperty(path);
});
