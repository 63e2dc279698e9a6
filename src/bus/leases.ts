// Leases: names that one node at a time has, and for how long it may be sure of that. The port and its promises; nats-leases.ts
// keeps them. Who wants which name, and what for, is decided in src/cluster.

/** What is written under a name: who has it, as plain data. */
export type LeaseValue = Readonly<Record<string, unknown>>;

/** A name that this process has. It is renewed by itself until it is released or lost. */
export interface Lease {
  readonly name: string;
  /**
   * Grows each time that the name changes hands, and never comes again: the fencing token. Whoever guards something keeps the
   * highest it has seen, and refuses lower ones.
   */
  readonly revision: number;
  /** Whether nobody else can have the name now, by this process's own monotonic clock. */
  readonly isValid: boolean;
  /** Changes what is written under the name with the next renewal. */
  update(value: LeaseValue): void;
  /** Gives the name back: others can have it at once. Never rejects. */
  release(): Promise<void>;
}

/** Somebody else has the name. */
export interface LeaseTaken {
  heldBy: LeaseValue;
}

export interface HeldLease {
  name: string;
  value: LeaseValue;
  revision: number;
}

/**
 * Promises:
 * - No two processes have one name at the same time, as long as their clocks run at the same speed.
 * - `onLost` is told before anybody else can have the name: when it could not be renewed for too long, or was taken away.
 * - A process that is killed loses its names within `LEASE_MS`.
 */
export interface Leases {
  /** Takes a name, or tells who has it. Rejects with BusError while the bus is not connected. */
  acquire(name: string, value: LeaseValue, onLost: () => void): Promise<Lease | LeaseTaken>;
  /** Names in use that begin so. Rejects with BusError. */
  list(prefix: string): Promise<HeldLease[]>;
}

/** How long a name outlives its last renewal. */
export const LEASE_MS = 15_000;
/** How often it is renewed. */
export const RENEW_MS = 5_000;
