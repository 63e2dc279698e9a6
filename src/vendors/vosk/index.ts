// Vosk: Kaldi models on your own server, live; files go through the live codec.
import type { Provider } from '../kit/provider.ts';
import { failures } from './failures.ts';
import { live } from './live.ts';
import { models } from './models.ts';
import { options } from './options.ts';

export const vosk: Provider = {
  name: 'vosk',
  title: 'Vosk',
  models,
  ...options.members,
  credential: 'none',
  address: 'configured',
  live: () => live,
  batch: { kind: 'live' },
  failures: failures.rows,
};
