// This node among the others: its name, what it has to do, and who else is there.

import type { NatsBus } from '../cluster/bus/nats/bus.ts';
import { answersNow } from '../cluster/bus/nats/jetstream/common.ts';
import type { NodeLoad } from '../cluster/membership/heartbeat.ts';
import { joinCluster, type Membership } from '../cluster/membership/membership.ts';
import { buildVersion } from '../runtime/version.ts';
import { type Assembly, nodeId } from './context.ts';
import type { SharedNetwork } from './network.ts';

/** `end`: another node has this one's name. */
export async function openMembers(
  assembly: Omit<Assembly, 'store'>,
  { leases }: SharedNetwork,
  load: () => NodeLoad,
  end: (sentence: string) => void,
): Promise<Membership> {
  const { bus, clock, logger, metrics, roles, defer } = assembly;
  const members = await joinCluster({
    bus,
    leases,
    clock,
    self: { id: nodeId(assembly), roles: [...roles], version: buildVersion() },
    load,
    answersNow: () => answersNow(bus as NatsBus),
    onWarning: (sentence) => logger.warn({ reason: sentence }, 'cluster'),
    onConflict: end,
  });
  defer(() => members.leave());
  metrics.watchGauge('nodes', 'Known nodes, including this one.', () => members.nodes().length);
  metrics.watchGauge(
    'clock_skew_seconds',
    'Median difference between the clocks of other nodes and this one; positive if they are ahead.',
    () => members.skewMs() / 1000,
  );
  metrics.watchGauge('accounts_nodes', 'Known nodes that keep the accounts, or can.', () => members.count('accounts'));
  return members;
}
