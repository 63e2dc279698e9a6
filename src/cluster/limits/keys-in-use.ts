// The keys that clients use at this node, what of their use was not reported yet, and which other nodes use them too.
import type { RateKind } from './messages.ts';

/** Beyond it the longest idle key makes room; use of a key without room is not reported, but counted as a metric. */
const KEYS_MAX = 10_000;
/** A key in use is announced to all nodes this often, since a message may be lost. */
const ANNOUNCE_MS = 30_000;
/** A node that did not report a key for this long does not use it any more. */
const SHARED_MS = 3 * ANNOUNCE_MS;

export interface KeyUse {
  readonly kind: RateKind;
  readonly keyId: string;
  /** Use that was not reported yet, and since when. */
  count: number;
  sinceMs: number;
  /** The limit per minute. */
  max: number;
  usedAtMs: number;
  announcedAtMs: number;
  /** When other nodes last reported use of the key. */
  readonly sharers: Map<string, number>;
}

export class KeysInUse {
  /** Use without room. */
  refused = 0;
  /** The longest idle key first. */
  readonly #uses = new Map<string, KeyUse>();
  readonly #waiting = new Set<KeyUse>();

  /** One use here, of `max` a minute. Returns false when there is no room to remember it. */
  add(kind: RateKind, keyId: string, max: number, nowMs: number): boolean {
    const name = `${kind} ${keyId}`;
    const use = this.#uses.get(name) ?? newUse(kind, keyId);
    if (!this.#uses.delete(name) && !this.#makeRoom()) {
      this.refused++;
      return false;
    }
    this.#uses.set(name, use);
    this.#waiting.add(use);
    if (use.count === 0) use.sinceMs = nowMs;
    use.count++;
    use.max = max;
    use.usedAtMs = nowMs;
    return true;
  }

  /** Keys with use that was not reported yet. */
  waiting(): KeyUse[] {
    return [...this.#waiting];
  }

  reported(use: KeyUse): void {
    use.count = 0;
    this.#waiting.delete(use);
  }

  isAnnounced({ announcedAtMs }: KeyUse, nowMs: number): boolean {
    return nowMs - announcedAtMs < ANNOUNCE_MS;
  }

  /** Messages may have been lost: announces every key with its next use. */
  announceAgain(): void {
    for (const use of this.#uses.values()) use.announcedAtMs = Number.NEGATIVE_INFINITY;
  }

  isShared({ sharers }: KeyUse, node: string, nowMs: number): boolean {
    return nowMs - (sharers.get(node) ?? Number.NEGATIVE_INFINITY) < SHARED_MS;
  }

  /** Another node reported use of a key. Returns the use of the key here if this is news about a key that is in use here. */
  heard(node: string, kind: RateKind, keyId: string, nowMs: number): KeyUse | undefined {
    const use = this.#uses.get(`${kind} ${keyId}`);
    if (use === undefined || nowMs - use.usedAtMs >= SHARED_MS) return undefined;
    const isNews = !this.isShared(use, node, nowMs);
    if (isNews)
      for (const other of [...use.sharers.keys()]) if (!this.isShared(use, other, nowMs)) use.sharers.delete(other);
    use.sharers.set(node, nowMs);
    return isNews ? use : undefined;
  }

  #makeRoom(): boolean {
    const [oldest] = this.#uses;
    if (this.#uses.size < KEYS_MAX || oldest === undefined) return true;
    return oldest[1].count === 0 && this.#uses.delete(oldest[0]);
  }
}

const newUse = (kind: RateKind, keyId: string): KeyUse => ({
  kind,
  keyId,
  count: 0,
  sinceMs: 0,
  max: 1,
  usedAtMs: 0,
  announcedAtMs: Number.NEGATIVE_INFINITY,
  sharers: new Map(),
});
