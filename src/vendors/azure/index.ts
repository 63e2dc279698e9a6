// Azure: the speech service, live and for files.
import { azureForm } from '../kit/credentials.ts';
import type { Provider } from '../kit/provider.ts';
import { credentialCheck, ENDPOINTS } from './api.ts';
import { batch } from './batch.ts';
import { failures } from './failures.ts';
import { live } from './live.ts';
import { localeOf, models } from './models.ts';
import { options } from './options.ts';

export const azure: Provider = {
  name: 'azure',
  title: 'Azure Speech',
  models,
  ...options.members,
  heardAs: (language) => localeOf(language) ?? language,
  credential: 'required',
  credentialForm: azureForm,
  endpoints: ENDPOINTS,
  credentialCheck,
  live: () => live,
  batch,
  failures: failures.rows,
};
