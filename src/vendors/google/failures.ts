// What the statuses of Google's calls and requests mean: https://cloud.google.com/apis/design/errors

import { FailureTable } from '../kit/failures.ts';
import { statusIn } from '../kit/grpc/status.ts';
import { objectIn, textIn } from '../kit/json.ts';

const account = { kind: 'account', reason: 'connect_failed' } as const;
const over = { kind: 'retry', reason: 'upstream_closed' } as const;

export const failures = new FailureTable({
  title: 'Google',
  rows: [
    {
      ...{ file: true, code: 'INVALID_ARGUMENT', words: /maximum of \d+ seconds|duration|too long/i },
      ...{ as: 'audio_too_long', kind: 'caller' },
    },
    { file: true, code: 'INVALID_ARGUMENT', words: /payload size|too large/i, as: 'file_too_large', kind: 'caller' },
    { file: true, code: 'INVALID_ARGUMENT', words: /encoding|decod/i, as: 'audio_unusable', kind: 'caller' },
    { code: 'INVALID_ARGUMENT', words: /API key/i, ...account, message: 'Google does not accept the API key.' },
    {
      code: ['UNAUTHENTICATED', 'PERMISSION_DENIED'],
      ...account,
      message: 'Google refused the credential or its project.',
    },
    { code: 'INVALID_ARGUMENT', kind: 'caller', message: 'Google does not take this request.' },
    {
      code: 'RESOURCE_EXHAUSTED',
      kind: 'next',
      reason: 'connect_failed',
      message: 'The Google project has used up its quota.',
    },
    // The model is not offered in the location, or not in this language.
    {
      code: ['NOT_FOUND', 'FAILED_PRECONDITION', 'UNIMPLEMENTED'],
      kind: 'next',
      message: 'Google does not offer this here.',
    },
    // A call that is too long, or too quiet.
    { code: ['ABORTED', 'OUT_OF_RANGE'], ...over, message: 'Google ended the call.' },
    {
      code: ['CANCELLED', 'DEADLINE_EXCEEDED', 'INTERNAL', 'UNAVAILABLE', 'UNKNOWN'],
      ...over,
      message: 'Google failed.',
    },
  ],
  refusal: ({ error }) => {
    const { status, message } = objectIn(error);
    return { code: textIn(status), words: textIn(message) };
  },
  close: (reason) => ({ code: statusIn(reason) }),
});
