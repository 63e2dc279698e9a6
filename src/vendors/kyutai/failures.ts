// What errors of a moshi-server mean; most of what goes wrong there it says nothing of, and closes.
import { FailureTable } from '../kit/failures.ts';

export const failures = new FailureTable({
  title: 'Kyutai',
  rows: [
    {
      words: /no free channels/,
      as: 'no_free_channels',
      kind: 'next',
      message: 'The Kyutai server has no free place.',
    },
  ],
});
