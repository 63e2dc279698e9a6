// Tells the store how uses of provider keys went, no more often than it matters: a success once a minute, a refusal until the
// key is out of use. It is written in the background.
import type { Clock } from '../../../machines/clock.ts';
import type { ProviderKey, VaultStore } from './store.ts';

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
