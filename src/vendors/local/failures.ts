// What the recogniser's error codes mean for a session.
import { FailureTable } from '../kit/failures.ts';

const unavailable = { kind: 'next', reason: 'connect_failed' } as const;

export const failures = new FailureTable({
  title: 'The embedded recogniser',
  rows: [
    { code: 'invalid_query', kind: 'caller', message: 'The recogniser does not take this request.' },
    { code: 'invalid_grammar', kind: 'caller', message: 'The grammar is refused.' },
    { code: 'invalid_align_text', kind: 'caller', message: 'The text is refused.' },
    {
      code: 'recogniser_overloaded',
      ...unavailable,
      message: 'The embedded recogniser has no room for another stream.',
      // It says nothing of how those are served that have one.
      own: true,
    },
    {
      code: 'recogniser_share_used',
      ...unavailable,
      message: 'The organisation has as many streams of the embedded recogniser as one may have.',
      // It says nothing of how the others are served.
      own: true,
    },
    {
      code: 'recogniser_queue_full',
      kind: 'next',
      reason: 'stalled',
      message: 'The embedded recogniser cannot keep up with the audio.',
    },
    {
      code: 'model_unavailable',
      ...unavailable,
      message: 'The speech model cannot be opened now.',
    },
    { code: 'recogniser_failed', kind: 'retry', message: 'The embedded recogniser failed.' },
    { name: 'error', kind: 'retry', message: 'The embedded recogniser failed.' },
    {
      name: 'closed',
      kind: 'retry',
      reason: 'upstream_closed',
      message: 'The embedded recogniser failed and is being started again.',
    },
  ],
  quote: (message, words, { kind }) => (kind === 'caller' ? words : message),
});
