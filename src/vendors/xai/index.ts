// xAI: Grok Voice Transcribe, live and for files.
import type { Provider } from '../kit/provider.ts';
import { credentialCheck } from './api.ts';
import { batch } from './batch.ts';
import { failures } from './failures.ts';
import { live } from './live.ts';
import { models } from './models.ts';
import { options } from './options.ts';

export const xai: Provider = {
  name: 'xai',
  title: 'xAI',
  models,
  ...options.members,
  credential: 'required',
  credentialCheck,
  live: () => live,
  batch,
  failures: failures.rows,
};
