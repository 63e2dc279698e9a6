// What a gateway is set up with, as it tells whoever runs it.
import type { SetUp } from '../../../../api/console/status.ts';
import type { Provider } from '../../../../providers/provider.ts';

export function providersOf(
  providers: ReadonlyMap<string, Provider>,
  hasService: (provider: string) => boolean,
): SetUp['providers'] {
  return [...providers.values()].map(({ name, title, credential }) => ({
    name,
    title,
    needs_key: credential === 'required',
    is_usable: hasService(name),
  }));
}
