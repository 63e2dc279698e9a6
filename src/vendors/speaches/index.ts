// speaches: Whisper on your own server, for files, and live in OpenAI's dialect.
import type { Provider } from '../kit/provider.ts';
import { batch } from './batch.ts';
import { failures } from './failures.ts';
import { live } from './live.ts';
import { models } from './models.ts';
import { options } from './options.ts';

export const speaches: Provider = {
  name: 'speaches',
  title: 'speaches',
  models,
  ...options.members,
  credential: 'none',
  address: 'configured',
  live: () => live,
  batch,
  failures: failures.rows,
};
