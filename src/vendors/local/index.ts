// The embedded recogniser as a provider: speech to text with no key, no network and no download. It takes open English speech, what a
// grammar allows, or places the words of a known text.
import type { TObject } from '@sinclair/typebox';
import type { Provider } from '../kit/provider.ts';
import { failures } from './failures.ts';
import { isGrammar, live } from './live.ts';
import { AlignOptions, DictationOptions, GrammarOptions, models } from './models.ts';

export const local: Provider = {
  name: 'local',
  title: 'Embedded recogniser',
  models,
  options: optionsOf,
  credential: 'none',
  live: () => live,
  // So that both modes give the same words and times.
  batch: { kind: 'live' },
  failures: failures.rows,
};

function optionsOf(model: string): TObject {
  if (!isGrammar(model)) return DictationOptions;
  return model.startsWith('align-') ? AlignOptions : GrammarOptions;
}
