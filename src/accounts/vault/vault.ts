// The customers' own provider keys: checked, tested, sealed and kept; opened for one connection at a time. What becomes of a
// key is the provider-key chart's decision; whose key a session runs on is decided in src/live/session.
import { Value } from '@sinclair/typebox/value';
import type { Clock } from '../../../machines/clock.ts';
import { apiError, printable } from '../../api/errors.ts';
import { nearestSlugs } from '../../api/slug.ts';
import { uuidv7 } from '../../runtime/uuid.ts';
import type { Actor } from '../../store/audit-log.ts';
import {
  accessOf,
  apiKeyForm,
  type CredentialFields,
  type CredentialForm,
  lastFourOf,
  shownFields,
} from '../../vendors/kit/credentials.ts';
import type { CredentialVerdict, Provider, ProviderAccess } from '../../vendors/kit/provider.ts';
import { type Binding, CANARY_BINDING, type KeyRing, kekIdOf, open, reseal, seal, VaultError } from './key-ring.ts';
import { isBarred, KeyUses, type OwnKey, OwnKeys, ownKeyOf } from './own-keys.ts';
import type { CheckOutcome, ProviderKey, Resealed, VaultStore } from './store.ts';

export interface VaultOptions {
  store: Pick<
    VaultStore,
    | 'saveProviderKey'
    | 'listProviderKeys'
    | 'findProviderKey'
    | 'readSealedProviderKey'
    | 'noteProviderKeyCheck'
    | 'noteProviderKeyUse'
    | 'removeProviderKey'
  >;
  keyRing: KeyRing;
  providers: ReadonlyMap<string, Provider>;
  /** As configured: where the provider is reached on this node, and where that lies. */
  addressOf(provider: string): Pick<ProviderAccess, 'baseUrl' | 'place'>;
  /** Asks the provider whether it accepts a credential. Never rejects. */
  check(provider: Provider, access: ProviderAccess): Promise<CredentialVerdict>;
  clock: Clock;
  /** Wall-clock milliseconds. */
  wallNow(): number;
  onFault(name: string, error: unknown): void;
}

export interface NewKey {
  provider: string;
  name: string;
  /** By the provider's form. */
  fields: unknown;
}

/** What was done, and what the customer should hear of it. */
export interface KeptKey {
  key: ProviderKey;
  warning: string | undefined;
}

export interface Vault {
  /**
   * Tests a key and keeps it, in the place of the organisation's former one for the provider. Throws an ApiError when the fields
   * have not the provider's form, or the provider refuses the key: nothing is kept then.
   */
  save(organisationId: string, key: NewKey, by: Actor): Promise<KeptKey>;
  list(organisationId: string): Promise<ProviderKey[]>;
  /** Tests a kept key. Throws an ApiError `not_found`. */
  test(organisationId: string, keyId: string, by: Actor): Promise<KeptKey>;
  /** Throws an ApiError `not_found`. */
  remove(organisationId: string, keyId: string, by: Actor): Promise<void>;
  /** What requests of the organisation run on, if it has a key of its own. Throws an ApiError when that cannot be found out. */
  ownKeyOf(organisationId: string, provider: string): Promise<OwnKey | undefined>;
  /** The secret, for one connection. Rejects unless the key is this organisation's, for this provider, and in use. */
  open(provider: string, keyId: string, organisationId: string): Promise<ProviderAccess>;
  /** Reports how a session or file on a key went. Does not block. */
  noteUse(keyId: string, outcome: 'accepted' | 'refused'): void;
}

export function createVault(options: VaultOptions): Vault {
  const { store, keyRing, providers, addressOf, clock, onFault } = options;
  const ownKeys = new OwnKeys(clock, async (organisationId, provider) => {
    const key = await store.findProviderKey(organisationId, provider);
    return key === undefined ? undefined : ownKeyOf(key);
  });
  const changed = ({ organisationId, provider }: ProviderKey) => ownKeys.forget(organisationId, provider);
  const uses = new KeyUses(store, clock, { changed, onFault });

  async function outcomeOf(provider: Provider, access: ProviderAccess): Promise<CheckOutcome> {
    const verdict = await options.check(provider, access);
    return verdict === 'unknown' ? 'unanswered' : verdict;
  }

  async function opened(provider: string, keyId: string, organisationId: string, mayBeBarred: boolean) {
    const row = await store.readSealedProviderKey(keyId);
    const known = providers.get(provider);
    if (row === undefined || known === undefined || row.organisationId !== organisationId || row.provider !== provider)
      throw new VaultError(`There is no provider key ${keyId}.`);
    if (!mayBeBarred && isBarred(row)) throw new VaultError(`The provider key ${keyId} is out of use.`);
    try {
      const fields = JSON.parse(open(keyRing, row, row.sealed)) as CredentialFields;
      return accessOf(formOf(known), addressOf(provider), fields);
    } catch (error) {
      const failure = error instanceof VaultError ? error : new VaultError('The text is no credential.');
      onFault('openProviderKey', new VaultError(`The provider key ${keyId} does not open. ${failure.message}`));
      throw failure;
    }
  }

  return {
    async save(organisationId, { provider: name, name: keyName, fields }, by) {
      const provider = keyedProvider(providers, name);
      const form = formOf(provider);
      const given = fieldsOf(form, provider, fields);
      const check = await outcomeOf(provider, accessOf(form, addressOf(name), given));
      if (check === 'refused') throw notAccepted(provider);
      const binding = { id: `pk_${uuidv7(options.wallNow())}`, organisationId, provider: name };
      const sealed = seal(keyRing, binding, JSON.stringify(given));
      const lastFour = lastFourOf(form, given);
      const shown = shownFields(form, given);
      const key = await store.saveProviderKey(
        { ...binding, name: keyName, sealed, lastFour, fields: shown, check },
        by,
      );
      changed(key);
      return { key, warning: check === 'unanswered' ? untestedWords(provider) : undefined };
    },

    list: (organisationId) => store.listProviderKeys(organisationId),

    async test(organisationId, keyId, by) {
      const listed = await store.listProviderKeys(organisationId);
      const found = listed.find(({ id }) => id === keyId);
      if (found === undefined) throw noSuchKey();
      const provider = keyedProvider(providers, found.provider);
      const outcome = await outcomeOf(provider, await opened(found.provider, keyId, organisationId, true));
      const key = await store.noteProviderKeyCheck(organisationId, keyId, outcome, by);
      if (key === undefined) throw noSuchKey();
      uses.forget(keyId);
      changed(key);
      return { key, warning: outcome === 'unanswered' ? untestedWords(provider) : undefined };
    },

    async remove(organisationId, keyId, by) {
      const removed = await store.removeProviderKey(organisationId, keyId, by);
      if (removed === undefined) throw noSuchKey();
      uses.forget(keyId);
      changed(removed);
    },

    async ownKeyOf(organisationId, provider) {
      try {
        return await ownKeys.of(organisationId, provider);
      } catch (error) {
        onFault('findProviderKey', error);
        // To continue without knowing would be to continue at the service's expense, or the customer's.
        throw apiError('overloaded', 'Your provider keys cannot be looked up right now. Try again shortly.');
      }
    },

    open: (provider, keyId, organisationId) => opened(provider, keyId, organisationId, false),
    noteUse: (keyId, outcome) => uses.note(keyId, outcome),
  };
}

const formOf = ({ credentialForm = apiKeyForm }: Provider): CredentialForm => credentialForm;

function keyedProvider(providers: ReadonlyMap<string, Provider>, name: string): Provider {
  const provider = providers.get(name);
  if (provider?.credential === 'required') return provider;
  const known = [...providers.values()].filter(({ credential }) => credential === 'required').map((each) => each.name);
  const [nearest] = nearestSlugs(name, known, 1);
  const hint = provider !== undefined || nearest === undefined ? '' : ` Did you mean ${nearest}?`;
  const what = provider === undefined ? `There is no provider "${printable(name)}"` : `${provider.title} needs no key`;
  throw apiError('invalid_request', `${what}.${hint} Keys are kept for ${known.join(', ')}.`, { param: 'provider' });
}

/** Says which member is wrong, and never what it was. */
function fieldsOf(form: CredentialForm, { title }: Provider, fields: unknown): CredentialFields {
  const fault = Value.Errors(form, fields).First();
  if (fault === undefined) return fields as CredentialFields;
  const [name = ''] = fault.path.slice(1).split('/');
  const schema = Object.hasOwn(form.properties, name) ? form.properties[name] : undefined;
  const members = Object.entries(form.properties).map(
    ([member, { description }]) => `${member} (${description ?? ''})`,
  );
  const wrong =
    schema === undefined ? '`fields` has not the form of the credential' : `\`fields.${name}\` is missing or is none`;
  throw apiError('invalid_request', `${wrong}. ${title} takes ${members.join(', ')}`, {
    param: schema === undefined ? 'fields' : `fields.${name}`,
  });
}

const notAccepted = ({ title }: Provider) =>
  apiError(
    'invalid_request',
    `${title} does not accept this key, so it was not saved. Check that it is whole, and in force.`,
    {
      param: 'fields',
    },
  );

const noSuchKey = () =>
  apiError('not_found', 'There is no such provider key. The list of your provider keys names them.');

const untestedWords = ({ title }: Provider): string =>
  `${title} could not be asked whether it accepts the key. It is used all the same; test it again, or see how a session goes.`;

// Moves the vault to its current key: every data key is sealed again, all of them or none.
export interface Rotation {
  /** Provider keys that were, or would be, moved. */
  moved: number;
  /** Those that had the current key already. */
  current: number;
}

type RotationStore = Pick<VaultStore, 'listSealedProviderKeys' | 'vaultCanary' | 'resealVault'>;

/**
 * Moves everything that is sealed to the current key. Provider keys do not change: only what seals them.
 *
 * @throws VaultError naming the first one that does not open, or that was changed meanwhile; nothing has changed then
 */
export async function rotateVault(store: RotationStore, ring: KeyRing, by: Actor, dryRun: boolean): Promise<Rotation> {
  const [rows, canary] = [await store.listSealedProviderKeys(), await store.vaultCanary()];
  const texts: Resealed[] = [];
  const add = (id: string | null, binding: Binding, from: string) => {
    const to = resealed(ring, binding, from);
    if (to !== from) texts.push({ id, from, to });
  };
  for (const row of rows) add(row.id, row, row.sealed);
  const moved = texts.length;
  if (canary !== undefined) add(null, CANARY_BINDING, canary);
  if (!dryRun && texts.length > 0) await store.resealVault(ring.current.id, texts, by);
  return { moved, current: rows.length - moved };
}

function resealed(ring: KeyRing, binding: Binding, sealed: string): string {
  try {
    return reseal(ring, binding, sealed);
  } catch (error) {
    if (!(error instanceof VaultError)) throw error;
    throw new VaultError(
      `Nothing was changed: ${binding.id} under the key ${kekIdOf(sealed) ?? '?'} does not open. ${error.message}`,
    );
  }
}
