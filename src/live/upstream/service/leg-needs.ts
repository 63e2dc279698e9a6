// What of a request for a leg decides which nodes can open it.
import type { OpenLeg } from '../../../../machines/events.ts';
import { providerOf } from '../../../api/slug.ts';
import type { LegNeeds } from '../../../cluster/placement.ts';
import { SERVICE_CREDENTIAL } from '../../failover/chain-credential.ts';

export const needsOf = ({ slug, credentialId }: Pick<OpenLeg, 'slug' | 'credentialId'>): LegNeeds => ({
  provider: providerOf(slug),
  ownKey: credentialId !== SERVICE_CREDENTIAL,
});
