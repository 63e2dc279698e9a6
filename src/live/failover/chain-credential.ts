// Whose credential a member of a chain runs on: the organisation's own key where it has one, else the service's. Nobody falls
// from an own key to the service's unless the request names the service's account.
import type { LegFailure } from '../../../machines/events.ts';
import type { ErrorCode } from '../../api/errors.ts';
import type { Candidate } from '../../api/listen.ts';
import type { Mode } from '../../api/models.ts';
import { isCustom } from '../../api/slug.ts';
import { apiKeyVariable, urlVariable } from '../../config/fields.ts';
import type { CredentialFields } from '../../vendors/kit/credentials.ts';
import { ownAddress } from '../../vendors/kit/places.ts';
import type { Provider, ProviderAccess } from '../../vendors/kit/provider.ts';
import { isServed, needOf } from '../../vendors/kit/served.ts';

/** The credential of the gateway's operator. */
export const SERVICE_CREDENTIAL = 'service';

/** An organisation's own key for a provider, as the vault knows it. */
export interface OwnKey {
  id: string;
  /** Nothing is dialled with it: it was refused too often, or in a test. */
  barred: boolean;
  /** Its members that are no secret; undefined where nobody noted them. */
  fields?: CredentialFields | undefined;
}

export type OwnKeyOf = (organisationId: string, provider: string) => Promise<OwnKey | undefined>;

export interface CandidateCredential {
  credentialId: string;
  own: boolean;
  barred: true | undefined;
  /** Where it is dialled, as far as that is known before. */
  access: ProviderAccess;
}

export interface CredentialDependencies {
  /** The service's own access. */
  access(provider: string): ProviderAccess;
  /** The organisation's own key for a provider, if it has one. Absent: there is no vault. */
  ownKeyOf?: OwnKeyOf;
  /** Whether the service has what it takes to use it, here or on the node that would. Absent: here. */
  hasService?(provider: string, mode: Mode): boolean;
}

/** Of a key that was saved before its region was noted: no rule is kept with it until it is saved again. */
const UNKNOWN_FIELDS: CredentialFields = { region: 'unknown' };

/** Where an own key is dialled, as far as that is known without opening it. */
export const knownOf = ({ fields = UNKNOWN_FIELDS }: OwnKey, ofService: ProviderAccess): ProviderAccess => ({
  ...ownAddress(ofService),
  credential: undefined,
  fields,
});

/** A member that cannot be used, since there is no credential of the kind it needs, or no price: why, and what to do. */
export interface Unusable {
  code: Extract<ErrorCode, 'upstream_not_configured' | 'model_not_priced' | 'invalid_request'>;
  why: string;
  remedy: string;
  /** It is there, but not for what is asked. */
  otherMode?: true;
}

export async function credentialOf(
  { credential: wanted }: Candidate,
  provider: Provider,
  { mode, organisationId }: { mode: Mode; organisationId: string },
  { access, ownKeyOf, hasService }: CredentialDependencies,
): Promise<CandidateCredential | Unusable> {
  const { name, title } = provider;
  const isKeyed = provider.credential === 'required';
  const own = isKeyed && wanted !== 'service' ? await ownKeyOf?.(organisationId, name) : undefined;
  if (own !== undefined) {
    const { id, barred } = own;
    return { credentialId: id, own: true, barred: barred || undefined, access: knownOf(own, access(name)) };
  }
  if (wanted === 'own') {
    return {
      code: 'invalid_request',
      why: `The request asks for your own key for ${title}, but none is saved.`,
      remedy: 'Save one in the console (provider keys), or leave `credential` out.',
    };
  }
  const need = needOf(provider);
  if (need === 'nothing' || (hasService?.(name, mode) ?? isServed(provider, access(name)))) {
    const known = { ...access(name), credential: undefined };
    return { credentialId: SERVICE_CREDENTIAL, own: false, barred: undefined, access: known };
  }
  if (need === 'address' && isCustom(name)) {
    return {
      code: 'upstream_not_configured',
      why: `No node that opens connections has ${title} in its configuration.`,
      remedy: 'Its operator can give all nodes the same servers, or name another model.',
    };
  }
  if (need === 'address') {
    return {
      code: 'upstream_not_configured',
      why: `The gateway has no server for ${title}.`,
      remedy: `Its operator can set ${urlVariable(name)} to the address of one, or name another model.`,
    };
  }
  const ownKey =
    ownKeyOf === undefined || wanted === 'service'
      ? ''
      : ', you can save a key of your own in the console (provider keys)';
  return {
    code: 'upstream_not_configured',
    why: `The gateway has no credential for ${title}.`,
    remedy: `Its operator can set ${apiKeyVariable(name)}${ownKey}, or name another model.`,
  };
}

/** What a customer is told of its own key, and what to do. */
export const ownKeyWords = (title: string, why: string): string =>
  `Your own key for ${title} cannot be used. ${why} The gateway's account was not used in its place. Save a good key in the console, or remove this one.`;

/** The same of a failure, when it is the own key's fault. */
export function ownKeyFailure(
  member: { own: boolean; provider: Pick<Provider, 'title'> } | undefined,
  { kind, message }: Pick<LegFailure, 'kind' | 'message'>,
): string | undefined {
  return member?.own === true && kind === 'account' ? ownKeyWords(member.provider.title, message) : undefined;
}
