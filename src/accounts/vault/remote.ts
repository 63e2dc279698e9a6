// The vault of a node that has no key ring: asks the node that has, by a way that is given to it. An opened secret comes in a box
// that this node alone can open. And the other end: what such a node may ask of the vault.
import type { Clock } from '../../../machines/clock.ts';
import { apiError } from '../../api/errors.ts';
import { plainOfText, textOfPlain } from '../../runtime/plain-data.ts';
import { type BoxReceiver, newBoxReceiver, sealBox } from '../../runtime/sealing.ts';
import type { Actor } from '../../store/audit-log.ts';
import type { Answering, Ask } from '../../store/operation.ts';
import { StoreError } from '../../store/store-error.ts';
import type { ProviderAccess } from '../../vendors/kit/provider.ts';
import { VaultError } from './key-ring.ts';
import { KeyUses, type OwnKey, OwnKeys, ownKeyOf } from './own-keys.ts';
import type { ProviderKey, VaultStore } from './store.ts';
import type { KeptKey, NewKey, Vault } from './vault.ts';

/** What the vault's calls are requested as. */
export const VAULT_GROUP = 'vault';
/** A provider is asked whether it accepts the key. */
const TEST_MS = 30_000;
const OPEN_MS = 5_000;
/** Cache TTL while the vault does not answer, as for keys in auth/verify-cache.ts. */
const STALE_MS = 5 * 60_000;
/** Cache TTL while changes may be missed. */
const KNOWN_MS = 30_000;
const REMEMBERED_MAX = 1_000;
/** Own keys whose organisation is remembered, for what is told of their use. */
const KEYS_MAX = 10_000;

export interface RemoteVaultOptions {
  ask: Ask;
  /** The remote one; of it the vault uses what is not a secret. */
  store: Pick<VaultStore, 'listProviderKeys' | 'findProviderKey'>;
  clock: Clock;
  /** Whether other nodes can be heard now. Always when absent. */
  hearsNews?: (() => boolean) | undefined;
  onFault(name: string, error: unknown): void;
}

export function createRemoteVault({ ask, store, clock, hearsNews = () => true, onFault }: RemoteVaultOptions): Vault {
  const receiver = newBoxReceiver();
  const staleMs = () => (hearsNews() ? STALE_MS : KNOWN_MS);
  const foundBefore = new LastKnown<OwnKey | undefined>(clock);
  /** As they came: a session whose connection is lost can reconnect while the vault does not answer. */
  const boxes = new LastKnown<unknown>(clock);
  const organisations = new Map<string, string>();
  const ownKeys = new OwnKeys(clock, async (organisationId, provider) => {
    const key = await store.findProviderKey(organisationId, provider);
    const found = key && ownKeyOf(key);
    if (key !== undefined) noteOrganisation(organisations, key);
    foundBefore.note(`${organisationId} ${provider}`, found);
    return found;
  });
  const changed = ({ id, organisationId, provider }: ProviderKey) => {
    ownKeys.forget(organisationId, provider);
    foundBefore.forget(`${organisationId} ${provider}`);
    boxes.forget(aboutOpening({ provider, keyId: id, organisationId }));
  };
  const noteProviderKeyUse: VaultStore['noteProviderKeyUse'] = async (keyId, outcome) => {
    const organisationId = organisations.get(keyId);
    if (organisationId === undefined) return undefined;
    return (await ask(VAULT_GROUP, organisationId, 'noteUse', [keyId, outcome])) as ProviderKey | undefined;
  };
  const uses = new KeyUses({ noteProviderKeyUse }, clock, { changed, onFault });

  return {
    async save(organisationId, key, by) {
      const kept = (await ask(VAULT_GROUP, organisationId, 'save', [key, by], TEST_MS)) as KeptKey;
      changed(kept.key);
      return kept;
    },

    list: (organisationId) => store.listProviderKeys(organisationId),

    async test(organisationId, keyId, by) {
      const kept = (await ask(VAULT_GROUP, organisationId, 'test', [keyId, by], TEST_MS)) as KeptKey;
      uses.forget(keyId);
      changed(kept.key);
      return kept;
    },

    async remove(organisationId, keyId, by) {
      const listed = await store.listProviderKeys(organisationId);
      await ask(VAULT_GROUP, organisationId, 'remove', [keyId, by]);
      uses.forget(keyId);
      const removed = listed.find(({ id }) => id === keyId);
      if (removed !== undefined) changed(removed);
    },

    async ownKeyOf(organisationId, provider) {
      try {
        return await ownKeys.of(organisationId, provider);
      } catch (error) {
        const before = isUnreachable(error)
          ? foundBefore.within(`${organisationId} ${provider}`, staleMs())
          : undefined;
        if (before !== undefined) return before.value;
        onFault('findProviderKey', error);
        // To continue without knowing would be to continue at the service's expense, or the customer's.
        throw apiError('overloaded', 'Your provider keys cannot be looked up right now. Try again shortly.');
      }
    },

    async open(provider, keyId, organisationId) {
      const opening = { provider, keyId, organisationId };
      const args = [provider, keyId, receiver.publicKey];
      const name = aboutOpening(opening);
      try {
        const answer = await ask(VAULT_GROUP, organisationId, 'open', args, OPEN_MS);
        boxes.forget(name);
        const access = accessIn(receiver, opening, answer);
        boxes.note(name, answer);
        return access;
      } catch (error) {
        const before = isUnreachable(error) ? boxes.within(name, staleMs()) : undefined;
        return before === undefined ? asVaultError(error) : accessIn(receiver, opening, before.value);
      }
    },

    noteUse: (keyId, outcome) => uses.note(keyId, outcome),
  };
}

const isUnreachable = (error: unknown): boolean => error instanceof StoreError && error.reason === 'unreachable';

/** What was answered last, by name; the one that was noted longest ago makes room. */
class LastKnown<Value> {
  readonly #clock: Clock;
  readonly #known = new Map<string, { value: Value; atMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(name: string, value: Value): void {
    this.#known.delete(name);
    const nowMs = this.#clock.now();
    for (const [oldest, { atMs }] of this.#known) {
      if (this.#known.size < REMEMBERED_MAX && nowMs - atMs < STALE_MS) break;
      this.#known.delete(oldest);
    }
    this.#known.set(name, { value, atMs: nowMs });
  }

  within(name: string, ageMs: number): { value: Value } | undefined {
    const known = this.#known.get(name);
    return known !== undefined && this.#clock.now() - known.atMs < ageMs ? known : undefined;
  }

  forget(name: string): void {
    this.#known.delete(name);
  }
}

function noteOrganisation(organisations: Map<string, string>, { id, organisationId }: ProviderKey): void {
  organisations.delete(id);
  const [oldest] = organisations.keys();
  if (organisations.size >= KEYS_MAX && oldest !== undefined) organisations.delete(oldest);
  organisations.set(id, organisationId);
}

/** The caller gets the same errors as from a local vault. */
function asVaultError(error: unknown): never {
  if (!(error instanceof StoreError)) throw error;
  throw Object.assign(new VaultError(`The provider key could not be opened: ${error.message}`), { cause: error });
}

interface Opening {
  provider: string;
  keyId: string;
  organisationId: string;
}

const aboutOpening = ({ provider, keyId, organisationId }: Opening): string =>
  JSON.stringify(['voxgate provider key v1', organisationId, provider, keyId]);

function accessIn(receiver: BoxReceiver, opening: Opening, answer: unknown): ProviderAccess {
  const { box, failure } = (answer ?? {}) as { box?: unknown; failure?: unknown };
  if (typeof failure === 'string') throw new VaultError(failure);
  const plain = box instanceof Uint8Array ? receiver.open(aboutOpening(opening), box) : undefined;
  if (plain === undefined) throw new VaultError('The provider key came in a box that does not open here.');
  try {
    return plainOfText(plain.toString()) as ProviderAccess;
  } catch {
    throw new VaultError('The provider key that came is no credential.');
  } finally {
    plain.fill(0);
  }
}

export interface VaultAnswers {
  vault: Vault;
  store: Pick<VaultStore, 'noteProviderKeyUse'>;
}

/** Answers the vault calls of other nodes, each for the organisation that it names and for no other. */
export function answerVaultCalls({ vault, store }: VaultAnswers): Answering {
  const calls: Readonly<Record<string, (organisationId: string, args: readonly unknown[]) => Promise<unknown>>> = {
    async save(organisationId, [key, by]) {
      if (!isNewKey(key)) throw otherArguments('save');
      return vault.save(organisationId, key, actorOf(by, 'save'));
    },
    test: async (organisationId, [keyId, by]) => vault.test(organisationId, text(keyId, 'test'), actorOf(by, 'test')),
    remove: async (organisationId, [keyId, by]) =>
      vault.remove(organisationId, text(keyId, 'remove'), actorOf(by, 'remove')),
    async open(organisationId, [provider, keyId, publicKey]) {
      const opening = { provider: text(provider, 'open'), keyId: text(keyId, 'open'), organisationId };
      if (!(publicKey instanceof Uint8Array)) throw otherArguments('open');
      return boxed(vault, opening, publicKey);
    },
    async noteUse(_, [keyId, outcome]) {
      if (outcome !== 'accepted' && outcome !== 'refused') throw otherArguments('noteUse');
      return store.noteProviderKeyUse(text(keyId, 'noteUse'), outcome);
    },
  };
  return async ({ organisationId, call, args }) => {
    const work = Object.hasOwn(calls, call) ? calls[call] : undefined;
    if (work === undefined) throw new StoreError('invalid', 'The vault has no such call.');
    if (organisationId === null) throw new StoreError('invalid', `The call ${call} names no organisation.`);
    return work(organisationId, args);
  };
}

async function boxed(vault: Vault, opening: Opening, publicKey: Uint8Array) {
  try {
    const access = await vault.open(opening.provider, opening.keyId, opening.organisationId);
    const box = sealBox(publicKey, aboutOpening(opening), Buffer.from(textOfPlain(access)));
    return box === undefined ? { failure: 'The node that asks has no key to seal for.' } : { box };
  } catch (error) {
    if (error instanceof VaultError) return { failure: error.message };
    throw error;
  }
}

function text(value: unknown, call: string): string {
  if (typeof value === 'string') return value;
  throw otherArguments(call);
}

function actorOf(value: unknown, call: string): Actor {
  const { type, id } = (value ?? {}) as Partial<Actor>;
  if (typeof type === 'string' && typeof id === 'string') return value as Actor;
  throw otherArguments(call);
}

function isNewKey(value: unknown): value is NewKey {
  const { provider, name } = (value ?? {}) as Partial<NewKey>;
  return typeof provider === 'string' && typeof name === 'string';
}

const otherArguments = (call: string): StoreError => new StoreError('invalid', `The call ${call} has other arguments.`);
