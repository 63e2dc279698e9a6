// Fireworks: Whisper for files. Its audio models are deprecated; see models.ts.
import type { Provider } from '../kit/provider.ts';
import { batch } from './batch.ts';
import { failures } from './failures.ts';
import { credentialCheck, models } from './models.ts';
import { options } from './options.ts';

export const fireworks: Provider = {
  name: 'fireworks',
  title: 'Fireworks',
  models,
  ...options.members,
  credential: 'required',
  credentialCheck,
  live: undefined,
  batch,
  failures: failures.rows,
};
