// AssemblyAI: Universal-Streaming, Universal-3 and Whisper over the v3 WebSocket, files as v2 jobs.
import { regionalKeyForm } from '../kit/credentials.ts';
import type { Provider } from '../kit/provider.ts';
import { credentialCheck, ENDPOINTS, heardAs } from './api.ts';
import { batch } from './batch.ts';
import { failures } from './failures.ts';
import { live } from './live.ts';
import { models } from './models.ts';
import { options } from './options.ts';

export const assemblyai: Provider = {
  name: 'assemblyai',
  title: 'AssemblyAI',
  models,
  ...options.members,
  heardAs,
  credential: 'required',
  credentialForm: regionalKeyForm(ENDPOINTS.names),
  endpoints: ENDPOINTS,
  credentialCheck,
  live: () => live,
  batch,
  failures: failures.rows,
};
