// What a gateway is set up with, as its first page tells whoever runs it.
import { modelOf } from '../../../api/slug.ts';
import type { Provider } from '../../../providers/provider.ts';

export interface SetUp {
  /** Every provider, and whether the service has what it takes to use it. */
  providers: readonly { name: string; title: string; needsKey: boolean; isUsable: boolean }[];
  /** Models that the page can speak to without any provider's key. */
  ownModels: readonly { id: string; name: string }[];
  /** Where mails go: to a server, to a page of this machine, or nowhere. */
  mail: 'server' | 'outbox' | 'nowhere';
  /** Who speaks TLS: this process, a proxy in front of it, or nobody. */
  tls: 'here' | 'proxy' | 'nobody';
}

export function providersOf(
  providers: ReadonlyMap<string, Provider>,
  hasService: (provider: string) => boolean,
): Pick<SetUp, 'providers' | 'ownModels'> {
  const all = [...providers.values()];
  // Some want to be told the words first.
  const isPlain = (id: string) => (providers.get('local')?.options(modelOf(id)).required ?? []).length === 0;
  return {
    providers: all.map(({ name, title, credential }) => ({
      name,
      title,
      needsKey: credential === 'required',
      isUsable: hasService(name),
    })),
    ownModels: (providers.get('local')?.models ?? []).filter(({ id, modes }) => modes.includes('live') && isPlain(id)),
  };
}
