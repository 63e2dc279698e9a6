// What Rev AI's close codes, refusals and failed jobs mean. https://docs.rev.ai/api/streaming
import { FailureTable } from '../kit/failures.ts';
import { objectIn, textIn } from '../kit/json.ts';

const NO_CREDIT = 'The Rev AI account has no credit left.';

export const failures = new FailureTable({
  title: 'Rev AI',
  rows: [
    // A transcript that is not there yet, or a job that is gone.
    { status: [404, 409], file: true, kind: 'next' },
    { status: 'any' },
    {
      file: true,
      code: 'duration_exceeded',
      as: 'audio_too_long',
      kind: 'caller',
      message: 'This file is too long for Rev AI.',
    },
    {
      file: true,
      code: ['empty_media', 'invalid_media', 'duration_too_short', 'download_failure'],
      as: 'audio_unusable',
      kind: 'caller',
      message: 'Rev AI cannot use the audio of this file.',
    },
    { file: true, code: ['insufficient_balance', 'invoicing_limit_exceeded'], kind: 'account', message: NO_CREDIT },
    { close: 4001, kind: 'account', message: 'Rev AI refused the token.' },
    { close: 4002, kind: 'caller', message: 'Rev AI refused an option or the audio.' },
    { close: 4003, kind: 'account', message: NO_CREDIT },
    { close: 4010, kind: 'retry', reason: 'upstream_closed', message: 'The Rev AI server is shutting down.' },
    { close: 4013, kind: 'next', message: 'Rev AI has no room for another session.' },
    { close: 4029, kind: 'next', message: 'The Rev AI account has too many sessions open.' },
    { name: 'bad_answer', kind: 'next', message: 'An answer of Rev AI could not be read.' },
  ],
  refusal({ title, detail, parameters }) {
    const [param] = Object.keys(objectIn(parameters));
    return { words: textIn(detail) ?? textIn(title), param };
  },
});
