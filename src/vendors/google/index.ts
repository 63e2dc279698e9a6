// Google Cloud Speech-to-Text v2, live by gRPC and for short files.
import type { Provider } from '../kit/provider.ts';
import { authorize, credentialCheck, credentialForm, ENDPOINTS } from './api.ts';
import { batch } from './batch.ts';
import { tagOf } from './config.ts';
import { failures } from './failures.ts';
import { live } from './live.ts';
import { models } from './models.ts';
import { options } from './options.ts';
import { streamingRecognize } from './proto.ts';

export const google: Provider = {
  name: 'google',
  title: 'Google Cloud',
  models,
  ...options.members,
  heardAs: tagOf,
  credential: 'required',
  credentialForm,
  endpoints: ENDPOINTS,
  authorize,
  credentialCheck,
  live: () => live,
  calls: [streamingRecognize],
  batch,
  failures: failures.rows,
};
