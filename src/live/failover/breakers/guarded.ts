// What a breaker guards: a model under a credential, at an endpoint, for everybody or for one organisation.
import { SERVICE_CREDENTIAL } from '../chain-credential.ts';

/** A model under a credential. */
export interface Guarded {
  slug: string;
  /** Which credential: `service`, or the id of a customer's own. Never the credential itself. */
  credentialId: string;
  /** Where a rule has chosen it: one region's trouble says nothing of another. */
  endpoint?: string;
  /** Who uses it. Absent: what is known of it holds for every organisation. */
  organisationId?: string;
}

/** Whether several organisations use the credential. */
export const isShared = ({ credentialId }: Guarded): boolean => credentialId === SERVICE_CREDENTIAL;
/** Whether one organisation has a breaker of its own there. */
export const isPrivate = ({ credentialId, organisationId }: Guarded): boolean =>
  credentialId !== SERVICE_CREDENTIAL || organisationId !== undefined;

export const sharedOf = ({ organisationId: _, ...guarded }: Guarded): Guarded => guarded;

/** One text for a model under a credential, at an endpoint. */
export const keyOf = ({ slug, credentialId, endpoint }: Guarded): string =>
  [slug, credentialId, ...(endpoint === undefined ? [] : [endpoint])].join(' ');

/** A customer's own key is one organisation's already. */
export const privateKeyOf = (guarded: Guarded): string =>
  isShared(guarded) ? `${keyOf(guarded)} of ${guarded.organisationId}` : keyOf(guarded);
