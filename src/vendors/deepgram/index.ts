// Deepgram: the Nova family live and for files, and Flux, which makes its own turns, live.
import { regionalKeyForm } from '../kit/credentials.ts';
import type { Provider } from '../kit/provider.ts';
import { credentialCheck, ENDPOINTS } from './api.ts';
import { batch } from './batch.ts';
import { failures } from './failures.ts';
import { live } from './live.ts';
import { fluxHint, isFlux, models, novaLanguage } from './models.ts';
import { options } from './options.ts';
import { usageReports } from './usage-report.ts';

export const deepgram: Provider = {
  name: 'deepgram',
  title: 'Deepgram',
  models,
  ...options.members,
  heardAs: (tag, model) => (isFlux(model) ? fluxHint(tag) : novaLanguage(tag, model)) ?? tag,
  credential: 'required',
  credentialForm: regionalKeyForm(ENDPOINTS.names),
  endpoints: ENDPOINTS,
  credentialCheck,
  usageReports,
  live,
  batch,
  failures: failures.rows,
};
