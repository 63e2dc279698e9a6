// What the scripted provider's errors and close codes mean.
import { FailureTable } from '../kit/failures.ts';

const closed = {
  kind: 'next',
  reason: 'upstream_closed',
  message: 'The scripted provider closed the connection.',
} as const;

export const failures = new FailureTable({
  title: 'The scripted provider',
  rows: [
    { code: 'retry', kind: 'retry', message: 'The script asked for a failure worth a retry.' },
    { code: 'next', kind: 'next', message: 'The script asked for a failure.' },
    { code: 'account', kind: 'account', message: 'The script asked for an account failure.' },
    { code: 'caller', kind: 'caller', message: 'The option `fail` asked for a fault of the caller.' },
    { name: 'closed', ...closed },
    { name: 'error', ...closed },
  ],
});
