// Ownership of a shard's accounts: one node at a time holds the lease, and its database refuses writes of former owners by their
// fencing tokens.
import type { Clock } from '../../../machines/clock.ts';
import { StoreError } from '../../store/store-error.ts';
import type { Bus } from '../bus/bus.ts';
import { type Leases, OWNER_PREFIX } from '../bus/leases.ts';
import { holdNameLease } from '../membership/name-lease.ts';

const CLAIMS_MAX = 5;
const CLAIM_AGAIN_MS = 500;

/** Name of the lease of a shard's owner. */
export const ownerName = (shard: string): string => `${OWNER_PREFIX}${shard}`;

export interface OwnershipOptions {
  bus: Pick<Bus, 'node' | 'isConnected' | 'onConnection'>;
  leases: Leases;
  clock: Clock;
  shard: string;
  /** The name that the operator gave this node. */
  id: string;
  /** The identity of the database, shown beside the name. */
  ledger?: string;
  /**
   * Records the ownership in the database: `store.claimOwnership(shard, revision, id)`. Rejects when the database has a higher
   * revision, or is not the right one.
   */
  claim(revision: number): Promise<void>;
  /** This node is the owner with a new revision, after an outage or a start without NATS; the previous revision is void. */
  onRevision?(revision: number): void;
  /** Called once when the start has to wait for another owner. */
  onWaiting?: (sentence: string) => void;
  /** Another node is the owner: this one has to drain and end. Called once. */
  onLost(sentence: string): void;
  staleWaitMs?: number;
}

export interface Ownership {
  readonly shard: string;
  /**
   * The fencing token, also the epoch of this owner's answers; 0 while it never held the lease because NATS has been away since
   * the start.
   */
  readonly revision: number;
  /**
   * Whether no other node can be the owner now. An owner that is not sure continues answering: without NATS no other node can
   * become owner, and the database refuses a former one.
   */
  readonly isSure: boolean;
  /** Releases the lease: another node can become owner at once. Never rejects. */
  release(): Promise<void>;
}

/**
 * Becomes the owner, once a former one is gone.
 *
 * @throws ClusterError when another node keeps the accounts and continues doing so
 */
export async function ownShard(options: OwnershipOptions): Promise<Ownership> {
  const { bus, leases, clock, shard, id, ledger, claim, onRevision, onLost, staleWaitMs } = options;
  let revision = 0;
  let isStarted = false;
  const name = await holdNameLease({
    bus,
    leases,
    clock,
    name: ownerName(shard),
    value: { node: bus.node, id, ...(ledger !== undefined && { ledger }) },
    taken: (heldBy) =>
      `The accounts of shard ${shard} are kept by the node "${String(heldBy.id ?? 'unknown')}": stop it first, or leave \`accounts\` out of VOXGATE_ROLES of the node "${id}".`,
    isHandedOver: true,
    onWaiting: options.onWaiting,
    async onTaken(taken) {
      await claimPatiently(clock, () => claim(taken));
      revision = taken;
      if (isStarted) onRevision?.(taken);
    },
    onLost,
    ...(staleWaitMs !== undefined && { staleWaitMs }),
  });
  isStarted = true;
  return {
    shard,
    get revision() {
      return revision;
    },
    get isSure() {
      return name.isSure;
    },
    release: () => name.release(),
  };
}

/** Another process may hold the database's lock for a moment. */
async function claimPatiently(clock: Clock, claim: () => Promise<void>): Promise<void> {
  for (let claims = 1; ; claims++) {
    try {
      return await claim();
    } catch (error) {
      const isPassing = error instanceof StoreError && (error.reason === 'busy' || error.reason === 'overflow');
      if (!isPassing || claims === CLAIMS_MAX) throw error;
      await new Promise<void>((resolve) => clock.setTimeout(resolve, CLAIM_AGAIN_MS));
    }
  }
}
