// Groq: Whisper for files, within seconds. It has no live interface.
import type { Provider } from '../kit/provider.ts';
import { batch } from './batch.ts';
import { failures } from './failures.ts';
import { credentialCheck, models } from './models.ts';
import { options } from './options.ts';

export const groq: Provider = {
  name: 'groq',
  title: 'Groq',
  models,
  ...options.members,
  credential: 'required',
  credentialCheck,
  live: undefined,
  batch,
  failures: failures.rows,
};
