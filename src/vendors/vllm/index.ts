// vLLM: models on your own server, for files in OpenAI's form, and live by a protocol of its own.
import type { Provider } from '../kit/provider.ts';
import { batch } from './batch.ts';
import { failures } from './failures.ts';
import { live } from './live.ts';
import { models } from './models.ts';
import { options } from './options.ts';

export const vllm: Provider = {
  name: 'vllm',
  title: 'vLLM',
  models,
  ...options.members,
  credential: 'none',
  address: 'configured',
  live: () => live,
  batch,
  failures: failures.rows,
};
