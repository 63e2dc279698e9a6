// whisper.cpp: Whisper on your own server, for files.
import type { Provider } from '../kit/provider.ts';
import { batch } from './batch.ts';
import { failures } from './failures.ts';
import { models } from './models.ts';
import { options } from './options.ts';

export const whispercpp: Provider = {
  name: 'whispercpp',
  title: 'whisper.cpp',
  models,
  ...options.members,
  credential: 'none',
  address: 'configured',
  live: undefined,
  batch,
  failures: failures.rows,
};
