// The scripted provider: template for newcomers, offline demonstration, load and failures on demand.
import type { Provider } from '../kit/provider.ts';
import { failures } from './failures.ts';
import { live } from './live.ts';
import { models } from './models.ts';
import { NumberedOptions, ScriptOptions } from './options.ts';

export const loopback: Provider = {
  name: 'loopback',
  title: 'Loopback',
  models,
  heardAs: (language) => language,
  options: (model) => (model === 'numbered' ? NumberedOptions : ScriptOptions),
  credential: 'none',
  live: () => live,
  batch: { kind: 'live' },
  failures: failures.rows,
};
