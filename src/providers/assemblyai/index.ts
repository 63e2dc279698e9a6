// AssemblyAI: Universal-Streaming, Universal-3 and Whisper over the v3 WebSocket, files as v2 jobs.
import type { Provider } from '../provider.ts';
import { batch } from './batch.ts';
import { credentialCheck } from './credential-check.ts';
import { failures } from './failures.ts';
import { live } from './live.ts';
import { models } from './models.ts';
import { honours, optionsOf } from './options.ts';

export const assemblyai: Provider = {
  name: 'assemblyai',
  title: 'AssemblyAI',
  models,
  options: optionsOf,
  honours,
  fileOptions: ['audio_start_from', 'audio_end_at', 'multichannel'],
  credential: 'required',
  credentialCheck,
  live,
  batch,
  failures,
};
