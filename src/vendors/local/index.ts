// The embedded recogniser as a provider: real speech to text with no key, no network and no model download. It hears what a
// grammar allows, or places the words of a known text; it takes no open dictation.
import type { Provider } from '../kit/provider.ts';
import { failures } from './failures.ts';
import { live } from './live.ts';
import { AlignOptions, GrammarOptions, models } from './models.ts';

export const local: Provider = {
  name: 'local',
  title: 'Embedded recogniser',
  models,
  options: (model) => (model.startsWith('align-') ? AlignOptions : GrammarOptions),
  credential: 'none',
  live: () => live,
  // So that both modes give the same words and times.
  batch: { kind: 'live' },
  failures: failures.rows,
};
