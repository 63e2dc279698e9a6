// Which own key an organisation has for a provider, as every request asks: remembered for a while, forgotten as soon as
// something changes here. A change made by another process is seen when the while is over.
import type { Clock } from '../../../machines/clock.ts';
import type { CredentialFields } from '../../vendors/credentials.ts';
import type { ProviderKey } from './store.ts';

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

  /** A look-up that is under way is not remembered either: it may be older than the change. */
  forget(organisationId: string, provider: string): void {
    this.#pairs.delete(pairOf(organisationId, provider));
  }
}

const pairOf = (organisationId: string, provider: string): string => `${organisationId} ${provider}`;
