// ElevenLabs: Scribe live, with turns that the gateway ends, and for files.
import { regionalKeyForm } from '../kit/credentials.ts';
import type { Provider } from '../kit/provider.ts';
import { credentialCheck, ENDPOINTS } from './api.ts';
import { batch } from './batch.ts';
import { failures } from './failures.ts';
import { live } from './live.ts';
import { models } from './models.ts';
import { options } from './options.ts';

export const elevenlabs: Provider = {
  name: 'elevenlabs',
  title: 'ElevenLabs',
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
