// Which own key an organisation has for a provider, as every request asks: remembered for a while, forgotten as soon as
// something changes here. A change made by another process is seen when the while is over.
import type { Clock } from '../../../machines/clock.ts';
import type { CredentialFields } from '../../vendors/kit/credentials.ts';
import type { ProviderKey, VaultStore } from './store.ts';

/** An organisation's own key for a provider. */
export interface OwnKey {
  id: string;
  /** It was refused too often, or in a test: nothing is dialled with it. */
  barred: boolean;
  /** Its members that are no secret; undefined where they were not noted. */
  fields?: CredentialFields | undefined;
}

export const isBarred = ({ state }: Pick<ProviderKey, 'state'>): boolean =>
  state === 'disabled' || state === 'rejected';

export const ownKeyOf = (key: ProviderKey): OwnKey => ({
  id: key.id,
  barred: isBarred(key),
  fields: key.fields ?? undefined,
});

/** Pairs of organisation and provider that are remembered; the one that was looked up longest ago makes room. */
const PAIRS_MAX = 10_000;
const REMEMBER_MS = 30_000;

interface Remembered {
  untilMs: number;
  key: Promise<OwnKey | undefined>;
}

export class OwnKeys {
  readonly #clock: Clock;
  readonly #find: (organisationId: string, provider: string) => Promise<OwnKey | undefined>;
  readonly #pairs = new Map<string, Remembered>();

  constructor(clock: Clock, find: (organisationId: string, provider: string) => Promise<OwnKey | undefined>) {
    this.#clock = clock;
    this.#find = find;
  }

  get size(): number {
    return this.#pairs.size;
  }

  /** Requests that come together are answered by one look-up. A look-up that fails is not remembered. */
  of(organisationId: string, provider: string): Promise<OwnKey | undefined> {
    const pair = pairOf(organisationId, provider);
    const now = this.#clock.now();
    const known = this.#pairs.get(pair);
    if (known !== undefined && now < known.untilMs) return known.key;
    this.#pairs.delete(pair);
    const [oldest] = this.#pairs.keys();
    if (this.#pairs.size >= PAIRS_MAX && oldest !== undefined) this.#pairs.delete(oldest);
    const remembered = { untilMs: now + REMEMBER_MS, key: this.#find(organisationId, provider) };
    this.#pairs.set(pair, remembered);
    remembered.key.catch(() => {
      if (this.#pairs.get(pair) === remembered) this.#pairs.delete(pair);
    });
    return remembered.key;
  }

  /** A look-up that is in progress is not remembered either: it may be older than the change. */
  forget(organisationId: string, provider: string): void {
    this.#pairs.delete(pairOf(organisationId, provider));
  }
}

const pairOf = (organisationId: string, provider: string): string => `${organisationId} ${provider}`;

// Tells the store how uses of provider keys went, no more often than it matters: a success once a minute, a refusal until the
// key is out of use. It is written in the background.
/** Keys that are remembered; the one that was noted longest ago makes room, and is noted once more. */
const KEYS_MAX = 10_000;
const NOTE_MS = 60_000;

export class KeyUses {
  readonly #store: Pick<VaultStore, 'noteProviderKeyUse'>;
  readonly #clock: Clock;
  readonly #changed: (key: ProviderKey) => void;
  readonly #onFault: (name: string, error: unknown) => void;
  /** What was told last of a key, and until when that will do. */
  readonly #told = new Map<string, { outcome: 'accepted' | 'barred'; untilMs: number }>();

  constructor(
    store: Pick<VaultStore, 'noteProviderKeyUse'>,
    clock: Clock,
    calls: { changed(key: ProviderKey): void; onFault(name: string, error: unknown): void },
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#changed = calls.changed;
    this.#onFault = calls.onFault;
  }

  note(keyId: string, outcome: 'accepted' | 'refused'): void {
    const now = this.#clock.now();
    const last = this.#told.get(keyId);
    const known = last?.outcome === (outcome === 'accepted' ? 'accepted' : 'barred') && now < last.untilMs;
    if (known) return;
    if (outcome === 'accepted') this.#remember(keyId, 'accepted');
    else this.#told.delete(keyId);
    this.#store.noteProviderKeyUse(keyId, outcome).then(
      (key) => {
        if (key === undefined) return;
        if (key.state === 'disabled' || key.state === 'rejected') this.#remember(keyId, 'barred');
        this.#changed(key);
      },
      (error: unknown) => {
        this.#told.delete(keyId);
        this.#onFault('noteProviderKeyUse', error);
      },
    );
  }

  /** The key was tested, or is another one. */
  forget(keyId: string): void {
    this.#told.delete(keyId);
  }

  #remember(keyId: string, outcome: 'accepted' | 'barred'): void {
    this.#told.delete(keyId);
    const [oldest] = this.#told.keys();
    if (this.#told.size >= KEYS_MAX && oldest !== undefined) this.#told.delete(oldest);
    this.#told.set(keyId, { outcome, untilMs: this.#clock.now() + NOTE_MS });
  }
}
