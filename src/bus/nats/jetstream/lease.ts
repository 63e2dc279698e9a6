// One lease on NATS: renews it in time, knows until when it is sure, and tells when it is not any more. Taking it is
// nats-leases.ts.
import type { Clock } from '../../../../machines/clock.ts';
import type { Lease, LeaseValue } from '../../leases.ts';
import { isWrongSequence } from './common.ts';

/** What the bucket can do with this name; each rejects with BusError. Sequences are those of the stream. */
export interface LeaseWrites {
  /** Writes over the entry with that sequence. Resolves with the new one. */
  renew(sequence: number, value: LeaseValue): Promise<number>;
  /** The sequence of the entry that is there, unless somebody has taken the name since. */
  ownSequence(): Promise<number | undefined>;
  remove(sequence: number): Promise<void>;
}

export interface LeaseTimes {
  /** How long the name is sure from the moment that a renewal was sent. */
  validMs: number;
  renewMs: number;
  /** Before a renewal that failed is tried again. */
  retryMs: number;
}

interface Taken {
  name: string;
  revision: number;
  sequence: number;
  value: LeaseValue;
  /** By the own clock, before the writing was sent. */
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

  /** The connection is there again: what could not be renewed meanwhile is, now. */
  renewNow(): void {
    this.#renewIn(0);
  }

  async release(): Promise<void> {
    if (this.#isEnded) return;
    this.#end(false);
    // What is on its way would write the name again.
    await this.#renewing;
    try {
      await this.#remove();
    } catch {
      // It ends by itself soon.
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

  /** Resolves with the time until the next one. */
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

  /** Somebody has written there: it may be an own renewal whose answer never came. */
  async #lookWhose(): Promise<void> {
    try {
      const sequence = await this.#writes.ownSequence();
      // What it counts for is found out by renewing it once more: when it was written is not known here.
      if (sequence !== undefined) this.#sequence = sequence;
      else this.#end(true);
    } catch {
      // Tried again; the time it was sure for goes on.
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
