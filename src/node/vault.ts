// The vault of a node: its keys are there and the right ones, or the node does not start; and whose credential a connection
// to a provider is made with.

import { loadKeyRing } from '../accounts/vault/key-ring.ts';
import { createVault, type Vault } from '../accounts/vault/vault.ts';
import { SERVICE_CREDENTIAL } from '../live/failover/chain-credential.ts';
import { checkCredential } from '../live/upstream/credential-check.ts';
import { HttpPools } from '../live/upstream/http/pools.ts';
import type { UpstreamDependencies } from '../live/upstream/leg-connection.ts';
import { ownAddress } from '../vendors/kit/places.ts';
import type { Provider, ProviderAccess } from '../vendors/kit/provider.ts';
import { type Assembly, serviceAccess } from './context.ts';

/** Test calls at a time: each has a connection of its own for as long. */
const CHECKS_MAX = 8;

export interface OpenedVault {
  vault: Vault;
  /** The service's access at once, an organisation's own when its key was opened. */
  access: UpstreamDependencies['access'];
}

/** The vault of the node that keeps the accounts, as another one has it. */
export const openRemoteVault = (assembly: Assembly, vault: Vault): OpenedVault => ({
  vault,
  access: accessWith(assembly, vault),
});

/** The service's own access, or what the vault opens, as the provider is shown it. */
function accessWith(assembly: Pick<Assembly, 'config' | 'providers'>, vault: Vault): OpenedVault['access'] {
  const ofService = serviceAccess(assembly);
  return (name, credentialId, organisationId) => {
    const provider = assembly.providers.get(name);
    if (credentialId === SERVICE_CREDENTIAL) return authorized(provider, ofService(name));
    return vault.open(name, credentialId, organisationId).then((access) => authorized(provider, access));
  };
}

const authorized = (provider: Provider | undefined, access: ProviderAccess): ProviderAccess =>
  provider?.authorize?.(access, Date.now()) ?? access;

/** @throws VaultError or SecretError with one sentence for the operator */
export async function openVault({
  config,
  providers,
  logger,
  clock,
  store,
  defer,
}: Pick<Assembly, 'config' | 'providers' | 'logger' | 'clock' | 'store' | 'defer'>): Promise<OpenedVault> {
  const ofService = serviceAccess({ config, providers });
  const { directory, vaultKey, vaultKeyPrevious } = config.data;
  const keyRing = await loadKeyRing({ store, current: vaultKey, previous: vaultKeyPrevious, directory });
  const pools = new HttpPools({ connectionsMax: CHECKS_MAX, share: 1 });
  defer(() => pools.close());
  const vault = createVault({
    store,
    keyRing,
    providers,
    addressOf: (provider) => ownAddress(ofService(provider)),
    check: async (provider, access) => checkCredential(provider, authorized(provider, access), { pools, clock }),
    clock,
    wallNow: () => Date.now(),
    onFault: (action, error) => logger.error({ action, err: error }, 'vault fault'),
  });
  return { vault, access: accessWith({ config, providers }, vault) };
}
