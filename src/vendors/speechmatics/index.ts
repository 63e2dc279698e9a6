// Speechmatics: Enhanced and Standard, live and for files.
import { regionalKeyForm } from '../kit/credentials.ts';
import type { Provider } from '../kit/provider.ts';
import { batch } from './batch.ts';
import { failures } from './failures.ts';
import { live } from './live.ts';
import { credentialCheck, ENDPOINTS, languageOf, models } from './models.ts';
import { options } from './options.ts';
import { usageReports } from './usage-report.ts';

export const speechmatics: Provider = {
  name: 'speechmatics',
  title: 'Speechmatics',
  models,
  ...options.members,
  heardAs: (language) => languageOf(language).output_locale ?? language.split('-')[0] ?? language,
  credential: 'required',
  credentialForm: regionalKeyForm(ENDPOINTS.names),
  endpoints: ENDPOINTS,
  credentialCheck,
  usageReports,
  live: () => live,
  batch,
  failures: failures.rows,
};
