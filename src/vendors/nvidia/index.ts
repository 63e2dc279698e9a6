// NVIDIA Riva: models on your own server (NIM), or in NVIDIA's cloud, live by gRPC; files go through the live codec.

import { regional } from '../kit/languages/whisper-languages.ts';
import type { Provider } from '../kit/provider.ts';
import { failures } from './failures.ts';
import { live } from './live.ts';
import { models } from './models.ts';
import { options } from './options.ts';
import { streamingRecognize } from './proto.ts';

export const nvidia: Provider = {
  name: 'nvidia',
  title: 'NVIDIA Riva',
  models,
  ...options.members,
  heardAs: regional,
  credential: 'none',
  address: 'configured',
  live: () => live,
  calls: [streamingRecognize],
  batch: { kind: 'live' },
  failures: failures.rows,
};
