// OpenAI: files by `/v1/audio/transcriptions`, live by transcription sessions of the Realtime API.
import { regionalKeyForm } from '../kit/credentials.ts';
import type { Provider } from '../kit/provider.ts';
import { batch } from './batch.ts';
import { failures } from './failures.ts';
import { live } from './live.ts';
import { credentialCheck, ENDPOINTS, models } from './models.ts';
import { options } from './options.ts';
import { usageReports } from './usage-report.ts';

export const openai: Provider = {
  name: 'openai',
  title: 'OpenAI',
  models,
  ...options.members,
  credential: 'required',
  credentialForm: regionalKeyForm(ENDPOINTS.names),
  endpoints: ENDPOINTS,
  credentialCheck,
  usageReports,
  live: () => live,
  batch,
  failures: failures.rows,
};
