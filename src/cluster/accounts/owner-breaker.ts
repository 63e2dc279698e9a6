// A circuit breaker for calls to the node that keeps the accounts. A frozen node takes requests and never answers, so a quiet node is
// pinged. Without an answer all waiting calls fail at once, and further calls fail immediately until a ping is answered.
import type { Clock } from '../../../machines/clock.ts';
import { StoreError } from '../../store/store-error.ts';
import { BusError } from '../bus/bus.ts';

/** A call waits for this long, without any answer from the node, before the node is pinged. */
const QUIET_MS = 500;
/** A node that is only busy answers within this time: a ping runs nothing. */
const PING_MS = 1_500;
/** Calls to a former owner are rejected this long after the next owner was announced. */
const FORMER_MS = 1_000;
/** While open: the timeout of a ping, and the pause before the next one. */
const PROBE_MS = 1_000;
const PROBE_AGAIN_MS = 500;

const AWAY = 'The node that keeps the accounts does not answer just now.';

export interface OwnerBreakerOptions {
  clock: Clock;
  /** Resolves when the node answers; rejects with BusError when it does not within that time. */
  ping(timeoutMs: number): Promise<unknown>;
  onChange?: ((isOpen: boolean) => void) | undefined;
}

export class OwnerBreaker {
  readonly #options: OwnerBreakerOptions;
  /** The oldest first. */
  readonly #waiting = new Set<{ sinceMs: number; reject(error: StoreError): void }>();
  #answeredMs = Number.NEGATIVE_INFINITY;
  #pinging: Promise<boolean> | undefined;
  #timer: unknown;
  #isOpen = false;

  constructor(options: OwnerBreakerOptions) {
    this.#options = options;
  }

  /** Whether calls fail without being sent. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Rejects with StoreError `unreachable` when the breaker is open, or opens before the work is done. */
  run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#isOpen) return Promise.reject(away(true));
    return new Promise((resolve, reject) => {
      const call = { sinceMs: this.#options.clock.now(), reject };
      this.#waiting.add(call);
      if (this.#waiting.size === 1) this.#arm(QUIET_MS);
      work()
        .then(resolve, reject)
        .finally(() => this.#ended(call));
    });
  }

  /** The node has answered something, or has begun. */
  answered(): void {
    this.#answeredMs = this.#options.clock.now();
    if (!this.#isOpen) return;
    this.#options.clock.clearTimeout(this.#timer);
    this.#change(false);
  }

  /** The owner changed. Waiting calls may still get the answer of the former one for a moment. */
  changed(): void {
    this.answered();
    const before = [...this.#waiting];
    if (before.length === 0) return;
    this.#options.clock.setTimeout(() => {
      for (const call of before) if (this.#waiting.delete(call)) call.reject(away(false));
    }, FORMER_MS);
  }

  /** Whether the node answers now. All who ask at the same time share one ping. */
  check(): Promise<boolean> {
    this.#pinging ??= this.#ping(PROBE_MS).finally(() => {
      this.#pinging = undefined;
    });
    return this.#pinging;
  }

  #ended(call: { sinceMs: number; reject(error: StoreError): void }): void {
    this.#waiting.delete(call);
    if (this.#waiting.size === 0 && !this.#isOpen) this.#options.clock.clearTimeout(this.#timer);
  }

  #arm(afterMs: number): void {
    const { clock } = this.#options;
    clock.clearTimeout(this.#timer);
    this.#timer = clock.setTimeout(() => void this.#look(), afterMs);
  }

  async #look(): Promise<void> {
    if (this.#isOpen) {
      if (!(await this.check()) && this.#isOpen) this.#arm(PROBE_AGAIN_MS);
      return;
    }
    const quietMs = this.#quietMs();
    if (quietMs < QUIET_MS) {
      if (this.#waiting.size > 0) this.#arm(QUIET_MS - quietMs);
      return;
    }
    const isThere = await this.#ping(PING_MS);
    if (this.#isOpen || this.#waiting.size === 0) return;
    if (isThere || this.#quietMs() < QUIET_MS) this.#arm(QUIET_MS);
    else this.#open();
  }

  /** How long calls have waited without any answer. */
  #quietMs(): number {
    const [oldest] = this.#waiting;
    return oldest === undefined ? 0 : this.#options.clock.now() - Math.max(oldest.sinceMs, this.#answeredMs);
  }

  #open(): void {
    this.#change(true);
    for (const { reject } of [...this.#waiting]) reject(away(false));
    this.#waiting.clear();
    this.#arm(PROBE_AGAIN_MS);
  }

  #change(isOpen: boolean): void {
    this.#isOpen = isOpen;
    this.#options.onChange?.(isOpen);
  }

  async #ping(timeoutMs: number): Promise<boolean> {
    try {
      await this.#options.ping(timeoutMs);
      this.answered();
      return true;
    } catch (error) {
      if (error instanceof BusError || error instanceof StoreError) return false;
      throw error;
    }
  }
}

const away = (isUnsent: boolean) => new StoreError('unreachable', AWAY, { isUnsent });
