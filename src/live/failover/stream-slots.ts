// Live streams that the gateway's own account at a provider has at a time, over all nodes. A provider refuses the ones beyond its limit:
// with the limit known, a session goes to its next model before that. A customer's own account is not counted here.
import type { Clock } from '../../../machines/clock.ts';
import { providerOf } from '../../api/slug.ts';
import type { SlotRequest, SlotTaken } from '../../cluster/limits/session-slots.ts';
import { Quota } from '../../runtime/limits/quota.ts';
import type { Guarded } from './breakers/guarded.ts';
import { SERVICE_CREDENTIAL } from './chain-credential.ts';

/** Providers count a stream for a moment after its end. */
const LINGER_MS = 2_000;
/** What one organisation may have while others use the account as well, and for how long they are remembered. */
const SHARE = 3 / 4;
const OTHERS_MS = 60 * 60_000;

/** A stream that is counted until `leave`, which may be called twice. */
export interface StreamSlot {
  leave(): void;
}

/** Counts over all nodes, or on this one. */
interface Places {
  take(request: SlotRequest): Promise<SlotTaken>;
}

export interface StreamSlotsOptions {
  /** Undefined where a provider's streams are not limited. */
  maxOf(provider: string): number | undefined;
  places: Places;
  clock: Clock;
  /** A stream found no slot. */
  onFull?(provider: string): void;
}

export class StreamSlots {
  readonly #options: StreamSlotsOptions;
  readonly #users = new Map<string, RecentUsers>();

  constructor(options: StreamSlotsOptions) {
    this.#options = options;
  }

  /** Undefined where the model's streams are not limited. Resolves with `full` where no slot is left, or none for the organisation. */
  take({ slug, credentialId, organisationId = '' }: Guarded): Promise<StreamSlot | 'full'> | undefined {
    const provider = providerOf(slug);
    const max = credentialId === SERVICE_CREDENTIAL ? this.#options.maxOf(provider) : undefined;
    return max === undefined ? undefined : this.#take(provider, organisationId, max);
  }

  async #take(provider: string, organisationId: string, max: number): Promise<StreamSlot | 'full'> {
    const { places, clock, onFull } = this.#options;
    const users = this.#users.get(provider) ?? new RecentUsers();
    this.#users.set(provider, users);
    const isShared = users.hasOther(organisationId, clock.now());
    const name = `streams ${provider}`;
    const taken = await places.take({
      keyId: name,
      organisationId: `${name} ${organisationId}`,
      keyMax: max,
      organisationMax: isShared ? Math.ceil(max * SHARE) : null,
    });
    if ('full' in taken) {
      onFull?.(provider);
      return 'full';
    }
    return { leave: () => void clock.setTimeout(taken.leave, LINGER_MS) };
  }
}

/** The two organisations that used an account last. */
class RecentUsers {
  readonly #usedAtMs = new Map<string, number>();

  /** Whether another one has used it within the hour. */
  hasOther(organisationId: string, nowMs: number): boolean {
    this.#usedAtMs.delete(organisationId);
    const [[other, atMs] = ['', Number.NEGATIVE_INFINITY]] = [...this.#usedAtMs].reverse();
    if (this.#usedAtMs.size > 1)
      for (const each of this.#usedAtMs.keys()) if (each !== other) this.#usedAtMs.delete(each);
    this.#usedAtMs.set(organisationId, nowMs);
    return nowMs - atMs < OTHERS_MS;
  }
}

/** Counts for a node that is alone. */
export class PlacesOfNode implements Places {
  readonly #keys = new Quota();
  readonly #organisations = new Quota();

  async take({ keyId, organisationId, keyMax, organisationMax }: SlotRequest): Promise<SlotTaken> {
    const leaveKey = this.#keys.hold(keyId, keyMax);
    if (typeof leaveKey === 'string') return { full: 'key', max: keyMax, isShare: false };
    const leaveOrganisation = this.#organisations.hold(organisationId, organisationMax ?? undefined);
    if (typeof leaveOrganisation === 'string') {
      leaveKey();
      return { full: 'organisation', max: organisationMax ?? 0, isShare: false };
    }
    return {
      leave: () => {
        leaveKey();
        leaveOrganisation();
      },
    };
  }
}
