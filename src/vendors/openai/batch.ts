// Files: what OpenAI's models are asked beside the common fields.
import { openaiShapedBatch } from '../kit/openai-shaped/batch.ts';
import type { BatchRequest } from '../kit/provider.ts';
import { failures } from './failures.ts';
import { api, FILE_EXTENSIONS, FORM_BYTES_MAX, traitsOf } from './models.ts';
import { options } from './options.ts';

const form = {
  api,
  options,
  failures,
  formatOf: (model: string) => traitsOf(model)?.file ?? 'json',
  // Models that tell speakers apart are always given a way to cut the file.
  fields: ({ model, params }: BatchRequest) => ({
    ...(options.honoured(params, model, 'batch').languages === undefined ? {} : { language: undefined }),
    ...(traitsOf(model)?.file === 'diarized_json' ? { chunking_strategy: 'auto' } : {}),
  }),
  // Audio is mixed down, and billed by its duration: https://developers.openai.com/api/docs/pricing
  billsChannels: 'never',
} as const;

export const batch = openaiShapedBatch({ ...form, extensions: FILE_EXTENSIONS, formBytesMax: FORM_BYTES_MAX });

/** The same at a server of somebody else, which need not have OpenAI's limits. */
export const fileServer = openaiShapedBatch(form);
