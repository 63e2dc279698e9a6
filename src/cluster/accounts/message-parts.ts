// Keeps parts of long requests and answers until the message is complete or was fetched. Bounded in size and time; the oldest is
// dropped first.
import type { Clock } from '../../../machines/clock.ts';

interface Kept<Value> {
  value: Value;
  length: number;
  sinceMs: number;
}

export interface MessagePartsOptions {
  clock: Pick<Clock, 'now'>;
  /** Bound of all kept characters. */
  lengthMax: number;
  keptMs: number;
}

export class MessageParts<Value> {
  readonly #options: MessagePartsOptions;
  /** The oldest first. */
  readonly #kept = new Map<string, Kept<Value>>();
  #length = 0;
  #dropped = 0;

  constructor(options: MessagePartsOptions) {
    this.#options = options;
  }

  /** Characters that are kept. */
  get length(): number {
    return this.#length;
  }

  /** Messages that were dropped before they were complete or fetched. */
  get dropped(): number {
    return this.#dropped;
  }

  get(name: string): Value | undefined {
    return this.#kept.get(name)?.value;
  }

  /** Keeps a value, or replaces it by a longer one. */
  put(name: string, value: Value, length: number): void {
    const { clock, lengthMax, keptMs } = this.#options;
    const nowMs = clock.now();
    const sinceMs = this.#kept.get(name)?.sinceMs ?? nowMs;
    this.take(name);
    this.#kept.set(name, { value, length, sinceMs });
    this.#length += length;
    for (const [oldest, { sinceMs: oldestMs }] of this.#kept) {
      if (this.#length <= lengthMax && nowMs - oldestMs < keptMs) return;
      this.take(oldest);
      this.#dropped++;
    }
  }

  take(name: string): Value | undefined {
    const kept = this.#kept.get(name);
    if (kept === undefined) return undefined;
    this.#kept.delete(name);
    this.#length -= kept.length;
    return kept.value;
  }
}
