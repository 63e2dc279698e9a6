// What the recogniser's error codes mean for a session.
import type { LegFailure } from '../../../machines/events.ts';
import type { FailureTable } from '../provider.ts';

export const failures: FailureTable = {
  invalid_query: { kind: 'caller', reason: 'upstream_error', message: 'The recogniser does not take this request.' },
  invalid_grammar: { kind: 'caller', reason: 'upstream_error', message: 'The grammar is refused.' },
  invalid_align_text: { kind: 'caller', reason: 'upstream_error', message: 'The text is refused.' },
  recogniser_overloaded: {
    kind: 'next',
    reason: 'connect_failed',
    message: 'The embedded recogniser has no room for another stream.',
  },
  recogniser_share_used: {
    kind: 'next',
    reason: 'connect_failed',
    message: 'The organisation has as many streams of the embedded recogniser as one may have.',
  },
  recogniser_queue_full: {
    kind: 'next',
    reason: 'stalled',
    message: 'The embedded recogniser cannot keep up with the audio.',
  },
  recogniser_failed: { kind: 'retry', reason: 'upstream_error', message: 'The embedded recogniser failed.' },
  closed: {
    kind: 'retry',
    reason: 'upstream_closed',
    message: 'The embedded recogniser failed and is being started again.',
  },
};

/** The failure of an error message; unknown codes are a failure of the recogniser itself. */
export function failureOf(code: string, message?: string): LegFailure {
  const row = failures[code] ?? (failures.recogniser_failed as NonNullable<(typeof failures)[string]>);
  return {
    ...row,
    code,
    message: row.kind === 'caller' && message !== undefined ? message : row.message,
    // One organisation's share says nothing of how the others are served.
    ...(code === 'recogniser_share_used' ? { own: true } : {}),
  };
}
