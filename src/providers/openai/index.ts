// OpenAI: files by `/v1/audio/transcriptions`, live by transcription sessions of the Realtime API.
import type { Provider } from '../provider.ts';
import { batch } from './batch.ts';
import { credentialCheck } from './credential-check.ts';
import { failures } from './failures.ts';
import { live } from './live.ts';
import { models } from './models.ts';
import { honours, Options } from './options.ts';

export const openai: Provider = {
  name: 'openai',
  title: 'OpenAI',
  models,
  options: () => Options,
  honours,
  credential: 'required',
  credentialCheck,
  live,
  batch,
  failures,
};
