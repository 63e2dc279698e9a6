// Files, in the form of OpenAI.
import { openaiShapedBatch } from '../kit/openai-shaped/batch.ts';
import { failures } from './failures.ts';
import { api, nameOf } from './models.ts';
import { options } from './options.ts';

export const batch = openaiShapedBatch({
  api,
  nameOf,
  options,
  failures,
  formatOf: () => 'verbose_json',
  // Times of segments are better with it, and left out of the work when absent.
  fields: () => ({ without_timestamps: false }),
  // Audio is mixed down to one channel.
  billsChannels: 'never',
});
