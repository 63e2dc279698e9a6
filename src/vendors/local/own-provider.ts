// The embedded recogniser with the speech models of an operator.
import type { Provider } from '../kit/provider.ts';
import { local } from './index.ts';
import { live, liveOf } from './live.ts';
import { ownCards } from './models.ts';
import type { LocalModel } from './own-model.ts';

/** With models of the operator's own beside those of the package. */
export function localWith(own: readonly LocalModel[]): Provider {
  if (own.length === 0) return local;
  const byName = new Map(own.map((model) => [model.name, model]));
  return {
    ...local,
    models: [...local.models, ...ownCards(own)],
    live: (name) => {
      const model = byName.get(name);
      return model === undefined ? live : liveOf(model);
    },
  };
}
