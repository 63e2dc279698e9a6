// What the rest of the gateway asks about callers.
import type { DataResidencyRule } from '../../api/residency-rule.ts';
import type { TokenResponse } from '../../api/tokens.ts';
import type { ApiKey, Scope } from '../keys/calls.ts';
import type { Caller } from './permissions.ts';

export type KeyNames = Pick<Caller, 'organisationId' | 'keyId'>;

/** Addresses are those of clients, without ports: of IPv6 the first half is what counts. */
export interface Authenticator {
  /** Takes API keys. `origin`: the header's value. Throws a Refusal; `token_not_allowed` for every client token. */
  rest(credential: string | undefined, address: string, origin?: string): Promise<Caller>;
  /** Takes API keys as `rest` does, and client tokens of keys with the scope `tokens_may_upload`. Throws a Refusal. */
  upload(credential: string | undefined, address: string, origin?: string): Promise<Caller>;
  /** Takes API keys and client tokens with the scope `listen`, at the handshake only. Throws a Refusal. */
  socket(credential: string | undefined, address: string, origin: string | undefined): Promise<Caller>;
  /** A client token of the caller's key, for a person where one is named. Throws a Refusal when the caller is one itself. */
  mint(caller: Caller, ttlSeconds: number, personId?: string): TokenResponse;
  /**
   * The key was revoked, here or on another node: nothing of it is good from now on. What the store on this file is told
   * arrives by itself; without any word the key is good for 30 s at most.
   */
  revoked(keyId: string): void;
  /** Whether a caller who was let in a while ago would be let in now. Yes where the store cannot say. Never counts as a guess. */
  holds(caller: KeyNames, scope: Scope): Promise<boolean>;
  /** Where audio of the key's requests may go by now, as far as the store can say. */
  placeRule(caller: KeyNames): Promise<DataResidencyRule>;
  /** A caller who was let in a while ago, with its key as it stands by now; as it was where the store cannot say. */
  renewed(caller: Caller): Promise<Caller>;
  /** Whether it was revoked just now: for what was decided before, and takes effect only now. */
  isRevoked(keyId: string): boolean;
  /** The key's settings were changed: the next who uses it is judged by the new ones. */
  evict(keyId: string): void;
  /** The organisation was suspended or reinstated: nothing that is remembered of its keys holds. */
  evictOrganisation(organisationId: string): void;
  /** News may have been missed: what is remembered of any key is asked for again when it is used next. */
  doubt(): void;
  /** Keys that were in use in the last minutes, at most 1,000. */
  recentKeys(): KeyNames[];
  /** Asks the store for a key, and remembers the answer. Rejects with StoreError. */
  refreshKey(organisationId: string, keyId: string): Promise<ApiKey | undefined>;
  /** Stops listening to the store, and tells it when keys were last used. Never rejects. */
  close(): Promise<void>;
}
