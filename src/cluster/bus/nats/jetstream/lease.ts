// One held lease: renews it in time, knows until when it is valid, and reports its loss. leases.ts acquires it.
import type { Clock } from '../../../../../machines/clock.ts';
import type { Lease, LeaseValue } from '../../leases.ts';
import { isWrongSequence } from './common.ts';

/** The operations on the entry of this name; each rejects with BusError. Sequences are those of the stream. */
export interface LeaseWrites {
  /** Overwrites the entry with that sequence. Resolves with the new sequence. */
  renew(sequence: number, value: LeaseValue): Promise<number>;
  /** The sequence of the current entry; undefined when another process has acquired the name since. */
  ownSequence(): Promise<number | undefined>;
  remove(sequence: number): Promise<void>;
}

export interface LeaseTimes {
  /** How long the lease is valid after the moment at which a renewal was sent. */
  validMs: number;
  renewMs: number;
  /** The delay before a failed renewal is tried again. */
  retryMs: number;
}

interface Taken {
  name: string;
  revision: number;
  sequence: number;
  value: LeaseValue;
  /** By the monotonic clock, taken before the write was sent. */
  sentAtMs: number;
}

export class NatsLease implements Lease {
  readonly name: string;
  readonly revision: number;
  readonly #clock: Clock;
  readonly #times: LeaseTimes;
  readonly #writes: LeaseWrites;
  readonly #onEnd: (isLost: boolean) => void;
  #value: LeaseValue;
  #sequence: number;
  #validUntilMs = 0;
  #isEnded = false;
  #validity: unknown;
  #next: unknown;
  #renewing: Promise<void> | undefined;

  constructor(
    taken: Taken,
    writes: LeaseWrites,
    { clock, times, onEnd }: { clock: Clock; times: LeaseTimes; onEnd: (isLost: boolean) => void },
  ) {
    this.name = taken.name;
    this.revision = taken.revision;
    this.#sequence = taken.sequence;
    this.#value = taken.value;
    this.#writes = writes;
    this.#clock = clock;
    this.#times = times;
    this.#onEnd = onEnd;
    this.#confirm(taken.sentAtMs);
    this.#renewIn(times.renewMs);
  }

  get isValid(): boolean {
    return !this.#isEnded && this.#clock.now() < this.#validUntilMs;
  }

  update(value: LeaseValue): void {
    this.#value = value;
  }

  /** Connected again: renew now if a renewal is due. */
  renewNow(): void {
    this.#renewIn(0);
  }

  async release(): Promise<void> {
    if (this.#isEnded) return;
    this.#end(false);
    // A renewal that is under way would write the entry again.
    await this.#renewing;
    try {
      await this.#remove();
    } catch {
      // The entry expires soon.
    }
  }

  async #remove(): Promise<void> {
    try {
      await this.#writes.remove(this.#sequence);
    } catch (error) {
      const sequence = isWrongSequence(error) ? await this.#writes.ownSequence() : undefined;
      if (sequence !== undefined) await this.#writes.remove(sequence);
    }
  }

  #renewIn(delayMs: number): void {
    if (this.#isEnded) return;
    this.#clock.clearTimeout(this.#next);
    this.#next = this.#clock.setTimeout(() => {
      if (this.#isEnded || this.#renewing !== undefined) return;
      this.#renewing = this.#renew().then((delayMs) => {
        this.#renewing = undefined;
        this.#renewIn(delayMs);
      });
    }, delayMs);
  }

  /** Resolves with the time until the next renewal. */
  async #renew(): Promise<number> {
    const sentAtMs = this.#clock.now();
    try {
      this.#sequence = await this.#writes.renew(this.#sequence, this.#value);
      this.#confirm(sentAtMs);
      return this.#times.renewMs;
    } catch (error) {
      if (isWrongSequence(error)) await this.#lookWhose();
      return this.#times.retryMs;
    }
  }

  /** The entry has another sequence; the cause may be an own renewal whose answer was lost. */
  async #lookWhose(): Promise<void> {
    try {
      const sequence = await this.#writes.ownSequence();
      // When that renewal was written is not known, so renew once more to know until when it is valid.
      if (sequence !== undefined) this.#sequence = sequence;
      else this.#end(true);
    } catch {
      // Try again. Its validity does not change.
    }
  }

  #confirm(sentAtMs: number): void {
    if (this.#isEnded) return;
    this.#validUntilMs = sentAtMs + this.#times.validMs;
    this.#clock.clearTimeout(this.#validity);
    this.#validity = this.#clock.setTimeout(() => this.#end(true), this.#validUntilMs - this.#clock.now());
  }

  #end(isLost: boolean): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#clock.clearTimeout(this.#next);
    this.#clock.clearTimeout(this.#validity);
    this.#onEnd(isLost);
  }
}
