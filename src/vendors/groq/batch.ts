// Files, in the form of OpenAI.
import { openaiShapedBatch } from '../kit/openai-shaped/batch.ts';
import { failures } from './failures.ts';
import { api, FILE_BYTES_MAX, FILE_EXTENSIONS } from './models.ts';
import { options } from './options.ts';

export const batch = openaiShapedBatch({
  api,
  options,
  failures,
  formatOf: () => 'verbose_json',
  extensions: FILE_EXTENSIONS,
  formBytesMax: FILE_BYTES_MAX,
  // Audio is mixed down to one channel: https://console.groq.com/docs/speech-to-text
  billsChannels: 'never',
});
