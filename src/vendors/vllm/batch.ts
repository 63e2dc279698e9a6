// Files, in the form of OpenAI.
import { openaiShapedBatch } from '../kit/openai-shaped/batch.ts';
import { failures } from './failures.ts';
import { api, FILE_BYTES_MAX, isWhisper, nameOf } from './models.ts';
import { options } from './options.ts';

export const batch = openaiShapedBatch({
  api,
  nameOf,
  options,
  failures,
  formatOf: (model) => (isWhisper(model) ? 'verbose_json' : 'json'),
  formBytesMax: FILE_BYTES_MAX,
  // Audio is mixed down to one channel.
  billsChannels: 'never',
});
