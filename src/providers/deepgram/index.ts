// Deepgram: the Nova family live and for files, and Flux, which makes its own turns, live.
import type { Provider } from '../provider.ts';
import { batch } from './batch.ts';
import { credentialCheck } from './credential-check.ts';
import { failures } from './failures.ts';
import { live } from './live.ts';
import { models } from './models.ts';
import { honours, optionsOf } from './options.ts';

export const deepgram: Provider = {
  name: 'deepgram',
  title: 'Deepgram',
  models,
  options: optionsOf,
  honours,
  credential: 'required',
  credentialCheck,
  live,
  batch,
  failures,
};
