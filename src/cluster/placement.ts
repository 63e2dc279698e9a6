// Where legs are best opened, as the members of the gateway are known here. What is made of it is session/leg-service.ts.
import type { Detach } from '../bus/bus.ts';
import type { Membership } from './membership.ts';

export interface UpstreamPlacement {
  /** The node that is clearly less loaded than this one. */
  leastLoaded(): string | undefined;
  /** Whether another node opens legs, and goes on doing so. */
  hasOther(): boolean;
  /** Hears when either may be something else than before. */
  onNodes(listener: () => void): Detach;
}

export function upstreamPlacement(
  members: Pick<Membership, 'node' | 'nodes' | 'lessLoaded' | 'onNodes'>,
): UpstreamPlacement {
  return {
    leastLoaded: () => members.lessLoaded('upstream'),
    hasOther: () =>
      members
        .nodes()
        .some(({ node, roles, draining }) => node !== members.node && roles.includes('upstream') && !draining),
    onNodes: (listener) => members.onNodes(listener),
  };
}
