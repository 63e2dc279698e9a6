// What closes of a Vosk server mean: it has no messages for errors.
import { FailureTable } from '../kit/failures.ts';

export const failures = new FailureTable({
  title: 'Vosk',
  rows: [{ close: 1009, kind: 'next', message: 'A frame was too large for the Vosk server.' }],
});
