// Who is calling: turns a credential into a caller or a refusal, and mints client tokens. Where the credential came from is the
// edge's business; what a key is worth verdicts.ts says, and what it allows permissions.ts.
import type { Clock } from '../../../machines/clock.ts';
import { ApiError, apiError } from '../../api/errors.ts';
import type { Replacement } from '../../api/replacements.ts';
import { type DataResidencyRule, FREE_RULE, strictest } from '../../api/residency-rule.ts';
import type { Tags } from '../../api/tags.ts';
import { TOKEN_PREFIX, TOKEN_TTL_SECONDS, type TokenResponse } from '../../api/tokens.ts';
import { backgroundClock } from '../../runtime/telemetry/clock.ts';
import { uuidv7 } from '../../runtime/uuid.ts';
import { StoreError } from '../../store/store-error.ts';
import type { ApiKey, KeyEvents, KeyStore, Scope } from '../keys/calls.ts';
import { parseKey } from '../keys/key-text.ts';
import { FailedAttempts, WaitingHandshakes } from './handshake-limits.ts';
import { KeyUse } from './key-use.ts';
import { type Caller, requireOrigin, requireScope, residencyRulesOf } from './permissions.ts';
import { requireTokenTags } from './tags.ts';
import {
  limitsOfPayload,
  mintToken,
  payloadOfLimits,
  TOKEN_LENGTH_MAX,
  type TokenLimits,
  tokenIdOf,
  tokenSecret,
  verifyToken,
} from './token.ts';
import {
  apiErrorOfDecision,
  invalidKey,
  invalidToken,
  judgeKey,
  judgeToken,
  missingCredential,
  REST_PLACE,
  SOCKET_PLACE,
  tokenNotAllowed,
  tokenTooLong,
  tokenUsed,
  unanswered,
  uploadNotAllowed,
} from './verdicts.ts';
import { byHash, byId, type KeyReference, VerifyCache } from './verify-cache.ts';

export type { Caller } from './permissions.ts';

export interface AuthenticationLimits {
  failedAuthenticationsPerMinuteMax: number;
  handshakesMax: number;
  handshakesPerAddressMax: number;
}

const LIMITS: AuthenticationLimits = {
  failedAuthenticationsPerMinuteMax: 20,
  handshakesMax: 1_000,
  handshakesPerAddressMax: 256,
};

export interface AuthenticatorOptions {
  store: Pick<KeyStore & KeyEvents, 'findKeyByHash' | 'findKey' | 'noteKeysUsed' | 'redeemToken' | 'onKeyRevoked'>;
  /** Signs client tokens; the same on every node. */
  secret: Uint8Array;
  /** Signed them before; they are good until they expire. */
  previousSecret?: Uint8Array | undefined;
  limits?: AuthenticationLimits;
  /** Wall-clock milliseconds. */
  now: () => number;
  clock?: Clock;
  /** Whether a revocation on another node would be heard of here now; see verify-cache.ts. Always when absent. */
  hearsNews?: (() => boolean) | undefined;
}

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  return new KeyAuthenticator(options);
}

/** What a credential claims, before its key is looked up. */
interface Claim {
  /** Undefined when it cannot be a credential. */
  reference: KeyReference | undefined;
  /** For an invalid credential: the same words whether it is mistyped or unknown, so that they do not reveal which keys exist. */
  nobodys(): ApiError;
  /** What is wrong with it, given the key it names. */
  fault(key: ApiKey): ApiError | undefined;
  tokenId?: string;
  /** What a client token is limited to, beside its key. */
  token?: Caller['token'];
  /** Of the token. */
  more?: TokenContents;
}

/** What a client token says of all that is done with it. */
export interface TokenContents {
  tags?: Tags | undefined;
  replace?: readonly Replacement[] | undefined;
}

class KeyAuthenticator implements Authenticator {
  readonly #options: AuthenticatorOptions;
  readonly #secrets;
  readonly #cache: VerifyCache;
  readonly #failures: FailedAttempts;
  readonly #handshakes: WaitingHandshakes;
  readonly #revocations: Revocations;
  readonly #use: KeyUse;
  readonly #stopListening: () => void;

  constructor(options: AuthenticatorOptions) {
    const { store, secret, previousSecret, clock = backgroundClock, limits = LIMITS, hearsNews } = options;
    this.#options = options;
    const signing = tokenSecret(secret);
    this.#secrets = { signing, all: previousSecret === undefined ? [signing] : [signing, tokenSecret(previousSecret)] };
    this.#cache = new VerifyCache({
      store,
      clock,
      hearsNews,
      // The revocation came from another ledger, or was forged: the answer of the present ledger counts.
      onAnswered: (key) => {
        if (judgeKey(key, options.now(), false) !== 'key_revoked') this.#revocations.forget(key.id);
      },
    });
    this.#failures = new FailedAttempts({ perMinuteMax: limits.failedAuthenticationsPerMinuteMax, clock });
    const { handshakesMax, handshakesPerAddressMax: perAddressMax } = limits;
    this.#handshakes = new WaitingHandshakes({ handshakesMax, perAddressMax });
    this.#revocations = new Revocations(clock);
    this.#use = new KeyUse({ store, clock });
    this.#stopListening = store.onKeyRevoked((keyId) => this.revoked(keyId));
  }

  async rest(credential: string | undefined, address: string, origin?: string): Promise<Caller> {
    if (credential === undefined || credential === '') throw missingCredential(credential, REST_PLACE);
    if (credential.startsWith(TOKEN_PREFIX)) throw tokenNotAllowed();
    const caller = await this.#callerOf(this.#claimOfKey(credential), address);
    requireOrigin(caller, origin);
    return caller;
  }

  async upload(credential: string | undefined, address: string, origin?: string): Promise<Caller> {
    if (credential?.startsWith(TOKEN_PREFIX) !== true) return this.rest(credential, address, origin);
    const caller = await this.#callerOf(this.#claimOfToken(credential, 'tokens_may_upload'), address);
    requireOrigin(caller, origin);
    await this.redeem(caller);
    return caller;
  }

  async redeem({ organisationId, tokenId, token }: Caller): Promise<void> {
    if (token?.isSingleUse !== true || tokenId === undefined) return;
    const redeemed = this.#options.store.redeemToken(organisationId, tokenId, token.expiresAtMs);
    if (!(await redeemed.catch(unanswered))) throw tokenUsed();
  }

  async socket(credential: string | undefined, address: string, origin: string | undefined): Promise<Caller> {
    if (credential === undefined || credential === '') throw missingCredential(credential, SOCKET_PLACE);
    const leave = this.#handshakes.enter(address);
    try {
      const isToken = credential.startsWith(TOKEN_PREFIX);
      const claim = isToken ? this.#claimOfToken(credential, 'listen') : this.#claimOfKey(credential);
      const caller = await this.#callerOf(claim, address);
      requireOrigin(caller, origin);
      requireScope(caller, 'listen');
      return caller;
    } finally {
      leave();
    }
  }

  mint(
    caller: Caller,
    ttlSeconds: number,
    limits: TokenLimits = {},
    personId?: string,
    { tags, replace }: TokenContents = {},
  ): TokenResponse {
    if (caller.via === 'token') throw tokenNotAllowed();
    requireTtl(ttlSeconds);
    if (tags !== undefined) requireTokenTags(caller.key, tags);
    const issuedAtMs = this.#options.now();
    const expiresAtMs = issuedAtMs + ttlSeconds * 1000;
    const token = mintToken(this.#secrets.signing, {
      jti: tokenIdOf(uuidv7(issuedAtMs), personId),
      key: caller.keyId,
      org: caller.organisationId,
      iat: issuedAtMs,
      exp: expiresAtMs,
      ...payloadOfLimits(limits),
      ...(tags === undefined ? {} : { tags }),
      ...(replace === undefined ? {} : { rep: [...replace] }),
    });
    if (token.length > TOKEN_LENGTH_MAX) throw tokenTooLong(token.length);
    this.#use.note(caller.organisationId, caller.keyId, issuedAtMs, 1);
    return { token, expires_at: new Date(expiresAtMs).toISOString(), ttl_seconds: ttlSeconds };
  }

  revoked(keyId: string): void {
    this.#revocations.add(keyId);
    this.#cache.evict(keyId);
  }

  async holds(caller: KeyNames, scope: Scope): Promise<boolean> {
    const isGood = (key: ApiKey | undefined) => key?.scopes.includes(scope) === true && this.#judge(key) === 'allowed';
    return this.#byKeyOf(caller, isGood, true);
  }

  async placeRule(caller: KeyNames): Promise<DataResidencyRule> {
    return this.#byKeyOf(
      caller,
      (key) => (key === undefined ? FREE_RULE : strictest(residencyRulesOf({ key }))),
      FREE_RULE,
    );
  }

  async renewed(caller: Caller): Promise<Caller> {
    return this.#byKeyOf(caller, (key) => (key === undefined ? caller : { ...caller, key }), caller);
  }

  /** What is made of the key as it stands by now; `otherwise` where the store cannot say. */
  async #byKeyOf<Made>(caller: KeyNames, made: (key: ApiKey | undefined) => Made, otherwise: Made): Promise<Made> {
    try {
      return made(await this.#cache.find(byId(caller.organisationId, caller.keyId)));
    } catch (error) {
      if (error instanceof StoreError) return otherwise;
      throw error;
    }
  }

  isRevoked(keyId: string): boolean {
    return this.#revocations.has(keyId);
  }

  evict(keyId: string): void {
    this.#cache.evict(keyId);
  }

  evictOrganisation(organisationId: string): void {
    this.#cache.evictOrganisation(organisationId);
  }

  doubt(): void {
    this.#cache.doubt();
  }

  recentKeys(): KeyNames[] {
    return this.#cache.recent().map(({ id, organisationId }) => ({ keyId: id, organisationId }));
  }

  refreshKey(organisationId: string, keyId: string): Promise<ApiKey | undefined> {
    return this.#cache.refresh(byId(organisationId, keyId));
  }

  async close(): Promise<void> {
    this.#stopListening();
    await this.#use.close();
  }

  #claimOfKey(credential: string): Claim {
    const trace = parseKey(credential);
    return {
      reference: trace === undefined ? undefined : byHash(trace.hash),
      nobodys: invalidKey,
      fault: (key) => apiErrorOfDecision(this.#judge(key)),
    };
  }

  /** @param scope what the key has to have for what the token is presented for */
  #claimOfToken(credential: string, scope: 'listen' | 'tokens_may_upload'): Claim {
    const payload = verifyToken(this.#secrets.all, credential, this.#options.now());
    if (payload === undefined) return { reference: undefined, nobodys: invalidToken, fault: invalidToken };
    const limits = limitsOfPayload(payload);
    return {
      reference: byId(payload.org, payload.key),
      nobodys: invalidToken,
      fault: (key) => {
        if (key.organisationId !== payload.org) return invalidToken();
        const hasScope = key.scopes.includes(scope);
        const decision = judgeToken(payload, this.#options.now(), this.#judge(key), hasScope);
        return decision === 'scope_not_allowed' && scope !== 'listen'
          ? uploadNotAllowed()
          : apiErrorOfDecision(decision);
      },
      tokenId: payload.jti,
      token: limits && { ...limits, expiresAtMs: payload.exp },
      more: { ...(payload.tags && { tags: payload.tags }), ...(payload.rep && { replace: payload.rep }) },
    };
  }

  #judge(key: ApiKey) {
    return judgeKey(key, this.#options.now(), this.#revocations.has(key.id));
  }

  /** Good credentials that are in the cache pass whatever else comes from their address; everything else counts as a guess. */
  async #callerOf(claim: Claim, address: string): Promise<Caller> {
    const known = claim.reference && this.#cache.fresh(claim.reference);
    const isGood = known !== undefined && claim.fault(known) === undefined;
    const key = isGood ? known : await this.#lookUp(claim, address);
    this.#use.note(key.organisationId, key.id, this.#options.now());
    const { tokenId, token, more } = claim;
    const caller = { organisationId: key.organisationId, keyId: key.id, key };
    if (tokenId === undefined) return { ...caller, via: 'key' };
    return { ...caller, via: 'token', tokenId, ...(token === undefined ? {} : { token }), ...more };
  }

  async #lookUp(claim: Claim, address: string): Promise<ApiKey> {
    const attempt = this.#isNoGuess(claim) ? undefined : await this.#failures.begin(address);
    try {
      const key = claim.reference && (await this.#cache.find(claim.reference).catch(unanswered));
      if (key === undefined) throw claim.nobodys();
      const refusal = claim.fault(key);
      if (refusal !== undefined) throw refusal;
      attempt?.forgive();
      return key;
    } catch (error) {
      // A suspended account is not a guess, and a store that cannot answer is not the caller's doing.
      if (error instanceof ApiError && error.status === 401) attempt?.fail();
      else attempt?.forgive();
      throw error;
    }
  }

  /**
   * A hundred clients that begin at once with one key are one attempt. And a key that was good a moment ago is looked up again
   * whatever else comes from its address: no client can lock out others behind the same address.
   */
  #isNoGuess({ reference, fault }: Claim): boolean {
    if (reference === undefined) return false;
    const remembered = this.#cache.remembered(reference);
    return this.#cache.isAsking(reference) || (remembered !== undefined && fault(remembered) === undefined);
  }
}

function requireTtl(ttlSeconds: number): void {
  const { min, max } = TOKEN_TTL_SECONDS;
  if (Number.isInteger(ttlSeconds) && ttlSeconds >= min && ttlSeconds <= max) return;
  throw apiError('invalid_request', `\`ttl_seconds\` is ${ttlSeconds}; it is an integer from ${min} to ${max}.`, {
    param: 'ttl_seconds',
  });
}

// What the rest of the gateway asks about callers.
export type KeyNames = Pick<Caller, 'organisationId' | 'keyId'>;

/** Addresses are those of clients, without ports: of IPv6 the first half is what counts. */
export interface Authenticator {
  /** Takes API keys. `origin`: the header's value. Throws an ApiError; `token_not_allowed` for every client token. */
  rest(credential: string | undefined, address: string, origin?: string): Promise<Caller>;
  /**
   * Takes API keys as `rest` does, and client tokens of keys with the scope `tokens_may_upload`. A token for one use is used by it.
   * Throws an ApiError.
   */
  upload(credential: string | undefined, address: string, origin?: string): Promise<Caller>;
  /** Takes API keys and client tokens with the scope `listen`, at the handshake only. Throws an ApiError. */
  socket(credential: string | undefined, address: string, origin: string | undefined): Promise<Caller>;
  /** Uses up a client token for one use; nothing for other callers. Throws an ApiError `token_used`, or `overloaded`. */
  redeem(caller: Caller): Promise<void>;
  /**
   * A client token of the caller's key, for a person where one is named. Throws an ApiError when the caller is one itself, and for tags
   * that it cannot carry.
   */
  mint(
    caller: Caller,
    ttlSeconds: number,
    limits?: TokenLimits,
    personId?: string,
    more?: TokenContents,
  ): TokenResponse;
  /**
   * The key was revoked, here or on another node: nothing of it is good from now on. What the store on this file is told
   * arrives on its own; without any word the key is good for 30 s at most.
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
  /** News may have been missed: what is remembered of any key is requested again when it is used next. */
  doubt(): void;
  /** Keys that were in use in the last minutes, at most 1,000. */
  recentKeys(): KeyNames[];
  /** Asks the store for a key, and remembers the answer. Rejects with StoreError. */
  refreshKey(organisationId: string, keyId: string): Promise<ApiKey | undefined>;
  /** Stops listening to the store, and tells it when keys were last used. Never rejects. */
  close(): Promise<void>;
}

// Keys revoked just now: what was asked or decided about them a moment before counts no more. What was revoked earlier is the
// store's to say, and so is whether it was revoked at all.
/** Longer than anything that was begun before the revocation can take to get here. */
const REMEMBERED_MS = 10 * 60_000;
const KEYS_MAX = 10_000;

export class Revocations {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #keysMax: number;
  /** When each was revoked, the longest ago first. */
  readonly #atMs = new Map<string, number>();

  /** @param keysMax past it the one revoked longest ago is forgotten */
  constructor(clock: Pick<Clock, 'now'>, keysMax = KEYS_MAX) {
    this.#clock = clock;
    this.#keysMax = keysMax;
  }

  get size(): number {
    return this.#atMs.size;
  }

  add(keyId: string): void {
    const nowMs = this.#clock.now();
    this.#atMs.delete(keyId);
    this.#atMs.set(keyId, nowMs);
    for (const [oldest, atMs] of this.#atMs) {
      if (nowMs - atMs < REMEMBERED_MS && this.#atMs.size <= this.#keysMax) return;
      this.#atMs.delete(oldest);
    }
  }

  /** The store was asked after it was told of the revocation, and knows of none. */
  forget(keyId: string): void {
    this.#atMs.delete(keyId);
  }

  has(keyId: string): boolean {
    return this.#atMs.has(keyId);
  }
}
