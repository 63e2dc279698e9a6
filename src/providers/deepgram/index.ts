// Deepgram: the Nova family live and for files, and Flux, which makes its own turns, live.
import type { Provider } from '../provider.ts';
import { credentialCheck } from './api.ts';
import { batch } from './batch.ts';
import { failures } from './failures.ts';
import { live } from './live.ts';
import { models } from './models.ts';
import { options } from './options.ts';

export const deepgram: Provider = {
  name: 'deepgram',
  title: 'Deepgram',
  models,
  options: options.schema,
  honours: options.honours,
  optionRows: options.rows,
  credential: 'required',
  credentialCheck,
  live,
  batch,
  failures: failures.rows,
};
