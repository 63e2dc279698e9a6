// What a gateway is set up with, as it tells whoever runs it.
import type { SetUp } from '../../../api/console/gateway.ts';
import type { Provider } from '../../../vendors/provider.ts';
import { needOf } from '../../../vendors/served.ts';

export function providersOf(
  providers: ReadonlyMap<string, Provider>,
  hasService: (provider: string) => boolean,
): SetUp['providers'] {
  return [...providers.values()].map((provider) => {
    const { name, title } = provider;
    return { name, title, needs: needOf(provider), is_usable: hasService(name) };
  });
}
