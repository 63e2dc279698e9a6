// whisper.cpp: Whisper on a server of one's own, for files.
import type { Provider } from '../provider.ts';
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
