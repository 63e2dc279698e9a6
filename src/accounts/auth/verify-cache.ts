// What the store said of a key a moment ago, so that a busy key costs one look-up in 30 s. What a key may do is not decided
// here: callers judge what they are given by the time at which they ask.
import type { Clock } from '../../../machines/clock.ts';
import { StoreError } from '../../store/store-error.ts';
import type { ApiKey, KeyStore } from '../keys/calls.ts';

/** Cache TTL of a key. A change that was not announced to this process takes effect within this time. */
const KNOWN_MS = 30_000;
/** How long an unknown key stays unknown. */
const UNKNOWN_MS = 5_000;
/** A store that has no time to answer must not turn good keys away: they are taken for what they were for so long. */
const STALE_MS = 5 * 60_000;
/** One that was not reached just now is not waited for again by every caller whose key is cached. */
const UNREACHED_MS = 1_000;
const ENTRIES_MAX = 10_000;
/** Keys to ask for again after an outage. */
const RECENT_MAX = 1_000;
/** Unknown keys have places of their own, so that guesses cannot push out the keys that are in use. */
const UNKNOWN_SHARE = 0.1;

type KeyLookup = Pick<KeyStore, 'findKeyByHash' | 'findKey'>;

/** A way to name a key, and how the store is asked by that name. */
export interface KeyReference {
  readonly name: string;
  ask(store: KeyLookup): Promise<ApiKey | undefined>;
}

export const byHash = (hash: Uint8Array): KeyReference => ({
  name: `hash ${Buffer.from(hash).toString('base64')}`,
  ask: (store) => store.findKeyByHash(hash),
});

export const byId = (organisationId: string, keyId: string): KeyReference => ({
  name: idName(keyId),
  ask: (store) => store.findKey(organisationId, keyId),
});

const idName = (keyId: string): string => `id ${keyId}`;

interface Entry {
  key: ApiKey;
  atMs: number;
  /** Every name under which it is found. */
  names: readonly string[];
}

interface Asking {
  answer: Promise<ApiKey | undefined>;
  /** Keys and organisations evicted since the store was asked: its answer may be from before. */
  evicted: Set<string>;
}

export interface VerifyCacheOptions {
  store: KeyLookup;
  clock: Pick<Clock, 'now'>;
  /** 10,000 when absent; past it the oldest is forgotten. */
  entriesMax?: number;
  /**
   * Whether this process would hear of a revocation now. While it would not, nothing is served that is older than 30 s. Always
   * when absent.
   */
  hearsNews?: (() => boolean) | undefined;
  /** Hears of every key that the store answers with, unless it was evicted since the store was asked. */
  onAnswered?: (key: ApiKey) => void;
}

export class VerifyCache {
  readonly #store: KeyLookup;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #knownMax: number;
  readonly #unknownMax: number;
  readonly #hearsNews: () => boolean;
  readonly #onAnswered: (key: ApiKey) => void;
  #unreachedMs = Number.NEGATIVE_INFINITY;
  /** What was requested before does not count as fresh. */
  #doubtedMs = Number.NEGATIVE_INFINITY;
  /** By every name, the oldest first. */
  readonly #known = new Map<string, Entry>();
  /** When the store did not know a name, the oldest first. */
  readonly #unknown = new Map<string, number>();
  readonly #asking = new Map<string, Asking>();

  constructor(options: VerifyCacheOptions) {
    const { store, clock, entriesMax = ENTRIES_MAX, hearsNews = () => true, onAnswered = () => {} } = options;
    this.#onAnswered = onAnswered;
    this.#store = store;
    this.#clock = clock;
    this.#hearsNews = hearsNews;
    this.#unknownMax = Math.ceil(entriesMax * UNKNOWN_SHARE);
    this.#knownMax = entriesMax - this.#unknownMax;
  }

  get size(): number {
    return this.#known.size + this.#unknown.size;
  }

  /** The key if it is known already and the knowledge fresh. Never asks the store. */
  fresh(reference: KeyReference): ApiKey | undefined {
    const entry = this.#known.get(reference.name);
    return entry !== undefined && entry.atMs <= this.#doubtedMs ? undefined : this.#within(reference, KNOWN_MS);
  }

  /** News may have been missed: each key is requested again when it is used next, and what is known of it good for 30 s at most. */
  doubt(): void {
    this.#doubtedMs = this.#clock.now();
    this.#unreachedMs = Number.NEGATIVE_INFINITY;
  }

  /**
   * The key, or undefined when there is none of that name. Those who ask for one name at the same time share one call. When the store
   * is `busy`, has an `overflow` or is `unreachable`, a key known for less than five minutes is served rather than refused; for
   * less than 30 s, where a revocation since might not have been heard of.
   *
   * @throws StoreError
   */
  async find(reference: KeyReference): Promise<ApiKey | undefined> {
    const fresh = this.fresh(reference);
    if (fresh !== undefined || this.#isUnknown(reference)) return fresh;
    if (this.#clock.now() - this.#unreachedMs < UNREACHED_MS) {
      const stale = this.#stale(reference);
      if (stale !== undefined) return stale;
    }
    const asking = this.#asking.get(reference.name) ?? this.#ask(reference);
    try {
      return await asking.answer;
    } catch (error) {
      if (isUnreachable(error)) this.#unreachedMs = this.#clock.now();
      const stale = hasNoTime(error) ? this.#stale(reference) : undefined;
      if (stale === undefined) throw error;
      return stale;
    }
  }

  /** Keys that were known in the last five minutes, those requested of the store last come first. */
  recent(): ApiKey[] {
    const nowMs = this.#clock.now();
    const entries = [...new Set(this.#known.values())].filter(({ atMs }) => nowMs - atMs < STALE_MS);
    return entries
      .reverse()
      .slice(0, RECENT_MAX)
      .map(({ key }) => key);
  }

  /**
   * Asks the store even if the key is cached, and keeps the answer.
   *
   * @throws StoreError
   */
  refresh(reference: KeyReference): Promise<ApiKey | undefined> {
    return (this.#asking.get(reference.name) ?? this.#ask(reference)).answer;
  }

  /** What it was a few minutes ago. Never asks the store. */
  remembered(reference: KeyReference): ApiKey | undefined {
    return this.#within(reference, STALE_MS);
  }

  /** Whether the store is being asked for it: further callers wait for the same answer. */
  isAsking({ name }: KeyReference): boolean {
    return this.#asking.has(name);
  }

  /** Forgets a key that was revoked or changed: the next caller asks the store. */
  evict(keyId: string): void {
    this.#drop(this.#known.get(idName(keyId)));
    for (const { evicted } of this.#asking.values()) evicted.add(keyId);
  }

  /** Forgets every key of an organisation. */
  evictOrganisation(organisationId: string): void {
    for (const { key } of [...this.#known.values()]) if (key.organisationId === organisationId) this.evict(key.id);
    // Whose keys are being requested is not known yet.
    for (const { evicted } of this.#asking.values()) evicted.add(organisationId);
  }

  /** Older than `KNOWN_MS` only where every revocation since would have been heard of. */
  #stale(reference: KeyReference): ApiKey | undefined {
    const atMs = this.#known.get(reference.name)?.atMs ?? Number.NEGATIVE_INFINITY;
    return this.#within(reference, this.#hearsNews() && atMs > this.#doubtedMs ? STALE_MS : KNOWN_MS);
  }

  #within({ name }: KeyReference, ageMs: number): ApiKey | undefined {
    const entry = this.#known.get(name);
    return entry !== undefined && this.#clock.now() - entry.atMs < ageMs ? entry.key : undefined;
  }

  #isUnknown({ name }: KeyReference): boolean {
    const atMs = this.#unknown.get(name);
    return atMs !== undefined && atMs > this.#doubtedMs && this.#clock.now() - atMs < UNKNOWN_MS;
  }

  #ask(reference: KeyReference): Asking {
    const evicted = new Set<string>();
    const askedMs = this.#clock.now();
    const asking: Asking = { answer: Promise.resolve(undefined), evicted };
    // Before it is asked: from then on news count against its answer.
    this.#asking.set(reference.name, asking);
    const answer = reference.ask(this.#store).then((key) => {
      if (key === undefined) this.#noteUnknown(reference.name, askedMs);
      else if (!evicted.has(key.id) && !evicted.has(key.organisationId)) {
        this.#note(reference.name, key, askedMs);
        this.#onAnswered(key);
      }
      return key;
    });
    asking.answer = answer.finally(() => this.#asking.delete(reference.name));
    return asking;
  }

  /** Known by its id as well, and by the name under which it was known before. */
  #note(name: string, key: ApiKey, atMs: number): void {
    const before = this.#known.get(idName(key.id));
    const names = [...new Set([idName(key.id), name, ...(before?.names ?? [])])];
    this.#drop(before);
    this.#unknown.delete(name);
    const entry: Entry = { key, atMs, names };
    for (const each of names) this.#known.set(each, entry);
    for (const oldest of this.#known.values()) {
      const isUseless = atMs - oldest.atMs >= STALE_MS;
      if (!isUseless && this.#known.size <= this.#knownMax) return;
      this.#drop(oldest);
    }
  }

  #noteUnknown(name: string, atMs: number): void {
    this.#drop(this.#known.get(name));
    this.#unknown.delete(name);
    this.#unknown.set(name, atMs);
    for (const [oldest, sinceMs] of this.#unknown) {
      if (atMs - sinceMs < UNKNOWN_MS && this.#unknown.size <= this.#unknownMax) return;
      this.#unknown.delete(oldest);
    }
  }

  #drop(entry: Entry | undefined): void {
    for (const name of entry?.names ?? []) this.#known.delete(name);
  }
}

/** Whether the store may answer later; otherwise it is broken or closed. */
function hasNoTime(error: unknown): boolean {
  return error instanceof StoreError && ['busy', 'overflow', 'unreachable'].includes(error.reason);
}

const isUnreachable = (error: unknown): boolean => error instanceof StoreError && error.reason === 'unreachable';
