// The limits over all nodes, as one node that serves clients uses them. src/accounts/auth decides what is counted.
import type { Clock } from '../../../machines/clock.ts';
import type { Bus, Detach } from '../bus/bus.ts';
import { type OtherEdge, RateGossip } from './gossip.ts';
import type { LimitsMessages } from './messages.ts';
import { LimitShare, SessionSlots } from './session-slots.ts';

export interface ClusterLimitsOptions {
  bus: Bus;
  clock: Clock;
  messages: LimitsMessages;
  /** Nodes that serve clients and are heard of now, this one included. */
  edges(): number;
  /** The other ones of these that are heard now. */
  others(): readonly OtherEdge[];
  /** Called for each node that comes or goes. */
  onNodes(listener: () => void): Detach;
  /** Whether the node that counts sessions is known not to answer. Never when absent. */
  isCounterAway?: (() => boolean) | undefined;
}

export interface ClusterLimits {
  places: Pick<SessionSlots, 'take'>;
  rates: Pick<RateGossip, 'took' | 'serve'>;
  /** The part of a limit per minute that this node applies now: all of it while the others hear what it uses. */
  ownOf(max: number): number;
}

export interface OpenClusterLimits extends ClusterLimits {
  places: SessionSlots;
  rates: RateGossip;
  share: LimitShare;
  close(): void;
}

export function openClusterLimits(options: ClusterLimitsOptions): OpenClusterLimits {
  const { bus, clock, messages, edges, others, onNodes, isCounterAway } = options;
  const share = new LimitShare({ clock, bus, edges });
  const places = new SessionSlots({ bus, clock, messages, share, isCounterAway });
  const rates = new RateGossip({ bus, clock, messages, edges: () => share.look(), others });
  const detach = onNodes(() => void share.look());
  return {
    places,
    rates,
    share,
    ownOf: (max) => (bus.isConnected ? max : share.of(max)),
    close() {
      detach();
      places.close();
      rates.close();
    },
  };
}
