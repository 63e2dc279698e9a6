// How much a key may ask for: counted here, or over all nodes that serve clients.
import { createKeyLimits, createSharedKeyLimits, type KeyLimits } from '../accounts/auth/limits.ts';
import type { AccountsClient } from '../cluster/accounts/client.ts';
import { openClusterLimits } from '../cluster/limits/limits.ts';
import { LimitsMessages } from '../cluster/limits/messages.ts';
import type { Membership } from '../cluster/membership/membership.ts';
import { type Assembly, secretsOf } from './context.ts';

/** `members`: undefined on a node by itself. `accounts`: undefined on the node that keeps them, which also counts. */
export function openKeyLimits(
  assembly: Assembly,
  members: Membership | undefined,
  accounts: Pick<AccountsClient, 'isAway'> | undefined,
): KeyLimits {
  const { config, clock, bus, metrics, defer } = assembly;
  const { limits } = config;
  const options = {
    requestsPerMinuteMax: limits.requestsPerMinutePerKeyMax,
    sessionsMax: limits.sessionsPerKeyMax,
    sessionsPerOrganisationMax: limits.sessionsPerOrganisationMax,
    filesMax: limits.filesPerKeyMax,
    filesPerOrganisationMax: limits.filesPerOrganisationMax,
    tokensPerMinuteMax: limits.tokensPerMinutePerKeyMax,
    clock,
  };
  if (members === undefined) return createKeyLimits(options);
  const messages = new LimitsMessages(secretsOf(assembly));
  const shared = openClusterLimits({
    bus,
    clock,
    messages,
    edges: () => members.count('edge'),
    others: () => otherEdges(members),
    onNodes: (listener) => members.onNodes(listener),
    isCounterAway: () => accounts?.isAway === true,
  });
  defer(() => shared.close());
  metrics.watchGauge(
    'sessions_on_trust',
    'Sessions and files that started while the count over all nodes was unavailable, since the start.',
    () => shared.places.trusted,
  );
  return createSharedKeyLimits(options, shared);
}

const otherEdges = (members: Membership) =>
  members
    .nodes()
    .filter(({ node, roles }) => node !== members.node && roles.includes('edge'))
    .map(({ node, upstreamRevision }) => ({ node, isEarlier: upstreamRevision === undefined }));
