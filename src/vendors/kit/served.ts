// What the operator of a gateway has to give before its customers can use a provider.
import type { Provider, ProviderAccess } from './provider.ts';

export type Need = 'key' | 'address' | 'nothing';

/** A provider that people run themselves is nowhere until its address is told. */
export const needOf = ({ credential, address }: Pick<Provider, 'credential' | 'address'>): Need => {
  if (address === 'configured') return 'address';
  return credential === 'required' ? 'key' : 'nothing';
};

/** Whether the service's own access is all it takes. */
export function isServed(provider: Pick<Provider, 'credential' | 'address'>, access: ProviderAccess): boolean {
  const need = needOf(provider);
  return need === 'nothing' || (need === 'key' ? (access.credential ?? access.fields) : access.baseUrl) !== undefined;
}
