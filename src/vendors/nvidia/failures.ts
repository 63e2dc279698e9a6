// What the statuses of Riva mean. Its words are not documented: https://docs.nvidia.com/nim/riva/asr/latest/troubleshoot.html
import { FailureTable } from '../kit/failures.ts';
import { statusIn } from '../kit/grpc/status.ts';
import { objectIn, textIn } from '../kit/json.ts';

const over = { kind: 'retry', reason: 'upstream_closed' } as const;

export const failures = new FailureTable({
  title: 'NVIDIA Riva',
  rows: [
    // The server has no such model, or not for streams: another one may.
    {
      ...{
        code: ['INVALID_ARGUMENT', 'NOT_FOUND'],
        words: /not available|unavailable model|no model|offline|unknown model/i,
      },
      ...{ as: 'model_unavailable', kind: 'next', message: 'The Riva server has no model for this.' },
    },
    { code: 'INVALID_ARGUMENT', kind: 'caller', message: 'Riva does not take this request.' },
    {
      ...{ code: ['UNAUTHENTICATED', 'PERMISSION_DENIED'], kind: 'account', reason: 'connect_failed' },
      message: 'The Riva server, or what is in front of it, refused the key.',
    },
    {
      ...{ code: 'RESOURCE_EXHAUSTED', kind: 'next', reason: 'connect_failed' },
      message: 'The Riva server takes no more calls.',
    },
    {
      code: ['NOT_FOUND', 'UNIMPLEMENTED', 'FAILED_PRECONDITION'],
      kind: 'next',
      message: 'This is no Riva server for speech.',
    },
    {
      ...{
        code: ['ABORTED', 'CANCELLED', 'DEADLINE_EXCEEDED', 'INTERNAL', 'OUT_OF_RANGE', 'UNAVAILABLE', 'UNKNOWN'],
        ...over,
      },
      message: 'The Riva server failed.',
    },
  ],
  refusal: ({ error }) => {
    const { status, message } = objectIn(error);
    return { code: textIn(status), words: textIn(message) };
  },
  close: (reason) => ({ code: statusIn(reason) }),
});
