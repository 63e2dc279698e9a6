// A model has answered audio that has sound in it, and without a word: the next one is to hear it as well, once.
import type { LegFailure } from '../../../machines/events.ts';

export const noWords: LegFailure = {
  kind: 'empty',
  reason: 'empty_result',
  code: 'empty_result',
  message: 'The model found no words.',
};
