// Cartesia: Ink 2 live, in English, and Ink Whisper for files.
import type { Provider } from '../kit/provider.ts';
import { batch } from './batch.ts';
import { failures } from './failures.ts';
import { live } from './live.ts';
import { credentialCheck, models } from './models.ts';
import { options } from './options.ts';

export const cartesia: Provider = {
  name: 'cartesia',
  title: 'Cartesia',
  models,
  ...options.members,
  credential: 'required',
  credentialCheck,
  live: () => live,
  batch,
  failures: failures.rows,
};
