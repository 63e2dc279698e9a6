// Amazon Transcribe, live.
import { awsForm } from '../kit/credentials.ts';
import type { Provider } from '../kit/provider.ts';
import { credentialCheck, ENDPOINTS } from './api.ts';
import { failures } from './failures.ts';
import { live } from './live.ts';
import { localeOf, models } from './models.ts';
import { options } from './options.ts';

export const aws: Provider = {
  name: 'aws',
  title: 'Amazon Transcribe',
  models,
  ...options.members,
  heardAs: localeOf,
  credential: 'required',
  credentialForm: awsForm,
  endpoints: ENDPOINTS,
  credentialCheck,
  live: () => live,
  batch: undefined,
  failures: failures.rows,
};
