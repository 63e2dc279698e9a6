// The organisations' own provider keys: shapes and promises. The secrets are sealed before they come here (src/vault); what
// becomes of a key is the provider-key chart's decision.
import type { ProviderKeyState } from '../../../machines/provider-key.ts';
import type { Actor } from '../audit-log/calls.ts';
import { first, notes, type Operations, reads, writes } from '../operation.ts';

export type { ProviderKeyState };

/** A provider key as it may be shown. */
export interface ProviderKey {
  /** `pk_…` */
  id: string;
  organisationId: string;
  provider: string;
  name: string;
  /** The last characters of the secret, at most four. */
  lastFour: string;
  /** Members that are no secret; null where they were not noted. */
  fields: Readonly<Record<string, string>> | null;
  state: ProviderKeyState;
  /** Refusals in a row. */
  failures: number;
  /** ISO 8601 UTC. */
  createdAt: string;
  testedAt: string | null;
  /** To the minute. */
  usedAt: string | null;
}

/** What a test call came to. `unanswered`: the provider could not be asked, or said nothing of the key. */
export type CheckOutcome = 'accepted' | 'refused' | 'unanswered';

export interface NewProviderKey {
  id: string;
  organisationId: string;
  provider: string;
  name: string;
  sealed: string;
  lastFour: string;
  /** Members that are no secret. */
  fields: Readonly<Record<string, string>>;
  /** Of the test before it is saved; one that was refused is not saved. */
  check: Exclude<CheckOutcome, 'refused'>;
}

/** A sealed text with what it is bound to. */
export interface SealedProviderKey {
  id: string;
  organisationId: string;
  provider: string;
  sealed: string;
}

/** A sealed text in the place of another. */
export interface Resealed {
  /** Of a provider key, or null for the canary. */
  id: string | null;
  from: string;
  to: string;
}

export interface VaultCalls {
  /** Saves a key; the organisation's former one for the provider is gone with it. Throws `not_found`, `invalid`. */
  saveProviderKey(key: NewProviderKey, by: Actor): ProviderKey;
  /** By provider. */
  listProviderKeys(organisationId: string): ProviderKey[];
  findProviderKey(organisationId: string, provider: string): ProviderKey | undefined;
  readSealedProviderKey(keyId: string): (SealedProviderKey & { state: ProviderKeyState }) | undefined;
  /** Undefined when the organisation has no such key. */
  noteProviderKeyCheck(
    organisationId: string,
    keyId: string,
    outcome: CheckOutcome,
    by: Actor,
  ): ProviderKey | undefined;
  /** What became of a session or a file that ran on the key. Undefined when there is no such key. */
  noteProviderKeyUse(keyId: string, outcome: 'accepted' | 'refused'): ProviderKey | undefined;
  /** The key that is gone; undefined when the organisation has no such key. */
  removeProviderKey(organisationId: string, keyId: string, by: Actor): ProviderKey | undefined;
  /** Everything that is sealed, the canary left out. */
  listSealedProviderKeys(): SealedProviderKey[];
  /** Ids of the key-encryption keys in use, with the number of provider keys that each seals; the canary left out. */
  countSealedBy(): { kekId: string; keys: number }[];
  vaultCanary(): string | undefined;
  /** Keeps the canary that is there already, if any; gives the one that is kept. */
  keepVaultCanary(sealed: string): string;
  /**
   * Puts each sealed text in the place of another: all of them, and no key is left out that has not this key-encryption key
   * yet, or none of them. Throws `conflict` when one is not what it was.
   */
  resealVault(kekId: string, texts: readonly Resealed[], by: Actor): void;
}

export const VAULT_OPERATIONS = {
  saveProviderKey: writes(),
  listProviderKeys: reads(first('text')),
  findProviderKey: reads(first('text', 'text')),
  readSealedProviderKey: reads(),
  noteProviderKeyCheck: writes(),
  noteProviderKeyUse: notes(),
  removeProviderKey: writes(),
  listSealedProviderKeys: reads(),
  countSealedBy: reads(),
  vaultCanary: reads(),
  keepVaultCanary: writes(),
  resealVault: writes(),
} as const satisfies Operations<VaultCalls>;
