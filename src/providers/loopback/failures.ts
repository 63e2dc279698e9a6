// What the scripted provider's errors and close codes mean.
import type { LegFailure } from '../../../machines/events.ts';
import type { FailureTable } from '../provider.ts';

const closed: FailureTable[string] = {
  kind: 'next',
  reason: 'upstream_closed',
  message: 'The scripted provider closed the connection.',
};

export const failures: FailureTable = {
  retry: { kind: 'retry', reason: 'upstream_error', message: 'The script asked for a failure worth a retry.' },
  next: { kind: 'next', reason: 'upstream_error', message: 'The script asked for a failure.' },
  account: { kind: 'account', reason: 'upstream_error', message: 'The script asked for an account failure.' },
  caller: { kind: 'caller', reason: 'upstream_error', message: 'The script asked for a fault of the caller.' },
  closed,
};

/** The failure of an error message or a close code; unknown ones are `next`. */
export function failureOf(code: string): LegFailure {
  const row = Object.hasOwn(failures, code) ? failures[code] : undefined;
  return { code, ...(row ?? closed) };
}
