// The limits that hold over all nodes, put together: what a node that serves clients has of them. What is counted, and how a refusal
// is worded, is decided in src/auth.
import type { Clock } from '../../../machines/clock.ts';
import type { Bus, Detach } from '../../bus/bus.ts';
import { RateGossip } from './gossip.ts';
import type { LimitsMessages } from './messages.ts';
import { SessionPlaces } from './places.ts';
import { LimitShare } from './share.ts';

export interface ClusterLimitsOptions {
  bus: Bus;
  clock: Clock;
  messages: LimitsMessages;
  /** Nodes that serve clients, this one included, as far as they are heard of now. */
  edges(): number;
  /** Hears of each node that comes or goes. */
  onNodes(listener: () => void): Detach;
}

export interface ClusterLimits {
  places: Pick<SessionPlaces, 'take'>;
  rates: Pick<RateGossip, 'took' | 'onTaken'>;
  /** What of a limit of a minute is this node's own now: all of it while the others can hear what it takes. */
  ownOf(max: number): number;
}

export interface OpenClusterLimits extends ClusterLimits {
  places: SessionPlaces;
  rates: RateGossip;
  share: LimitShare;
  close(): void;
}

export function openClusterLimits({ bus, clock, messages, edges, onNodes }: ClusterLimitsOptions): OpenClusterLimits {
  const share = new LimitShare({ clock, bus, edges });
  const places = new SessionPlaces({ bus, clock, messages, share });
  const rates = new RateGossip({ bus, clock, messages, edges: () => share.look() });
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
