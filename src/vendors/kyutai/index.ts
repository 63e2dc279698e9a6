// Kyutai: its model on a moshi-server of one's own, live; files go through the live codec.
import type { Provider } from '../kit/provider.ts';
import { failures } from './failures.ts';
import { live } from './live.ts';
import { models, options } from './models.ts';

export const kyutai: Provider = {
  name: 'kyutai',
  title: 'Kyutai',
  models,
  ...options.members,
  credential: 'none',
  address: 'configured',
  live: () => live,
  batch: { kind: 'live' },
  failures: failures.rows,
};
