// Mistral: Voxtral, live by its own realtime protocol, and for files.
import { regionalKeyForm } from '../kit/credentials.ts';
import type { Provider } from '../kit/provider.ts';
import { batch } from './batch.ts';
import { failures } from './failures.ts';
import { live } from './live.ts';
import { credentialCheck, ENDPOINTS, models } from './models.ts';
import { options } from './options.ts';

export const mistral: Provider = {
  name: 'mistral',
  title: 'Mistral',
  models,
  ...options.members,
  credential: 'required',
  credentialForm: regionalKeyForm(ENDPOINTS.names),
  endpoints: ENDPOINTS,
  credentialCheck,
  live: () => live,
  batch,
  failures: failures.rows,
};
