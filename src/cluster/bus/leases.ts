// Leases: a name that one node holds at a time, for a bounded time. This is the port and its contract; nats/jetstream/leases.ts
// implements it, src/cluster uses it.

/** The value stored under the name: who holds it, as plain data. */
export type LeaseValue = Readonly<Record<string, unknown>>;

/** A lease that this process holds. It renews itself until it is released or lost. */
export interface Lease {
  readonly name: string;
  /**
   * The fencing token: grows whenever the name changes hands and is never used twice. A resource guarded by the lease remembers
   * the highest token it has seen and refuses lower ones.
   */
  readonly revision: number;
  /** Whether the lease is still valid, by this process's monotonic clock. While it is, no other process can hold the name. */
  readonly isValid: boolean;
  /** The next renewal stores this value. */
  update(value: LeaseValue): void;
  /** Releases the name, so that others can take it at once. Never rejects. */
  release(): Promise<void>;
}

/** Another process holds the name. */
export interface LeaseTaken {
  heldBy: LeaseValue;
}

export interface HeldLease {
  name: string;
  value: LeaseValue;
  revision: number;
}

/**
 * Contract:
 * - No two processes hold one name at the same time, as long as their clocks run at the same speed.
 * - `onLost` is called before another process can take the name: when it could not be renewed in time, or was taken away.
 * - A killed process loses its names within `LEASE_MS`.
 */
export interface Leases {
  /** Acquires a name, or says who holds it. Rejects with BusError while the bus is not connected. */
  acquire(name: string, value: LeaseValue, onLost: () => void): Promise<Lease | LeaseTaken>;
  /** Held names with that prefix. Rejects with BusError. */
  list(prefix: string): Promise<HeldLease[]>;
}

/** How long a lease lives after its last renewal. */
export const LEASE_MS = 15_000;
/** The interval between renewals. */
export const RENEW_MS = 5_000;

/** What begins the names of leases: of a node's own name, and of a shard whose accounts it keeps. */
export const NODE_PREFIX = 'node.';
export const OWNER_PREFIX = 'accounts.';
