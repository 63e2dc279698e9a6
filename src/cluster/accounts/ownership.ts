// Who keeps the accounts of a shard: one node at a time, whose database takes nothing any more from whoever kept them before.
// How a name is kept is keep-name.ts; how the database guards itself, src/store/ownership/tables.ts.
import type { Clock } from '../../../machines/clock.ts';
import type { Bus } from '../../bus/bus.ts';
import type { Leases } from '../../bus/leases.ts';
import { StoreError } from '../../store/store-error.ts';
import { holdNameLease } from '../membership/name-lease.ts';

const CLAIMS_MAX = 5;
const CLAIM_AGAIN_MS = 500;

/** The lease of whoever keeps the accounts of a shard. */
export const ownerName = (shard: string): string => `${OWNER_PREFIX}${shard}`;
export const OWNER_PREFIX = 'accounts.';

export interface OwnershipOptions {
  bus: Pick<Bus, 'node' | 'isConnected' | 'onConnection'>;
  leases: Leases;
  clock: Clock;
  shard: string;
  /** How the operator calls this node. */
  id: string;
  /** Of the database; others see it beside the name. */
  ledger?: string;
  /**
   * Says it to the database: `store.claimOwnership(shard, revision, id)`. Rejects when a higher revision was there, or the database is
   * not the one that counts.
   */
  claim(revision: number): Promise<void>;
  /** Owner with a new revision, after an outage or a start without NATS: what the last one stood for is over. */
  onRevision?(revision: number): void;
  /** Another node is the owner: this one drains and ends. Told once. */
  onLost(sentence: string): void;
  staleWaitMs?: number;
}

export interface Ownership {
  readonly shard: string;
  /** The fencing revision, the epoch of what this owner says; 0 while it never had the name because NATS is away since the start. */
  readonly revision: number;
  /**
   * Whether nobody else can be the owner now. Without NATS nobody can become one either, and the database refuses whoever was
   * overtaken: an owner that is not sure goes on with what reaches it.
   */
  readonly isSure: boolean;
  /** Others can be the owner at once. Never rejects. */
  release(): Promise<void>;
}

/**
 * Becomes the owner, once a former one is gone.
 *
 * @throws ClusterError when another node keeps the accounts and goes on doing so
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

/** Another process may have the lock of the database for a moment. */
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
